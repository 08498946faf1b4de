/*
 * The checker of the gradients: every correct order of arithmetic passes, every planted fault fails, and the
 * tolerance is what its derivation says.
 */
#include "gradient_variants.h"
#include "problem/inputs.h"
#include "verify/attention.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENTS = 3 };
static const char *const gradient_names[GRADIENTS] = {"dQ", "dK", "dV"};

struct setting {
	struct problem problem;
	float *values[4]; /* Q K V dO */
	struct attention_inputs inputs;
	struct expectations expectations;
	size_t elements;
};

static void expect(struct setting *s)
{
	static const char *const names[] = {"Q", "K", "V", "dO"};
	struct named_values named[5] = {{0}};
	struct error error;
	for (size_t i = 0; i < 4; i++)
		named[i] = (struct named_values){names[i], s->values[i]};
	cr_assert_eq(attention_gradients_expect(&s->problem, named, &s->expectations, &error), 0);
}

static struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, enum input_kind kind)
{
	static const char *const names[] = {"Q", "K", "V", "dO"};
	struct setting s = {.problem = {.batch = batch,
	                                .heads = heads,
	                                .seq = seq,
	                                .dim = dim,
	                                .causal = causal,
	                                .seed = 7,
	                                .input = kind}};
	problem_settle(&s.problem);
	s.elements = batch * heads * seq * dim;
	for (size_t i = 0; i < 4; i++) {
		s.values[i] = calloc(s.elements, sizeof(float));
		input_fill_attention(&s.problem, names[i], s.values[i]);
	}
	s.inputs = (struct attention_inputs){batch,           heads,       seq,         dim,         causal,
	                                     s.problem.scale, s.values[0], s.values[1], s.values[2], {0}};
	expect(&s);
	return s;
}

static void tear_down(struct setting *s)
{
	for (size_t i = 0; i < 4; i++)
		free(s->values[i]);
	expectations_free(&s->expectations);
}

struct outcome {
	float *gradients[GRADIENTS];
	struct check checks[GRADIENTS];
	bool passed;
	double worst; /* error / tolerance */
};

static struct outcome run(const struct setting *s, enum gradient_variant variant)
{
	struct outcome o = {.passed = true};
	for (int g = 0; g < GRADIENTS; g++)
		o.gradients[g] = calloc(s->elements, sizeof(float));
	gradient_variant(variant, &s->inputs, s->values[3], o.gradients[0], o.gradients[1], o.gradients[2]);
	for (int g = 0; g < GRADIENTS; g++) {
		o.checks[g] = check_tensor(expectations_find(&s->expectations, gradient_names[g]), o.gradients[g]);
		o.passed = o.passed && o.checks[g].passed;
		o.worst = fmax(o.worst, check_ratio(&o.checks[g]));
	}
	return o;
}

static void free_run(struct outcome *o)
{
	for (int g = 0; g < GRADIENTS; g++)
		free(o->gradients[g]);
}

