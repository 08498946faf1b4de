/*
 * A GGUF file, version 3, little endian, mapped into memory and only read.
 *
 * Layout: "GGUF", version, number of tensors and of keys; the keys with their values; name, shape, encoding and
 * offset of each tensor; padding to the alignment; the tensors' data. Source:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 *
 * gguf_open reads the whole header once and refuses a file of which any part is not as it must be: another version, a
 * length or an offset outside of the file, an offset that is not aligned, an unknown type, an array of arrays, a key
 * or a tensor that occurs twice, an empty name, more than 4 dimensions, tensors that overlap. Nothing is allocated,
 * and nothing read, by a length that was not compared with the size of the file before. The file must not be changed
 * while it is open.
 *
 * All functions that can fail return 0, or EXIT_USAGE with one line that names the file, what was found and what was
 * expected, or EXIT_ENVIRONMENT when there is no memory. Texts of a file are not terminated by a zero.
 */
#ifndef MODEL_GGUF_H
#define MODEL_GGUF_H

#include "model/matrix.h"
#include "support/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gguf;

/* Bytes of the file; they live as long as it is open. */
struct gguf_string {
	const char *bytes;
	size_t length;
};

/* Opens and checks; *gguf is the caller's, for gguf_close. On an error it is NULL. */
int gguf_open(const char *path, struct gguf **gguf, struct error *error);

/* Everything that the functions below gave is gone with it. NULL is allowed. */
void gguf_close(struct gguf *gguf);

/* As gguf_open was given it. */
const char *gguf_path(const struct gguf *gguf);

/* The whole file as it is mapped: every matrix and vector lies in it. */
const void *gguf_bytes(const struct gguf *gguf, size_t *size);

/* Is there a value of that key, of whatever type? */
bool gguf_has(const struct gguf *gguf, const char *key);

/*
 * The value of a key: a whole number of any width, not negative, or a truth value as 0 or 1; a number of either real
 * type, finite; a text. An error when the key is missing or has another type.
 */
int gguf_number(const struct gguf *gguf, const char *key, uint64_t *value, struct error *error);
int gguf_real(const struct gguf *gguf, const char *key, double *value, struct error *error);
int gguf_text(const struct gguf *gguf, const char *key, struct gguf_string *text, struct error *error);

/* An array: of texts, or of 32-bit signed whole numbers. The caller frees it. It is not empty. */
int gguf_strings(
	const struct gguf *gguf, const char *key, struct gguf_string **strings, size_t *count, struct error *error);
int gguf_numbers(const struct gguf *gguf, const char *key, int32_t **numbers, size_t *count, struct error *error);

/* Is there a tensor of that name? How many are there? */
bool gguf_has_tensor(const struct gguf *gguf, const char *name);
size_t gguf_tensor_count(const struct gguf *gguf);

/*
 * The tensor of that name as a matrix [rows, columns] (in GGUF's order of dimensions: columns first). An error when
 * it is missing, has another shape, or an encoding that is none of enum encoding.
 */
int gguf_matrix(
	const struct gguf *gguf, const char *name, size_t rows, size_t columns, struct matrix *matrix,
	struct error *error);

/* The tensor of that name as fp32 [length]: one dimension, not quantized. It is aligned as floats have to be. */
int gguf_vector(const struct gguf *gguf, const char *name, size_t length, const float **values, struct error *error);

#endif
