/* Inputs are the same everywhere, for ever. */
#include "problem/inputs.h"
#include "problem/row_inputs.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits, not values: the same with gcc and clang at every -O. */
Test(inputs, pinned)
{
	static const struct {
		uint64_t seed;
		const char *tensor;
		size_t index;
		float value;
	} pinned[] = {
		{UINT64_C(1), "Q", 0, -0x1.85e812p-2f},
		{UINT64_C(1), "Q", 1, -0x1.842b8p-2f},
		{UINT64_C(1), "K", 0, 0x1.2fd48ep-2f},
		{UINT64_C(1), "V", 65535, -0x1.876fc8p-2f},
		{UINT64_C(0), "dO", 7, -0x1.fc7184p-1f},
		{UINT64_C(18446744073709551615), "x", 123456789, 0x1.ef8a4ep-7f},
	};
	for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
		float value = input_normal(pinned[i].seed, pinned[i].tensor, pinned[i].index);
		cr_expect_eq(
			value, pinned[i].value, "seed %llu %s[%zu] is %a", (unsigned long long)pinned[i].seed,
			pinned[i].tensor, pinned[i].index, (double)value);
	}
}

Test(inputs, random_is_standard_normal)
{
	enum { COUNT = 200000 };
	double sum = 0, squares = 0, fourth = 0, tail = 0;
	for (size_t i = 0; i < COUNT; i++) {
		double z = input_normal(5, "V", i);
		cr_assert(isfinite(z));
		sum += z, squares += z * z, fourth += z * z * z * z, tail += fabs(z) > 3;
	}
	cr_assert_float_eq(sum / COUNT, 0, 0.01);
	cr_assert_float_eq(squares / COUNT, 1, 0.015);
	cr_assert_float_eq(fourth / COUNT, 3, 0.12);
	cr_assert_float_eq(tail / COUNT, 0.0027, 0.0006);
}

static void of_attention(struct problem *problem)
{
	*problem = (struct problem){.batch = 2, .heads = 4, .kv_heads = 2, .seq = 5, .dim = 3};
}

static void capped(struct problem *problem)
{
	of_attention(problem);
	problem->softcap = 0.5f;
}

static void packed(struct problem *problem)
{
	of_attention(problem);
	problem->batch = 1;
	cr_assert(packing_read(&problem->packing, "2,3", 5));
}

static void uneven(struct problem *problem)
{
	of_attention(problem);
	problem->kv_heads = 3;
}

static void of_scores(struct problem *problem)
{
	*problem = (struct problem){.rows = 3, .cols = 7, .dim = 2};
}

static void of_matrices(struct problem *problem)
{
	*problem = (struct problem){.m = 3, .n = 4, .k = 5};
}

static void of_tokens(struct problem *problem)
{
	*problem = (struct problem){.batch = 1, .heads = 4, .kv_heads = 2, .seq = 3, .keys = 5, .dim = 2};
}

/* All elements of every tensor of every kind, in one sum each: 1 x the first + 2 x the second + ... + 11 x the eleventh +
 * 1 x the twelfth + ... Kills: another factor, sign, row, column, head or stream of what is filled in; one element more
 * or fewer. The kinds with no random element can be worked out by hand: Q of a ramp is 1 everywhere, and 10 x 66 + 55. */
