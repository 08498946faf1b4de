/* The reference softmax against a slow one, and its tolerance, by hand. That it is wide enough for correct orders, say the
 * kernels of cases/02_online_softmax.tsv, which has scores of any size, and none. */
#include "online_softmax.h"
#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* Plain, and with what a class does to it. */
Test(checker, softmax_is_that_of_a_slow_computation)
{
	enum { COLS = 9 };
	float x[COLS] = {0.5f, -2.0f, 3.25f, -INFINITY, 1.0f, 1.0f, -7.5f, 0.0f, 2.0f};
	static const struct class_variant variants[] = {
		{VARIANT_PLAIN, 0}, {VARIANT_SOFTCAP, 2.5f}, {VARIANT_SINK, 0}};
	for (int v = 0; v < 3; v++) {
		double y[COLS];
		long double sum = variants[v].kind == VARIANT_SINK ? 1 : 0, weights[COLS];
		struct softmax_row row = softmax_reference(x, COLS, variants[v], y);
		cr_expect_float_eq(row.m, 3.25, 0.0);
		for (int j = 0; j < COLS; j++) {
			long double s = x[j];
			if (variants[v].kind == VARIANT_SOFTCAP && isfinite(x[j]))
				s = 2.5L * tanhl(s / 2.5L);
			sum += weights[j] = isfinite(x[j]) ? expl(s) : 0;
		}
		long double largest = variants[v].kind == VARIANT_SOFTCAP ? 2.5L * tanhl(3.25L / 2.5L) : 3.25L;
		cr_expect_float_eq(row.l, (double)(sum / expl(largest)), 1e-14);
		for (int j = 0; j < COLS; j++)
			cr_expect_float_eq(y[j], (double)(weights[j] / sum), 1e-14);
	}
	/* With a sink: scores below 0 leave m at 0, and a row of nothing is all sink. */
	const float low[] = {-3.0f, -INFINITY}, nothing[] = {-INFINITY, -INFINITY};
	double y[2];
	struct softmax_row row = softmax_reference(low, 2, variants[2], y);
	cr_expect_float_eq(row.m, 0.0, 0.0);
	cr_expect_float_eq(row.l, 1.0 + exp(-3.0), 1e-15);
	row = softmax_reference(nothing, 2, variants[2], y);
	cr_expect(row.m == 0.0 && row.l == 1.0 && y[0] == 0.0 && y[1] == 0.0);
}

/* A flat row keeps its own small tolerance beside a peaked one. */
Test(checker, each_row_has_its_own_tolerance)
{
	float x[2 * 1000] = {0};
	x[0] = 100.0f;
	struct problem problem = {.rows = 2, .cols = 1000};
	struct named_values inputs[] = {{"x", x}, {NULL, NULL}};
	struct expectations expected;
	struct error error;
	cr_assert_eq(softmax_expect(&problem, inputs, &expected, &error), 0);
	const struct expectation *y = expectations_find_shaped(&expected, "y", "RC");
	cr_expect_float_eq(y->tolerances[0], 0x1p-23 * 508, 1e-12);
	cr_expect_float_eq(y->tolerances[1000], 0x1p-23 * 0.508, 1e-12);
	cr_expect_eq(expectations_find(&expected, "m")->tolerance, 0, "m is one of the scores");
	const struct expectation *l = expectations_find(&expected, "l");
	cr_expect_float_eq(l->tolerances[0], 0x1p-23 * 508, 1e-12);
	cr_expect_float_eq(l->tolerances[1], 0x1p-23 * 508 * 1000, 1e-9);
	float wrong[2 * 1000];
	for (size_t t = 0; t < 2000; t++)
		wrong[t] = (float)y->values[t];
	cr_expect(check_tensor(y, wrong).passed);
	wrong[1500] += 1e-6f; /* 1e-3 of its value, far less than row 0 is allowed */
	struct check check = check_tensor(y, wrong);
	cr_expect(!check.passed && check.worst_row == 1 && check.worst_column == 500);
	expectations_free(&expected);
}

