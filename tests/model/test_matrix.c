/* common/model/matrix.h: fp16 numbers, and blocks worked out by hand. */
#include "model/matrix.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* fp16 by its definition: (-1)^s 2^(e-15) (1 + f/1024), for e = 0 (-1)^s 2^-14 f/1024. */
static double half_by_definition(unsigned half)
{
	double sign = half >> 15 ? -1.0 : 1.0;
	int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
	if (exponent == 31)
		return fraction ? (double)NAN : sign * (double)INFINITY;
	if (exponent == 0)
		return sign * ldexp(fraction, -24);
	return sign * ldexp(1024 + fraction, exponent - 25);
}

Test(matrix, every_half_is_exact)
{
	for (unsigned half = 0; half < 65536; half++) {
		double found = (double)half_to_float((uint16_t)half), expected = half_by_definition(half);
		if (isnan(expected))
			cr_assert(isnan(found), "%04x: %g", half, found);
		else
			cr_assert(
				found == expected && !signbit(found) == !signbit(expected), "%04x: %g, expected %g",
				half, found, expected);
	}
}

/* A Q4_1 block: d, m, and byte i holds (15 - i) in its high and i in its low half. */
static void fill_q4_1(unsigned char *block, uint16_t d, uint16_t m)
{
	memcpy(block, (const unsigned char[]){d & 255, d >> 8, m & 255, m >> 8}, 4);
	for (unsigned i = 0; i < 16; i++)
		block[4 + i] = (unsigned char)(i | (15 - i) << 4);
}

Test(matrix, q4_1_blocks)
{
	/* d = 0.5, m = -2; d the smallest subnormal, m = 0; d = -1, m = 65504; d = 1, m = -inf; d = inf, m = 0 */
	enum { BLOCKS = 5 };
	static const uint16_t d[BLOCKS] = {0x3800, 0x0001, 0xbc00, 0x3c00, 0x7c00};
	static const uint16_t m[BLOCKS] = {0xc000, 0x0000, 0x7bff, 0xfc00, 0x0000};
	unsigned char data[BLOCKS * Q4_1_BLOCK_BYTES + 1];
	float values[BLOCKS * BLOCK_WEIGHTS];
	for (size_t i = 0; i < BLOCKS; i++)
		fill_q4_1(data + 1 + i * Q4_1_BLOCK_BYTES, d[i], m[i]); /* + 1: at an odd address, too */
	struct matrix matrix = {ENCODING_Q4_1, 1, BLOCKS * BLOCK_WEIGHTS, data + 1};
	matrix_row(&matrix, 0, values);
	for (int i = 0; i < 16; i++) {
		const float *low = values + i, *high = values + 16 + i;
		cr_expect(low[0] == 0.5f * (float)i - 2 && high[0] == 0.5f * (float)(15 - i) - 2, "%d", i);
		cr_expect(low[32] == (float)i * 0x1p-24f && high[32] == (float)(15 - i) * 0x1p-24f, "%d", i);
		cr_expect(low[64] == 65504.0f - (float)i && high[64] == 65504.0f - (float)(15 - i), "%d", i);
		cr_expect(low[96] == -INFINITY && high[96] == -INFINITY, "%d", i);
		cr_expect(i ? low[128] == INFINITY : isnan(low[128]), "0 times infinity is NaN: %d", i);
	}
}

Test(matrix, q8_0_blocks)
{
	/* d = 0.25; d = -2^-15, subnormal; d = inf; d = 0 */
	static const uint16_t d[] = {0x3400, 0x8200, 0x7c00, 0x0000};
	enum { BLOCKS = sizeof d / sizeof d[0] };
	unsigned char data[BLOCKS * Q8_0_BLOCK_BYTES];
	float values[BLOCKS * BLOCK_WEIGHTS];
	for (size_t i = 0; i < BLOCKS; i++) {
		unsigned char *block = data + i * Q8_0_BLOCK_BYTES;
		memcpy(block, (const unsigned char[]){d[i] & 255, d[i] >> 8}, 2);
		for (int j = 0; j < BLOCK_WEIGHTS; j++)
			block[2 + j] = (unsigned char)(j == 31 ? 127 : 8 * j - 128); /* -128 ... 112, 127 */
	}
	struct matrix matrix = {ENCODING_Q8_0, 1, BLOCKS * BLOCK_WEIGHTS, data};
	matrix_row(&matrix, 0, values);
	for (int j = 0; j < BLOCK_WEIGHTS; j++) {
		float q = (float)(j == 31 ? 127 : 8 * j - 128);
		cr_expect(values[j] == 0.25f * q, "%d", j);
		cr_expect(values[32 + j] == -0x1p-15f * q, "%d", j);
		cr_expect(q == 0 ? isnan(values[64 + j]) : values[64 + j] == copysignf(INFINITY, q), "%d", j);
		cr_expect(values[96 + j] == 0, "%d", j);
	}
}

Test(matrix, rows_follow_each_other)
{
	unsigned char data[3 * 2 * Q8_0_BLOCK_BYTES] = {0};
	float values[64], plain[3][5];
	cr_expect_eq(matrix_row_bytes(ENCODING_F32, 5), 20);
	cr_expect_eq(matrix_row_bytes(ENCODING_Q4_1, 96), 60);
	cr_expect_eq(matrix_row_bytes(ENCODING_Q8_0, 64), 68);
	for (unsigned char row = 0; row < 3; row++)
		for (int block = 0; block < 2; block++) {
			unsigned char *at = data + (2 * row + block) * Q8_0_BLOCK_BYTES;
			at[1] = 0x3c; /* d = 1 */
			memset(at + 2, 2 * row + block, BLOCK_WEIGHTS);
		}
	struct matrix matrix = {ENCODING_Q8_0, 3, 64, data};
	cr_expect_eq(matrix_bytes(&matrix), sizeof data);
	for (size_t row = 0; row < 3; row++) {
		matrix_row(&matrix, row, values);
		for (size_t i = 0; i < 64; i++)
			cr_expect(values[i] == (float)(2 * row + i / 32), "%zu %zu", row, i);
	}
	for (int i = 0; i < 15; i++)
		plain[i / 5][i % 5] = (float)i / 8;
	struct matrix stored = {ENCODING_F32, 3, 5, plain};
	matrix_row(&stored, 2, values);
	cr_expect_arr_eq(values, plain[2], sizeof plain[2]);
}
