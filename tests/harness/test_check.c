/* The checker: correct kernels pass, planted faults fail, and the tolerance stays where it was derived. */
#include "attention_variants.h"

#include "problem/inputs.h"
#include "verify/attention.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct setting {
	struct problem problem;
	float *values[3]; /* Q K V */
	struct attention_inputs inputs;
	struct expectations expectations;
	size_t elements;
};

static struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, enum input_kind kind)
{
	static const char *const names[] = {"Q", "K", "V"};
	struct setting s = {.problem = {.batch = batch,
	                                .heads = heads,
	                                .seq = seq,
	                                .dim = dim,
	                                .causal = causal,
	                                .seed = 7,
	                                .input = kind}};
	struct named_values named[4] = {{0}};
	struct error error;
	problem_settle(&s.problem);
	s.elements = batch * heads * seq * dim;
	for (size_t i = 0; i < 3; i++) {
		s.values[i] = calloc(s.elements, sizeof(float));
		input_fill_attention(&s.problem, names[i], s.values[i]);
		named[i] = (struct named_values){names[i], s.values[i]};
	}
	s.inputs = (struct attention_inputs){batch,           heads,       seq,         dim,         causal,
	                                     s.problem.scale, s.values[0], s.values[1], s.values[2], {0}};
	cr_assert_eq(attention_expect(&s.problem, named, &s.expectations, &error), 0);
	return s;
}

static void tear_down(struct setting *s)
{
	for (size_t i = 0; i < 3; i++)
		free(s->values[i]);
	expectations_free(&s->expectations);
}

/* As the harness does: what a kernel leaves out is NaN on a GPU, here a plausible 0. */
static struct check check_variant(const struct setting *s, enum variant variant, float *o)
{
	memset(o, 0, s->elements * sizeof *o);
	attention_variant(variant, &s->inputs, o);
	return check_tensor(expectations_find(&s->expectations, "O"), o);
}

Test(check, correct_variants_pass)
{
	static const size_t shapes[][4] = {{1, 1, 1, 1},   {1, 1, 2, 8},     {1, 2, 17, 32}, {2, 1, 33, 59},
	                                   {1, 1, 97, 64}, {1, 1, 113, 128}, {1, 1, 200, 40}};
	double worst = 0.0;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (int kind = 0; kind < INPUT_KINDS; kind++)
			for (int causal = 0; causal < 2; causal++) {
				const size_t *n = shapes[i];
				struct setting s = set_up(n[0], n[1], n[2], n[3], causal, (enum input_kind)kind);
				float *o = calloc(s.elements, sizeof *o);
				for (int variant = 0; variant < CORRECT_VARIANTS; variant++) {
					struct check check = check_variant(&s, (enum variant)variant, o);
					cr_expect(check.passed,
					          "%s, %s, N=%zu d=%zu causal=%d: error %g, tolerance %g",
					          variant_name((enum variant)variant), input_kind_names[kind], n[2],
					          n[3], causal, check.max_abs, check.tolerance);
					worst = fmax(worst, check_ratio(&check));
				}
				free(o);
				tear_down(&s);
			}
	cr_expect(worst <= 0.5, "a correct kernel used %.2f of the tolerance", worst);
}

/* Each fault, the kind of input that shows it, and proof that it changes the output at all. */
static const struct {
	enum variant fault;
	enum input_kind kind;
	bool causal;
} faults[] = {
	{FAULT_NAN, INPUT_RANDOM, false},
	{FAULT_LAST_ROW, INPUT_RANDOM, false},
	{FAULT_NO_RESCALE, INPUT_RANDOM, false},
	{FAULT_NO_RESCALE, INPUT_RAMP, false},
	{FAULT_BLOCK_MAX, INPUT_RANDOM, false},
	{FAULT_NO_MAX, INPUT_LARGE_LOGITS, false},
	{FAULT_NO_MAX, INPUT_VERY_NEGATIVE, false},
	{FAULT_NO_MAX, INPUT_ONE_HOT, false},
	{FAULT_MAX_FROM_ZERO, INPUT_VERY_NEGATIVE, false},
	{FAULT_DROPPED_TAIL, INPUT_RANDOM, false},
	{FAULT_DROPPED_TAIL, INPUT_CONSTANT, false},
	{FAULT_CAUSAL_OFF, INPUT_RANDOM, true},
	{FAULT_BF16_P, INPUT_RANDOM, false},
};

