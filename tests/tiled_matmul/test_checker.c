/* The reference product against cases worked out by hand, and its tolerance: derived, and tight. */
#include "problem/inputs.h"
#include "problem/tensor.h"
#include "support/error.h"
#include "tiled_matmul.h"
#include "verify/expectations.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

struct setting {
	struct problem problem;
	float *a, *b;
	struct expectations expectations;
};

static struct setting set_up(size_t m, size_t n, size_t k, enum input_kind kind)
{
	struct setting s = {.problem = {.m = m, .n = n, .k = k, .seed = 5, .input = kind}};
	struct error error;
	s.a = calloc(m * k, sizeof *s.a);
	s.b = calloc(k * n, sizeof *s.b);
	input_fill_matmul(&s.problem, "A", s.a);
	input_fill_matmul(&s.problem, "B", s.b);
	struct named_values inputs[] = {{"A", s.a}, {"B", s.b}, {NULL, NULL}};
	cr_assert_eq(matmul_expect(&s.problem, inputs, &s.expectations, &error), 0);
	return s;
}

static const struct expectation *of_c(const struct setting *s)
{
	return expectations_find(&s->expectations, "C");
}

static void tear_down(struct setting *s)
{
	free(s->a);
	free(s->b);
	expectations_free(&s->expectations);
}

Test(checker, two_by_three_times_three_by_two)
{
	const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, -11, 12};
	static const double c[] = {-8, 64, 7, 154}, sizes[] = {58, 64, 139, 154};
	struct problem problem = {.m = 2, .n = 2, .k = 3};
	struct named_values inputs[] = {{"A", a}, {"B", b}, {NULL, NULL}};
	struct expectations expectations;
	struct error error;
	cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
	const struct expectation *expected = expectations_find(&expectations, "C");
	for (size_t t = 0; t < 4; t++) {
		cr_expect_eq(expected->values[t], c[t]);
		cr_expect_float_eq(expected->tolerances[t], 0x1p-23 * 2.5 * sizes[t], 1e-15);
	}
	expectations_free(&expectations);
}

/* And with what a class does to it. */
Test(checker, products_are_those_of_a_slow_computation)
{
	float a[6] = {1, -2, 0.5f, 3, 4, -1}, b[6] = {2, 1, -1, 0, 0.25f, 5}; /* [2, 3], [3, 2] */
	static const struct class_variant variants[] = {{VARIANT_PLAIN, 0}, {VARIANT_SOFTCAP, 6}, {VARIANT_RELU, 0}};
	struct named_values inputs[] = {{"A", a}, {"B", b}, {NULL, NULL}};
	double by_hand[] = {4.125, 3.5, 1.75, -2.0}; /* 2+2+.125, 1+0+2.5, 6-4-.25, 3+0-5 */
	for (int v = 0; v < 3; v++) {
		struct problem problem = {.m = 2, .n = 2, .k = 3, .variant = variants[v]};
		struct expectations expectations;
		struct error error = {0};
		cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
		for (int e = 0; e < 4; e++) {
			double expected = by_hand[e];
			if (v == 1)
				expected = 6 * (exp(expected / 3) - 1) / (exp(expected / 3) + 1);
			if (v == 2 && expected < 0)
				expected = 0;
			cr_expect_float_eq(expectations.items[0].values[e], expected, 1e-14);
		}
		expectations_free(&expectations);
	}
}

enum order { FORWARD, BACKWARD, TILES, PAIRWISE, ORDERS };

static float pairwise(const float *a, const float *b, size_t k, size_t stride)
{
	if (k == 1)
		return a[0] * b[0];
	return pairwise(a, b, k / 2, stride) + pairwise(a + k / 2, b + k / 2 * stride, k - k / 2, stride);
}

static float dot(const float *a, const float *b, size_t k, size_t stride, enum order order)
{
	float sum = 0.0f;
	if (order == PAIRWISE)
		return pairwise(a, b, k, stride);
	for (size_t first = 0; first < k; first += order == TILES ? 32 : k) {
		float part = 0.0f;
		for (size_t t = first; t < k && t < first + (order == TILES ? 32 : k); t++) {
			size_t p = order == BACKWARD ? k - 1 - t : t;
			part += a[p] * b[p * stride];
		}
		sum += part;
	}
	return sum;
}

Test(checker, correct_orders_pass_and_the_tolerance_does_not_drift)
{
	static const size_t lengths[] = {1, 2, 17, 33, 257, 1000, 4096};
	double worst = 0.0, random = 0.0;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (int kind = 0; kind < INPUT_KINDS; kind++) {
			struct setting s = set_up(5, 7, lengths[i], (enum input_kind)kind);
			for (int order = 0; order < ORDERS; order++) {
				float c[5 * 7];
				for (size_t t = 0; t < 5 * 7; t++)
					c[t] =
						dot(s.a + t / 7 * s.problem.k, s.b + t % 7, s.problem.k, 7,
					            (enum order)order);
				struct check check = check_tensor(of_c(&s), c);
				cr_expect(
					check.passed, "order %d, %s, k=%zu: error %g, tolerance %g", order,
					input_kind_names[kind], lengths[i], check.max_abs, check.tolerance);
				worst = fmax(worst, check_ratio(&check));
				if (kind == INPUT_RANDOM && lengths[i] == 257)
					random = fmax(random, check_ratio(&check));
			}
			tear_down(&s);
		}
	cr_expect(worst <= 0.75, "a correct order used %.2f of the tolerance", worst);
	cr_expect(random > 1e-3 && random < 0.1, "k=257, random: error/tolerance %g", random);
}

/* One product too few is found, also in a long sum. */
Test(checker, a_missing_product_is_found)
{
	static const size_t lengths[] = {17, 257, 4096};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		struct setting s = set_up(33, 65, lengths[i], INPUT_RANDOM);
		float *c = calloc(33 * 65, sizeof *c);
		for (size_t t = 0; t < 33 * 65; t++)
			c[t] = dot(s.a + t / 65 * s.problem.k, s.b + t % 65, s.problem.k, 65, FORWARD);
		cr_expect(check_tensor(of_c(&s), c).passed);
		for (size_t t = 0; t < 33 * 65; t++)
			c[t] = dot(s.a + t / 65 * s.problem.k, s.b + t % 65, s.problem.k - 1, 65, FORWARD);
		struct check check = check_tensor(of_c(&s), c);
		cr_expect(!check.passed, "k=%zu: error %g, tolerance %g", lengths[i], check.max_abs, check.tolerance);
		free(c);
		tear_down(&s);
	}
}

/* Beyond 2^30 products, 64 rows are checked, the first and the last among them. */
Test(checker, large_products_are_sampled)
{
	struct setting s = set_up(2100, 512, 1024, INPUT_RANDOM);
	cr_assert_eq(s.expectations.row_count, 64);
	cr_assert_eq(s.expectations.all_rows, 2100);
	cr_assert(of_c(&s)->rows[0] == 0 && of_c(&s)->rows[63] == 2099);
	double sum = 0.0;
	for (size_t p = 0; p < 1024; p++)
		sum += (double)s.a[2099 * 1024 + p] * (double)s.b[p * 512 + 511];
	cr_assert_float_eq(of_c(&s)->values[63 * 512 + 511], sum, 1e-12);
	tear_down(&s);
}
