/*
 * The double-precision gradients, checked against central finite differences of the double-precision forward, and
 * against what must hold whatever the numbers.
 */
#include "finite_differences.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct row_list every_row = {NULL, 0};

/* max |difference - gradient| / max |gradient|, the worst of dQ, dK and dV */
static double compare_with_differences(struct setting *s)
{
	struct attention_gradients g;
	cr_assert(attention_gradients_compute(&s->inputs, s->tensors[3], every_row, every_row, &g));
	const double *gradients[] = {g.dq, g.dk, g.dv};
	double worst = 0.0;
	for (int t = 0; t < 3; t++) {
		double error = 0.0, size = 0.0;
		for (size_t i = 0; i < s->elements; i++) {
			error = worse_of(error, fabs(finite_difference(s, t, i) - gradients[t][i]));
			size = fmax(size, fabs(gradients[t][i]));
		}
		worst = worse_of(worst, error / size);
	}
	attention_gradients_free(&g);
	return worst;
}

Test(reference, agrees_with_finite_differences)
{
	static const struct {
		size_t batch, heads, seq, dim;
		bool causal;
		float scale;
	} cases[] = {{1, 1, 17, 8, false, 0.35355339f}, {1, 1, 17, 8, true, 0.35355339f}, {1, 1, 17, 8, true, -0.5f},
	             {2, 2, 5, 3, false, 0.7f},         {1, 2, 6, 1, true, 1.0f},         {1, 1, 1, 8, false, 1.0f}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct setting s = set_up(
			cases[i].batch, cases[i].heads, cases[i].seq, cases[i].dim, cases[i].causal, cases[i].scale);
		if (cases[i].seq > 1) {
			double worst = compare_with_differences(&s);
			cr_expect(worst <= 1e-5, "case %zu: %g", i, worst);
			cr_expect(worst > 0.0, "case %zu compared nothing", i);
		}
		tear_down(&s);
	}
}

/* The comparison above can fail: a gradient that is off in its fourth digit is off by more than it allows. */
Test(reference, finite_differences_see_a_wrong_digit)
{
	struct setting s = set_up(1, 1, 17, 8, false, 0.35355339f);
	struct attention_gradients g;
	cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &g));
	double size = 0.0;
	size_t at = 0;
	for (size_t i = 0; i < s.elements; i++)
		if (fabs(g.dk[i]) > size)
			size = fabs(g.dk[at = i]);
	double difference = finite_difference(&s, 1, at);
	cr_expect(fabs(difference - g.dk[at]) / size <= 1e-5);
	cr_expect(fabs(difference - 1.0001 * g.dk[at]) / size > 1e-5);
	attention_gradients_free(&g);
	tear_down(&s);
}

/* One token: P is 1 whatever q and k are, so dV = dO, and nothing depends on Q and K. */
Test(reference, one_token)
{
	struct setting s = set_up(1, 3, 1, 8, false, 1.0f);
	struct attention_gradients g;
	cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &g));
	for (size_t i = 0; i < s.elements; i++) {
		cr_expect_eq(g.dv[i], (double)s.tensors[3][i]);
		cr_expect_float_eq(g.dq[i], 0.0, 1e-15);
		cr_expect_float_eq(g.dk[i], 0.0, 1e-15);
	}
	attention_gradients_free(&g);
	tear_down(&s);
}

/*
 * <dQ, Q> = <dK, K>: both are sum over S o dS, since S = scale Q K^T. Adding a vector to every key shifts each row of
 * scores by a constant, which the softmax does not see: the rows of dK sum to 0. Weights sum to 1: so do dV and dO.
 */
Test(reference, identities)
{
	for (int causal = 0; causal < 2; causal++) {
		struct setting s = set_up(1, 2, 40, 12, causal, 0.3f);
		struct attention_gradients g;
		cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &g));
		double q_side = 0.0, k_side = 0.0;
		for (size_t i = 0; i < s.elements; i++) {
			q_side += g.dq[i] * (double)s.tensors[0][i];
			k_side += g.dk[i] * (double)s.tensors[1][i];
		}
		cr_expect_float_eq(q_side, k_side, 1e-12 * fabs(q_side));
		for (size_t head = 0; head < 2; head++)
			for (size_t c = 0; c < 12; c++) {
				double dk = 0.0, dv = 0.0, d_o = 0.0;
				for (size_t j = 0; j < 40; j++) {
					size_t i = (head * 40 + j) * 12 + c;
					dk += g.dk[i], dv += g.dv[i], d_o += (double)s.tensors[3][i];
				}
				cr_expect_float_eq(dk, 0.0, 1e-12);
				cr_expect_float_eq(dv, d_o, 1e-12);
			}
		attention_gradients_free(&g);
		tear_down(&s);
	}
}

/*
 * The tolerances, worked out by hand: N = 2, d = 1, one key in one direction and one in the other.
 *     q = 2  k = (3, -3)  scale = 0.5  v = (1, -1)  dO = 4    S = (3, -3)  p = (e^3, e^-3) / (e^3 + e^-3)
 */
Test(reference, tolerances)
{
	struct setting s = set_up(1, 1, 2, 1, false, 0.5f);
	const float values[4][2] = {{2, 2}, {3, -3}, {1, -1}, {4, 4}};
	for (size_t t = 0; t < 4; t++)
		memcpy(s.tensors[t], values[t], sizeof values[t]);
	struct attention_gradients g;
	cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &g));
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
	tear_down(&s);
}

/* Rows picked out are the rows of the whole. */
Test(reference, sampled_rows)
{
	struct setting s = set_up(2, 2, 9, 4, true, 0.5f);
	const size_t queries[] = {0, 3, 17, 35}, keys[] = {9, 12, 17, 30};
	struct attention_gradients all, some;
	cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &all));
	cr_assert(attention_gradients_compute(
		&s.inputs, s.tensors[3], (struct row_list){queries, 4}, (struct row_list){keys, 4}, &some));
	for (size_t r = 0; r < 4; r++) {
		cr_expect_eq(memcmp(some.dq + r * 4, all.dq + queries[r] * 4, 4 * sizeof(double)), 0, "dQ %zu", r);
		cr_expect_eq(memcmp(some.dk + r * 4, all.dk + keys[r] * 4, 4 * sizeof(double)), 0, "dK %zu", r);
		cr_expect_eq(memcmp(some.dv + r * 4, all.dv + keys[r] * 4, 4 * sizeof(double)), 0, "dV %zu", r);
	}
	attention_gradients_free(&all);
	attention_gradients_free(&some);
	tear_down(&s);
}