Test(check, planted_faults_fail)
{
	static const size_t shapes[][2] = {{97, 64}, {113, 40}, {33, 128}, {257, 8}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
			struct setting s = set_up(1, 2, shapes[i][0], shapes[i][1], faults[f].causal, faults[f].kind);
			float *right = calloc(s.elements, sizeof *right), *wrong = calloc(s.elements, sizeof *wrong);
			struct check good = check_variant(&s, CORRECT_ONLINE, right);
			struct check bad = check_variant(&s, faults[f].fault, wrong);
			const char *name = variant_name(faults[f].fault);
			cr_expect(good.passed, "the correct twin of %s", name);
			cr_expect(memcmp(right, wrong, s.elements * sizeof *right) != 0, "%s changes nothing", name);
			cr_expect(!bad.passed, "%s on %s, N=%zu d=%zu passed: error %g, tolerance %g", name,
			          input_kind_names[faults[f].kind], shapes[i][0], shapes[i][1], bad.max_abs,
			          bad.tolerance);
			free(right);
			free(wrong);
			tear_down(&s);
		}
}

/* What the derivation gives for N=256 d=64, and what the naive order of summation uses of it. */
Test(check, tolerance_does_not_drift)
{
	struct tolerance_terms terms = {.seq = 256, .dim = 64, .score_bound = 10.0, .sampled_random = false};
	cr_assert_float_eq(tolerance_factor(&terms), 8 + 128 + 12 * 10.0, 1e-12);
	cr_assert_float_eq(tolerance_of_output(&terms, 4.0), 0x1p-23 * 4.0 * 256.0, 1e-12);
	cr_assert_float_eq(tolerance_of_logsumexp(&terms), 0x1p-23 * 256.0, 1e-12);
	terms.sampled_random = true;
	cr_assert_float_eq(tolerance_factor(&terms), 256.0, 1e-12, "no random walk at N <= 1024");
	terms.seq = 16384;
	cr_assert_float_eq(tolerance_factor(&terms), 8 + 2 * 128.0 + 120.0, 1e-12);

	struct setting s = set_up(1, 1, 256, 64, false, INPUT_RANDOM);
	float *o = calloc(s.elements, sizeof *o);
	struct check check = check_variant(&s, CORRECT_NAIVE, o);
	cr_expect(check.tolerance > 5e-5 && check.tolerance < 2e-4, "tolerance %g", check.tolerance);
	cr_expect(check_ratio(&check) > 5e-4 && check_ratio(&check) < 2e-2, "error/tolerance %g",
	          check_ratio(&check));
	free(o);
	tear_down(&s);
}

/* One element off by a little more than the tolerance is found, with its place; a little less is let through. */
Test(check, finds_the_worst_element)
{
	const double expected[6] = {1, 2, 3, 4, 5, 6};
	float actual[6] = {1, 2, 3, 4, 5, 6};
	struct expectation e = {
		.tensor = "O", .row_count = 2, .row_length = 3, .values = expected, .tolerance = 0.25};
	cr_assert(check_tensor(&e, actual).passed);
	actual[4] = 5.25f;
	cr_assert(check_tensor(&e, actual).passed);
	actual[4] = 5.5f;
	struct check check = check_tensor(&e, actual);
	cr_assert(!check.passed);
	cr_assert_eq(check.worst_row, 1);
	cr_assert_eq(check.worst_column, 1);
	cr_assert_float_eq(check.max_abs, 0.5, 0.0);
	size_t at[MAX_RANK];
	const size_t shape[] = {1, 1, 2, 3};
	check_coordinates(check.worst_row, check.worst_column, 3, shape, 4, at);
	cr_assert(at[0] == 0 && at[1] == 0 && at[2] == 1 && at[3] == 1);
}

