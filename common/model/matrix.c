#include "model/matrix.h"

#include <math.h>
#include <string.h>

bool encoding_is_known(uint32_t number)
{
	return number == ENCODING_F32 || number == ENCODING_Q4_1 || number == ENCODING_Q8_0;
}

size_t matrix_row_bytes(enum encoding encoding, size_t columns)
{
	switch (encoding) {
	case ENCODING_Q4_1: return columns / BLOCK_WEIGHTS * Q4_1_BLOCK_BYTES;
	case ENCODING_Q8_0: return columns / BLOCK_WEIGHTS * Q8_0_BLOCK_BYTES;
	case ENCODING_F32: break;
	}
	return columns * sizeof(float);
}

size_t matrix_bytes(const struct matrix *matrix)
{
	return matrix->rows * matrix_row_bytes(matrix->encoding, matrix->columns);
}

float half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu, fraction = half & 0x3ffu,
		 bits;
	if (exponent == 0) { /* 0 or subnormal: fraction * 2^-24, exact */
		float value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	if (exponent == 0x1f)
		bits = sign | 0x7f800000u | fraction << 13; /* infinity or NaN */
	else
		bits = sign | (exponent + 127 - 15) << 23 | fraction << 13;
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Blocks are aligned to nothing that a compiler may count on. */
static float half_at(const unsigned char *bytes)
{
	return half_to_float((uint16_t)(bytes[0] | bytes[1] << 8));
}

static void q4_1_block(const unsigned char *block, float *values)
{
	float d = half_at(block), m = half_at(block + 2);
	for (size_t i = 0; i < BLOCK_WEIGHTS / 2; i++) {
		values[i] = (float)(block[4 + i] & 15) * d + m;
		values[BLOCK_WEIGHTS / 2 + i] = (float)(block[4 + i] >> 4) * d + m;
	}
}

static void q8_0_block(const unsigned char *block, float *values)
{
	float d = half_at(block);
	for (size_t i = 0; i < BLOCK_WEIGHTS; i++)
		values[i] = (float)(int8_t)block[2 + i] * d;
}

void matrix_row(const struct matrix *matrix, size_t row, float *values)
{
	size_t bytes = matrix_row_bytes(matrix->encoding, matrix->columns);
	const unsigned char *data = (const unsigned char *)matrix->data + row * bytes;
	switch (matrix->encoding) {
	case ENCODING_F32: memcpy(values, data, bytes); break;
	case ENCODING_Q4_1:
		for (size_t i = 0; i < matrix->columns; i += BLOCK_WEIGHTS, data += Q4_1_BLOCK_BYTES)
			q4_1_block(data, values + i);
		break;
	case ENCODING_Q8_0:
		for (size_t i = 0; i < matrix->columns; i += BLOCK_WEIGHTS, data += Q8_0_BLOCK_BYTES)
			q8_0_block(data, values + i);
		break;
	}
}

bool matrix_is_broken(const struct matrix *matrix, size_t *index)
{
	const size_t weights = matrix->encoding == ENCODING_F32 ? 1 : BLOCK_WEIGHTS;
	const size_t bytes = matrix_row_bytes(matrix->encoding, weights), count = matrix->rows * matrix->columns;
	const unsigned char *data = matrix->data;
	for (*index = 0; *index < count; *index += weights, data += bytes) {
		float number = 0;
		if (matrix->encoding == ENCODING_F32)
			memcpy(&number, data, sizeof number);
		else /* 0 times what is finite, else NaN */
			number = 0 * half_at(data) + (matrix->encoding == ENCODING_Q4_1 ? half_at(data + 2) : 0);
		if (!isfinite(number))
			return true;
	}
	return false;
}
