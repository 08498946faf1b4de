/* Inputs are the same everywhere, for ever, and each kind is what it says. */
#include "problem/inputs.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *fill(struct problem *problem, enum input_kind kind, const char *tensor)
{
	size_t count = problem->batch * problem->heads * problem->seq * problem->dim;
	float *values = calloc(count, sizeof *values);
	problem->input = kind;
	problem_fill_defaults(problem);
	input_fill_attention(problem, tensor, values);
	return values;
}

static struct problem small(void)
{
	return (struct problem){.batch = 2, .heads = 3, .seq = 37, .dim = 24, .seed = 11};
}

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

Test(inputs, seeds_and_tensors_differ)
{
	struct problem problem = small();
	float *q = fill(&problem, INPUT_RANDOM, "Q"), *again = fill(&problem, INPUT_RANDOM, "Q"),
	      *k = fill(&problem, INPUT_RANDOM, "K");
	problem.seed++;
	float *other = fill(&problem, INPUT_RANDOM, "Q");
	size_t bytes = 2 * 3 * 37 * 24 * sizeof *q;
	cr_assert_eq(memcmp(q, again, bytes), 0);
	cr_assert_neq(memcmp(q, k, bytes), 0);
	cr_assert_neq(memcmp(q, other, bytes), 0);
	free(q), free(again), free(k), free(other);
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

/* Smallest and largest score of all visible pairs. */
static void score_range(struct problem *problem, enum input_kind kind, double *least, double *most)
{
	float *q = fill(problem, kind, "Q"), *k = fill(problem, kind, "K");
	size_t n = problem->seq, d = problem->dim, heads = problem->batch * problem->heads;
	*least = INFINITY, *most = -INFINITY;
	for (size_t row = 0; row < heads * n; row++)
		for (size_t j = 0; j < n; j++) {
			double dot = 0;
			for (size_t c = 0; c < d; c++)
				dot += (double)q[row * d + c] * (double)k[(row / n * n + j) * d + c];
			*least = fmin(*least, (double)problem->scale * dot);
			*most = fmax(*most, (double)problem->scale * dot);
		}
	free(q), free(k);
}

Test(inputs, kinds_do_what_they_say)
{
	static const size_t dims[] = {1, 8, 64, 128};
	for (size_t i = 0; i < 4; i++) {
		struct problem problem = {.batch = 1, .heads = 2, .seq = 128, .dim = dims[i], .seed = 2};
		double least, most, root = sqrt((double)dims[i]);
		score_range(&problem, INPUT_LARGE_LOGITS, &least, &most);
		cr_expect(
			most > 7e3 && most < 5e4 && least < -7e3, "d=%zu: large logits from %g to %g", dims[i], least,
			most);
		score_range(&problem, INPUT_VERY_NEGATIVE, &least, &most);
		cr_expect(most < -104, "d=%zu: very negative scores reach %g", dims[i], most);
		score_range(&problem, INPUT_CONSTANT, &least, &most);
		cr_expect(
			least == most && fabs(most - root) < 1e-5, "d=%zu: constant from %g to %g", dims[i], least,
			most);
		score_range(&problem, INPUT_RAMP, &least, &most);
		cr_expect(
			fabs(most - 8 * root) < 1e-4 && least > 0, "d=%zu: ramp from %g to %g", dims[i], least, most);
	}
}

Test(inputs, one_hot_rows_have_one_heavy_visible_key)
{
	struct problem problem = {.batch = 1, .heads = 1, .seq = 200, .dim = 64, .seed = 4};
	float *q = fill(&problem, INPUT_ONE_HOT, "Q"), *k = fill(&problem, INPUT_ONE_HOT, "K");
	for (size_t i = 0; i < 200; i++) {
		double best = -INFINITY, second = -INFINITY;
		size_t hot = 0;
		for (size_t j = 0; j < 200; j++) {
			double score = 0;
			for (size_t c = 0; c < 64; c++)
				score += (double)problem.scale * (double)q[i * 64 + c] * (double)k[j * 64 + c];
			if (score > best) {
				second = best, best = score, hot = j;
			} else if (score > second) {
				second = score;
			}
		}
		cr_assert_leq(hot, i, "row %zu is hot at %zu, which a causal mask hides", i, hot);
		cr_assert_gt(best - second, 20.0, "row %zu", i);
	}
	free(q), free(k);
}