Test(checker, correct_orders_pass)
{
	static const size_t shapes[][4] = {{1, 1, 1, 1},   {1, 1, 2, 8},    {1, 2, 17, 32}, {2, 1, 33, 59},
	                                   {1, 1, 97, 64}, {1, 1, 65, 128}, {1, 1, 113, 40}};
	double worst[CORRECT_VARIANTS][GRADIENTS] = {{0}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (int kind = 0; kind < INPUT_KINDS; kind++)
			for (int causal = 0; causal < 2; causal++) {
				const size_t *n = shapes[i];
				struct setting s = set_up(n[0], n[1], n[2], n[3], causal, (enum input_kind)kind);
				for (int variant = 0; variant < CORRECT_VARIANTS; variant++) {
					struct outcome o = run(&s, (enum gradient_variant)variant);
					for (int g = 0; g < GRADIENTS; g++) {
						cr_expect(
							o.checks[g].passed,
							"%s of %s, %s, N=%zu d=%zu causal=%d: error %g, tolerance %g",
							gradient_names[g],
							gradient_variant_name((enum gradient_variant)variant),
							input_kind_names[kind], n[2], n[3], causal,
							o.checks[g].max_abs, o.checks[g].tolerance);
						worst[variant][g] =
							fmax(worst[variant][g], check_ratio(&o.checks[g]));
					}
					free_run(&o);
				}
				tear_down(&s);
			}
	for (int variant = 0; variant < CORRECT_VARIANTS; variant++)
		for (int g = 0; g < GRADIENTS; g++)
			cr_expect(worst[variant][g] <= 0.5, "%s of %s used %.2f of its tolerance", gradient_names[g],
			          gradient_variant_name((enum gradient_variant)variant), worst[variant][g]);
}

/* Each fault, the kind of input that shows it, and the tensors that must be found wrong. */
static const struct {
	enum gradient_variant fault;
	enum input_kind kind;
	bool causal;
	const char *wrong;
} faults[] = {
	{FAULT_DO_ROW, INPUT_RANDOM, false, "dV"},
	{FAULT_DO_ROW, INPUT_RANDOM, true, "dV"},
	{FAULT_NO_D, INPUT_RANDOM, false, "dQ dK"},
	{FAULT_NO_D, INPUT_RANDOM, true, "dQ dK"},
	{FAULT_DQ_UNSCALED, INPUT_RANDOM, false, "dQ"},
	{FAULT_DK_UNSCALED, INPUT_RANDOM, false, "dK"},
	{FAULT_NOT_NORMALISED, INPUT_RANDOM, false, "dQ dK dV"},
	{FAULT_NO_MAX, INPUT_LARGE_LOGITS, false, "dQ dK dV"},
	{FAULT_NO_MAX, INPUT_VERY_NEGATIVE, false, "dQ dK dV"},
	{FAULT_NO_MAX, INPUT_ONE_HOT, false, "dQ dK dV"},
	{FAULT_DROPPED_TAIL, INPUT_RANDOM, false, "dK dV"},
	{FAULT_DROPPED_TAIL, INPUT_CONSTANT, false, "dK dV"},
	{FAULT_DROPPED_KEY, INPUT_RANDOM, false, "dQ"},
	{FAULT_CAUSAL_OFF, INPUT_RANDOM, true, "dQ dK dV"},
	{FAULT_O_NOT_NORMALISED, INPUT_RANDOM, false, "dQ dK"},
	{FAULT_LAST_ROW, INPUT_RANDOM, false, "dQ"},
	{FAULT_NAN, INPUT_RANDOM, false, "dK"},
};

Test(checker, planted_faults_fail)
{
	static const size_t shapes[][2] = {{97, 64}, {113, 40}, {33, 128}, {65, 8}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
			struct setting s = set_up(1, 2, shapes[i][0], shapes[i][1], faults[f].causal, faults[f].kind);
			struct outcome right = run(&s, CORRECT_SPLIT), wrong = run(&s, faults[f].fault);
			const char *name = gradient_variant_name(faults[f].fault);
			cr_expect(right.passed, "the correct twin of %s", name);
			for (int g = 0; g < GRADIENTS; g++) {
				if (!strstr(faults[f].wrong, gradient_names[g]))
					continue;
				cr_expect(memcmp(right.gradients[g], wrong.gradients[g],
				                 s.elements * sizeof(float)) != 0,
				          "%s changes nothing in %s", name, gradient_names[g]);
				cr_expect(!wrong.checks[g].passed,
				          "%s of '%s' on %s, N=%zu d=%zu passed: error %g, tolerance %g",
				          gradient_names[g], name, input_kind_names[faults[f].kind], shapes[i][0],
				          shapes[i][1], wrong.checks[g].max_abs, wrong.checks[g].tolerance);
			}
			free_run(&right);
			free_run(&wrong);
			tear_down(&s);
		}
}

/* Why the gradients of this course are random: ones in dO make every row of dO the right one. */
Test(checker, ones_in_do_hide_a_wrong_row)
{
	struct setting s = set_up(1, 2, 97, 40, false, INPUT_RANDOM);
	struct outcome shown = run(&s, FAULT_DO_ROW);
	cr_expect(!shown.passed, "random dO");
	free_run(&shown);
	expectations_free(&s.expectations);
	for (size_t t = 0; t < s.elements; t++)
		s.values[3][t] = 1.0f;
	expect(&s);
	struct outcome hidden = run(&s, FAULT_DO_ROW);
	cr_expect(hidden.passed, "ones no longer hide it: then the remark in the chapter is wrong");
	free_run(&hidden);
	tear_down(&s);
}

/* The formulas, on round numbers, and what ordinary input uses of them. */
Test(checker, tolerance_does_not_drift)
{
	struct tolerance_terms terms = {.seq = 256, .dim = 64, .score_bound = 10.0}; /* phi = 8 + 128 + 12 * 10 */
	struct gradient_bounds bounds = {.scale = 0.125,
	                                 .weight_bound = 2.0,
	                                 .product_bound = 16.0,
	                                 .q_bound = 4.0,
	                                 .k_bound = 8.0,
	                                 .do_bound = 32.0};
	cr_expect_float_eq(tolerance_of_dq(&terms, &bounds), 0x1p-23 * 0.125 * 8 * 16 * 256, 1e-15);
	cr_expect_float_eq(tolerance_of_dk(&terms, &bounds), 0x1p-23 * 0.125 * 4 * 2 * 16 * 256, 1e-15);
	cr_expect_float_eq(tolerance_of_dv(&terms, &bounds), 0x1p-23 * 32 * 2 * 256, 1e-15);

	struct setting s = set_up(1, 1, 200, 64, false, INPUT_RANDOM);
	struct outcome o = run(&s, CORRECT_NAIVE);
	for (int g = 0; g < GRADIENTS; g++) {
		double ratio = check_ratio(&o.checks[g]);
		cr_expect(ratio > 2e-5 && ratio < 2e-2, "%s uses %g of its tolerance", gradient_names[g], ratio);
	}
	free_run(&o);
	tear_down(&s);
}
