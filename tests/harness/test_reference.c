/* The double-precision reference against cases worked out by hand. */
#include "support/parallel.h"
#include "verify/attention.h"
#include "verify/gradients.h"
#include "verify/range.h"
#include "verify/reference.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct attention_reference compute(struct attention_inputs inputs, const size_t *rows, size_t count)
{
	struct attention_reference reference;
	cr_assert(attention_reference_compute(&inputs, rows, count, &reference));
	return reference;
}

Test(reference, one_token_returns_its_value)
{
	const float q[] = {3, -1}, k[] = {2, 5}, v[] = {7, 8};
	struct attention_reference r =
		compute((struct attention_inputs){1, 1, 1, 2, false, 0.5f, q, k, v, {0}, false}, NULL, 0);
	cr_assert_float_eq(r.o[0], 7, 0);
	cr_assert_float_eq(r.o[1], 8, 0);
	cr_assert_float_eq(r.lse[0], 0.5, 1e-15, "scale q.k = 0.5 (6 - 5)");
	double factor = 8 + 0.5 + 0.5 * (8 * 11 + 0.5 * 11); /* terms 6 and -5: side by side 6 and 5 */
	cr_assert_float_eq(r.lse_tolerance[0], 0x1p-23 * factor, 1e-18);
	cr_assert_float_eq(r.o_tolerance[0], 0x1p-23 * factor * 7, 1e-18);
	cr_assert_float_eq(r.o_tolerance[1], 0x1p-23 * factor * 8, 1e-18);
	attention_reference_free(&r);
}

/*
 * Of gradients: N = 2, d = 1, one key in one direction and one in the other.
 *     q = 2  k = (3, -3)  scale = 0.5  v = (1, -1)  dO = 4    S = (3, -3)  p = (e^3, e^-3) / (e^3 + e^-3)
 * That they are the derivatives of the forward, tests/variants/test_reference.c says.
 */
Test(reference, tolerances_of_gradients)
{
	const float q[] = {2, 2}, k[] = {3, -3}, v[] = {1, -1}, d_o[] = {4, 4};
	struct attention_inputs inputs = {1, 1, 2, 1, false, 0.5f, q, k, v, {0}, false};
	struct attention_gradients g;
	cr_assert(attention_gradients_compute(
		&inputs, d_o, (struct row_list){NULL, 0}, (struct row_list){NULL, 0}, &g));
	double eps = 0x1p-23, p[2] = {1 / (1 + exp(-6)), 1 / (1 + exp(6))};
	double score = 0.5 * (8 * 6 + 0.5 * 6), phi = 8 + 1 + score;
	double products = 4 + 4; /* |dO v| of the key, and of the mean: |v| is 1 everywhere */
	double ds[2] = {
		eps * p[0] * ((8 + 1 + 0.5) * products + score * products),
		eps * p[1] * ((8 + 1 + 0.5) * products + score * products)};
	for (size_t row = 0; row < 2; row++) {
		cr_expect_float_eq(g.dq_tolerance[row], 0.5 * (ds[0] * 3 + ds[1] * 3), 1e-15);
		cr_expect_float_eq(g.dk_tolerance[row], 2 * 0.5 * ds[row] * 2, 1e-15, "two queries");
		cr_expect_float_eq(g.dv_tolerance[row], 2 * eps * phi * p[row] * 4, 1e-15);
	}
	attention_gradients_free(&g);
}

static void count_part(void *context, size_t index)
{
	((int *)context)[index]++; /* its own, so no two threads meet */
}

/* However many cores there are. */
Test(parallel, every_part_runs_once)
{
	static const size_t counts[] = {0, 1, 2, 16, 1000};
	for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
		int runs[1001] = {0};
		parallel_run(counts[c], count_part, runs);
		for (size_t i = 0; i < 1001; i++)
			cr_expect_eq(runs[i], i < counts[c], "part %zu of %zu: %d times", i, counts[c], runs[i]);
	}
}

/* Of two rows of two columns, the longest is (3, 4) times a factor, 5 long. Each bound is met and exceeded. */
Test(range, what_fp32_cannot_hold_is_refused)
{
	const double most = FLT_MAX, log2_e = 1.4426950408889634;
	const struct {
		const char *says;
		double q, k, v, d, scale; /* lengths of the longest rows */
	} cases[] = {
		{"q.k", 1e20, most / 1e20, 1, 0, 1e-9},
		{"scale q.k", 1e10, 1e10, 1, 0, most / 1e20 / log2_e},
		{"sums of V", 1, 1, most / 2, 0, 1},
		{"dO.v", 1, 1, 1e10, most / 2e10, 1e-10},
		{"sums of dO", 1, 1, 1e-3, most / 2, 1e-10},
		{"gradients of Q and K", 1e9, 1, 1e9, most / 4e28, 1e10},
		{"gradients of Q and K", 1, 1e9, 1e9, most / 4e28, 1e10},
	};
	const struct tensor tensors[] = {
		{"Q", "BHNd", TENSOR_INPUT, false},
		{"K", "BHNd", TENSOR_INPUT, false},
		{"V", "BHNd", TENSOR_INPUT, false},
		{"dO", "BHNd", TENSOR_GRADIENT, false},
		{NULL, NULL, TENSOR_INPUT, false}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int beyond = 0; beyond < 2; beyond++) {
			const double lengths[] = {cases[i].q, cases[i].k, cases[i].v, cases[i].d};
			const double factor = beyond ? 1.001 : 0.999; /* of all lengths */
			float values[4][4];
			struct named_values inputs[] = {
				{"Q", values[0]},
				{"K", values[1]},
				{"V", values[2]},
				{"dO", values[3]},
				{NULL, NULL}};
			struct problem problem = {
				.batch = 1,
				.heads = 1,
				.kv_heads = 1,
				.seq = 2,
				.dim = 2,
				.scale = (float)cases[i].scale};
			struct error error;
			for (int t = 0; t < 4; t++) {
				const float unit = (float)(lengths[t] / 5.0 * factor);
				const float shorter[] = {unit, 0}, longest[] = {-3 * unit, 4 * unit};
				memcpy(values[t] + (i % 2 ? 0 : 2), longest,
				       sizeof longest); /* the first one or the last */
				memcpy(values[t] + (i % 2 ? 2 : 0), shorter, sizeof shorter);
			}
			int status = range_check(tensors, &problem, inputs, &error);
			cr_expect_eq(status, beyond ? EXIT_USAGE : 0, "case %zu, %d", i, beyond);
			cr_expect(
				!beyond || strncmp(error.message, cases[i].says, strlen(cases[i].says)) == 0, "'%s'",
				error.message);
		}
}
