/*
 * Weights as a model's file stores them, in GGUF's encodings, and a row of them as fp32.
 *
 * A quantized row is a sequence of blocks of 32 weights. All numbers are little endian, as the machines are that this
 * course runs on; blocks follow each other without padding and are aligned to 2 bytes only.
 *
 *   F32    4 bytes a weight
 *   Q4_1   20 bytes a block: fp16 d, fp16 m, 16 bytes of q; weight i < 16 is the low half of byte i, weight
 *          16 + i its high half;  w = q d + m,  q in 0..15
 *   Q8_0   34 bytes a block: fp16 d, 32 signed bytes q;  w = q d
 *
 * q d is exact in fp32 (at most 18 significant bits), so q d + m is rounded once, with or without a fused
 * multiply-add, and not at all while |d| and |m| are within a factor of 2^8 of each other, or m is 0. In
 * SmolLM2-135M-Instruct it is always exact.
 *
 * Source of the formats: the block structures and the reference dequantization of ggml,
 * https://github.com/ggml-org/ggml
 */
#ifndef MODEL_MATRIX_H
#define MODEL_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GGUF's own numbers. */
enum encoding { ENCODING_F32 = 0, ENCODING_Q4_1 = 3, ENCODING_Q8_0 = 8 };

enum { BLOCK_WEIGHTS = 32, Q4_1_BLOCK_BYTES = 20, Q8_0_BLOCK_BYTES = 34 };

/* [rows, columns], row by row; y = W x takes x of `columns` elements to y of `rows`. The data belong to the file. */
struct matrix {
	enum encoding encoding;
	size_t rows, columns; /* columns: a multiple of BLOCK_WEIGHTS where the encoding has blocks */
	const void *data;     /* row r begins at byte r * matrix_row_bytes(encoding, columns) */
};

/* Is it one of the three? */
bool encoding_is_known(uint32_t number);

/* Bytes of a row as stored. `columns` must be a multiple of BLOCK_WEIGHTS where the encoding has blocks. */
size_t matrix_row_bytes(enum encoding encoding, size_t columns);

/* Bytes of the whole matrix as stored. */
size_t matrix_bytes(const struct matrix *matrix);

/* Row `row` as fp32, into values [columns]. */
void matrix_row(const struct matrix *matrix, size_t row, float *values);

/* Is one of its weights a NaN or infinite? Then *index is the first, or the first of its block, counted over all rows. */
bool matrix_is_broken(const struct matrix *matrix, size_t *index);

/* An fp16 number (IEEE 754 binary16) as fp32, which holds all of them: subnormal ones, infinities and NaN too. */
float half_to_float(uint16_t half);

#endif
