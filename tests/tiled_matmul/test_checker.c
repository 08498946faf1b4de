/* The reference product and its tolerance against cases worked out by hand. That it is wide enough for correct orders, say
 * the kernels of cases/03_tiled_matmul.tsv. */
#include "problem/inputs.h"
#include "problem/tensor.h"
#include "support/error.h"
#include "tiled_matmul.h"
#include "verify/expectations.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* [2, 3] x [3, 2], plain and with what a class does to it. Tolerances are those of the sum of the products' sizes. */
Test(checker, products_by_hand)
{
	float a[] = {1, -2, 0.5f, 3, 4, -1}, b[] = {2, 1, -1, 0, 0.25f, 5};
	static const struct class_variant variants[] = {{VARIANT_PLAIN, 0}, {VARIANT_SOFTCAP, 6}, {VARIANT_RELU, 0}};
	static const double c[] = {4.125, 3.5, 1.75, -2.0}; /* 2+2+.125, 1+0+2.5, 6-4-.25, 3+0-5 */
	static const double sizes[] = {4.125, 3.5, 10.25, 8.0};
	struct named_values inputs[] = {{"A", a}, {"B", b}, {NULL, NULL}};
	for (int v = 0; v < 3; v++) {
		struct problem problem = {.m = 2, .n = 2, .k = 3, .variant = variants[v]};
		struct expectations expectations;
		struct error error = {0};
		cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
		const struct expectation *found = expectations_find(&expectations, "C");
		for (int e = 0; e < 4; e++) {
			double expected = c[e], tolerance = 2.5 * sizes[e];
			if (v == 1)
				expected = 6 * (exp(expected / 3) - 1) / (exp(expected / 3) + 1);
			if (v == 1)
				tolerance += 8 * fabs(expected) + 4 * 6;
			if (v == 2 && expected < 0)
				expected = 0;
			cr_expect_float_eq(found->values[e], expected, 1e-14);
			cr_expect_float_eq(found->tolerances[e], 0x1p-23 * tolerance, 1e-15);
		}
		expectations_free(&expectations);
	}
}

/* Of k products, the last one 2, the others 1: eps (1 + k/2) (k + 1). Without the last it fails. */
Test(checker, long_products_by_hand)
{
	static const size_t lengths[] = {17, 257, 4096};
	float a[4096], ones[4096];
	struct named_values inputs[] = {{"A", a}, {"B", ones}, {NULL, NULL}};
	for (size_t i = 0; i < 4096; i++)
		a[i] = ones[i] = 1;
	for (size_t i = 0; i < 3; i++) {
		struct problem problem = {.m = 1, .n = 1, .k = lengths[i]};
		struct expectations expectations;
		struct error error;
		a[lengths[i] - 1] = 2;
		cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
		a[lengths[i] - 1] = 1;
		const double k = (double)lengths[i];
		const float missing = (float)lengths[i] - 1;
		const struct expectation *found = expectations_find(&expectations, "C");
		cr_expect_float_eq(found->tolerances[0], 0x1p-23 * (1 + k / 2) * (k + 1), 1e-12, "k = %g", k);
		cr_expect_not(check_tensor(found, &missing).passed);
		expectations_free(&expectations);
	}
}

/* Beyond 2^30 products, 64 rows are checked, the first and the last among them. */
Test(checker, large_products_are_sampled)
{
	struct problem problem = {.m = 2100, .n = 512, .k = 1024, .seed = 5};
	struct expectations expectations;
	struct error error;
	float *a = calloc(problem.m * problem.k, sizeof *a), *b = calloc(problem.k * problem.n, sizeof *b);
	struct named_values inputs[] = {{"A", a}, {"B", b}, {NULL, NULL}};
	input_fill_matmul(&problem, "A", a);
	input_fill_matmul(&problem, "B", b);
	cr_assert_eq(matmul_expect(&problem, inputs, &expectations, &error), 0);
	const struct expectation *found = expectations_find(&expectations, "C");
	cr_assert_eq(expectations.row_count, 64);
	cr_assert_eq(expectations.all_rows, 2100);
	cr_assert(found->rows[0] == 0 && found->rows[63] == 2099);
	double sum = 0.0;
	for (size_t p = 0; p < 1024; p++)
		sum += (double)a[2099 * 1024 + p] * (double)b[p * 512 + 511];
	cr_assert_float_eq(found->values[63 * 512 + 511], sum, 1e-12);
	free(a);
	free(b);
	expectations_free(&expectations);
}