/* Of elements with tolerances of their own the worst is the one furthest beyond its own. */
Test(checker, the_worst_element_is_relative_to_its_tolerance)
{
	const double expected[] = {1, 2, 3, 4};
	static const double tolerances[] = {1, 0.1, 1, 0};
	float actual[] = {1.5f, 2.09f, 3, 4};
	struct expectation e = {
		.tensor = "y", .row_count = 1, .row_length = 4, .values = expected, .tolerances = tolerances};
	struct check check = check_tensor(&e, actual);
	cr_expect(check.passed && check.worst_column == 1 && check.tolerance == 0.1);
	actual[3] = 4.0000005f;
	check = check_tensor(&e, actual);
	cr_expect(!check.passed && check.worst_column == 3, "no error is allowed there");
}

/* Above 2^30 products rows are sampled; each is compared with the scores of its own row. */
Test(checker, sampled_rows_are_those_of_x)
{
	struct problem problem = {.rows = 9000, .cols = 1000, .dim = 128, .seed = 5};
	float *x = calloc(problem.rows * problem.cols, sizeof *x), *v = calloc(problem.cols * problem.dim, sizeof *v);
	for (size_t i = 0; i < problem.rows; i++)
		x[i * problem.cols] = (float)i;
	struct named_values inputs[] = {{"x", x}, {"V", v}, {NULL, NULL}};
	struct expectations expected;
	struct error error;
	cr_assert_eq(softmax_expect(&problem, inputs, &expected, &error), 0);
	const struct expectation *m = expectations_find(&expected, "m");
	cr_assert_eq(m->row_count, 64);
	for (size_t r = 0; r < 64; r++)
		cr_expect_eq(m->values[r], (double)m->rows[r]);
	free(x);
	free(v);
	expectations_free(&expected);
}

/* Beside a sink all weights may be next to nothing: then an fp32 result may be 0, and no more. */
Test(checker, weights_beside_a_sink_may_underflow)
{
	const float x[] = {-200, -201};
	struct problem problem = {.rows = 1, .cols = 2, .variant = {VARIANT_SINK, 0.0f}};
	struct named_values inputs[] = {{"x", x}, {NULL, NULL}};
	struct expectations expected;
	struct error error;
	cr_assert_eq(softmax_expect(&problem, inputs, &expected, &error), 0);
	cr_expect_float_eq(expected.items[0].tolerances[0], 0x1p-126, 0x1p-140);
	expectations_free(&expected);
}

/* One score has all the weight; its cap is rounded, too. */
Test(checker, a_capped_score_times_its_row_of_v)
{
	const float x[] = {3}, v[] = {2, -5};
	struct problem problem = {.rows = 1, .cols = 1, .dim = 2, .variant = {VARIANT_SOFTCAP, 1.5f}};
	struct named_values inputs[] = {{"x", x}, {"V", v}, {NULL, NULL}};
	struct expectations expected;
	struct error error;
	cr_assert_eq(softmax_expect(&problem, inputs, &expected, &error), 0);
	const struct expectation *y = expectations_find_shaped(&expected, "y", "Rd");
	for (size_t c = 0; c < 2; c++) {
		cr_expect_eq(y->values[c], (double)v[c]);
		cr_expect_float_eq(y->tolerances[c], 0x1p-23 * (8 + 0.5 + 8 * 1.5) * fabs((double)v[c]), 1e-15);
	}
	expectations_free(&expected);
}

/* The device function that merges two partial results, under a main of our own (merge.cu). */
Test(checker, merge_is_associative)
{
	char *said;
	cr_expect_eq(run_command(TEST_BUILD "/online_softmax/merge", &said), 0);
	cr_expect_str_eq(said, "10 kinds of scores in 5 orders, 0 wrong\n");
}