Test(inputs, every_tensor_of_every_kind)
{
	static const struct {
		void (*of)(struct problem *);
		void (*fill)(const struct problem *, const char *, float *);
		const char *tensor;
		size_t elements;
	} filled[] = {
		{of_attention, input_fill_attention, "Q", 120},  {of_attention, input_fill_attention, "K", 60},
		{of_attention, input_fill_attention, "V", 60},   {of_attention, input_fill_attention, "dO", 120},
		{of_attention, input_fill_attention, "sink", 4}, {capped, input_fill_attention, "sink", 4},
		{packed, input_fill_attention, "sink", 4},       {uneven, input_fill_attention, "sink", 4},
		{of_scores, input_fill_softmax, "x", 21},        {of_scores, input_fill_softmax, "V", 14},
		{of_matrices, input_fill_matmul, "A", 15},       {of_matrices, input_fill_matmul, "B", 20},
		{of_tokens, input_fill_rows, "Q", 24},           {of_tokens, input_fill_rows, "K", 20},
		{of_tokens, input_fill_rows, "V", 20},           {of_tokens, input_fill_rows, "x", 24},
		{of_tokens, input_fill_rows, "gate", 24},        {of_tokens, input_fill_rows, "residual", 24},
		{of_tokens, input_fill_rows, "weight", 8},       {of_tokens, input_fill_rows, "W", 64},
	};
	static const double sums[][INPUT_KINDS] = {
		/* in the order of enum input_kind */
		{150.733623, 7536.68131, 11477.6834, 715, 2894.84114, 715},
		{50.2648813, 2513.24397, -5532.56619, 345, 50.2648813, 1668.80003},
		{-33.0668641, -33.0668641, -33.0668641, -33.0668641, -33.0668641, -0.833333343},
		{77.898303, 77.898303, 77.898303, 77.898303, 77.898303, 77.898303},
		{-4.79330501, -2032.12063, -4481.98398, 13.3384577, 82.7874432, 134.582013},
		{-4.41411716, -1.98204976, -8.98204988, 1.00816202, -1.98204976, 1.0179503},
		{-4.91114032, -2326.70874, -4489.0336, 13.3384577, 59.3265858, 51.443574},
		{-3.98204988, -3.98204988, -3.98204988, -3.98204988, -3.98204988, -3.98204988},
		{-40.1679879, -100419.971, -247647.327, 968, 85969.523, 4589.71437},
		{-14.8859636, -14.8859636, -14.8859636, -14.8859636, -14.8859636, 1.42857143},
		{-0.250273213, -12.5136518, 1215.93744, 76, 960, 0},
		{-16.1381869, -806.90931, -1771.96545, 111, -16.1381869, 6.49999977},
		{62.914071, 3145.70353, 2175.72855, 135, 1258.20297, 135},
		{47.9929809, 2399.64902, -1787.99823, 111, 47.9929809, 577.600009},
		{-56.392726, -56.392726, -56.392726, -56.392726, -56.392726, 6.49999977},
		{-31.6922586, -1584.6129, -2152.07694, 135, -31.6922586, 4.50000003},
		{28.8881536, 1444.40765, -2167.22207, 135, 28.8881536, 36.0000002},
		{7.36853142, 7.36853142, 7.36853142, 7.36853142, 7.36853142, 7.36853142},
		{24.3702415, 24.3702415, 24.3702415, 24.3702415, 24.3702415, 6},
		{-59.8270432, -59.8270432, -59.8270432, -59.8270432, -59.8270432, 5.46875},
	};
	for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++)
		for (int kind = 0; kind < INPUT_KINDS; kind++) {
			struct problem problem;
			filled[i].of(&problem);
			problem.seed = 11;
			problem.input = (enum input_kind)kind;
			problem_fill_defaults(&problem);
			float values[121];
			double sum = 0;
			for (size_t j = 0; j < 121; j++)
				values[j] = -12345;
			filled[i].fill(&problem, filled[i].tensor, values);
			for (size_t j = 0; j < filled[i].elements; j++)
				sum += (double)(j % 11 + 1) * (double)values[j];
			cr_expect_float_eq(
				sum, sums[i][kind], 1e-5 * fabs(sum) + 1e-5, "%zu: %s of %s sums up to %.9g", i,
				filled[i].tensor, input_kind_names[kind], sum);
			cr_expect_eq(
				values[filled[i].elements], -12345, "%zu: %s of %s", i, filled[i].tensor,
				input_kind_names[kind]);
		}
}