Test(check, not_a_number_comes_first_and_fails)
{
	const double expected[4] = {1, 2, 3, 4};
	float actual[4] = {100, NAN, 3, INFINITY};
	struct expectation e = {.tensor = "O", .row_count = 1, .row_length = 4, .values = expected, .tolerance = 1e9};
	struct check check = check_tensor(&e, actual);
	cr_assert(!check.passed);
	cr_assert_eq(check.non_finite, 2);
	cr_assert_eq(check.worst_column, 1);
	cr_assert(isnan(check.max_abs));
	struct check fine = {.passed = true, .max_abs = 1, .tolerance = 2};
	cr_assert(check_is_worse(&check, &fine));
	cr_assert(!check_is_worse(&fine, &check));
	e.row_count = 0;
	cr_assert(!check_tensor(&e, actual).passed, "nothing compared must not pass");
	e.row_count = 1;
	e.tolerance = NAN;
	actual[1] = 2, actual[0] = 1, actual[3] = 4;
	cr_assert(!check_tensor(&e, actual).passed, "a tolerance that is NaN must not pass");
}

Test(check, an_expected_infinity_needs_the_same_infinity)
{
	const double expected[2] = {-INFINITY, 1};
	float actual[2] = {-INFINITY, 1};
	struct expectation e = {.tensor = "m", .row_count = 2, .row_length = 1, .values = expected, .tolerance = 0.1};
	cr_assert(check_tensor(&e, actual).passed);
	actual[0] = INFINITY;
	cr_assert(!check_tensor(&e, actual).passed);
	actual[0] = -1e30f;
	cr_assert(!check_tensor(&e, actual).passed);
}

Test(check, sampled_rows_are_compared_where_they_belong)
{
	const double expected[4] = {10, 11, 30, 31};
	const size_t rows[2] = {1, 3};
	float actual[8] = {-1, -1, 10, 11, -1, -1, 30, 31};
	struct expectation e = {
		.tensor = "O", .row_count = 2, .row_length = 2, .rows = rows, .values = expected, .tolerance = 1e-6};
	cr_assert(check_tensor(&e, actual).passed);
	actual[7] = 0;
	struct check check = check_tensor(&e, actual);
	cr_assert(!check.passed);
	cr_assert_eq(check.worst_row, 3);
}

/* The sign of a NaN says nothing, and differs between machines. */
Test(check, prints_nan_without_a_sign)
{
	const double expected[2] = {1, 2};
	float actual[2] = {copysignf(NAN, -1.0f), copysignf(NAN, -1.0f)};
	const size_t shape[] = {1, 1, 1, 2};
	struct expectation e = {.tensor = "O", .row_count = 1, .row_length = 2, .values = expected, .tolerance = 0.5};
	struct check check = check_tensor(&e, actual);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	check_print_worst(out, &check, &e, actual, shape, 4);
	fclose(out);
	cr_expect(strstr(text, "O[0,0,0,0] is nan, expected 1 (error nan"), "%s", text);
	cr_expect(!strstr(text, "-nan"), "%s", text);
	free(text);
}

Test(check, prints_the_worst_element_and_its_neighbours)
{
	const double expected[4] = {1, 2, 3, 4};
	float actual[4] = {1, 2, 7, 4};
	const size_t shape[] = {1, 1, 1, 4};
	struct expectation e = {.tensor = "O", .row_count = 1, .row_length = 4, .values = expected, .tolerance = 0.5};
	struct check check = check_tensor(&e, actual);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	check_print_worst(out, &check, &e, actual, shape, 4);
	fclose(out);
	cr_assert(strstr(text, "O[0,0,0,2] is 7, expected 3 (error 4, tolerance 0.5)"), "%s", text);
	cr_assert(strstr(text, "> 2"), "%s", text);
	free(text);
}
