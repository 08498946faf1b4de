/* What classes compute: the reference of each variant against a second one, written in another way. */
#include "problem/inputs.h"
#include "verify/attention.h"
#include "verify/gradients.h"
#include "verify/matmul.h"
#include "verify/softmax.h"

#include <criterion/criterion.h>
#include <math.h>

/* Scores as a function of a pair, exponentials without a maximum: plain, slow, and another order of everything. */
static long double score(const struct attention_inputs *in, size_t head, size_t i, size_t j)
{
	long double sum = 0;
	for (size_t c = in->dim; c-- > 0;)
		sum += (long double)in->q[(head * in->seq + i) * in->dim + c] *
		       in->k[(head * in->seq + j) * in->dim + c];
	sum *= in->scale;
	if (in->variant.kind == VARIANT_SOFTCAP)
		sum = in->variant.value * (1 - 2 / (expl(2 * sum / in->variant.value) + 1)); /* tanh */
	return sum;
}

static bool sees(const struct attention_inputs *in, size_t i, size_t j)
{
	if (in->variant.kind == VARIANT_WINDOW &&
	    (i + (size_t)in->variant.value <= j || j + (size_t)in->variant.value <= i))
		return false;
	return !in->causal || j <= i;
}

static long double slow_output(const struct attention_inputs *in, size_t row, size_t column, long double *lse)
{
	size_t head = row / in->seq, i = row % in->seq;
	long double sum = 0, weighted = 0;
	for (size_t j = in->seq; j-- > 0;) {
		if (!sees(in, i, j))
			continue;
		long double weight = expl(score(in, head, i, j));
		sum += weight;
		weighted += weight * in->v[(head * in->seq + j) * in->dim + column];
	}
	*lse = logl(sum);
	return weighted / sum;
}

static const struct class_variant attention_variants[] = {
	{VARIANT_PLAIN, 0}, {VARIANT_SOFTCAP, 1.5f}, {VARIANT_SOFTCAP, 5}, {VARIANT_WINDOW, 1}, {VARIANT_WINDOW, 5}};

enum { SEQ = 13, DIM = 4, HEADS = 2, ELEMENTS = HEADS * SEQ * DIM };

static float tensors[4][ELEMENTS];

static struct attention_inputs attention(struct class_variant variant, bool causal)
{
	static const char *const names[] = {"Q", "K", "V", "dO"};
	for (int t = 0; t < 4; t++)
		for (size_t e = 0; e < ELEMENTS; e++)
			tensors[t][e] = input_normal(5, names[t], e);
	return (struct attention_inputs){1,          HEADS,      SEQ,        DIM,     causal, 0.7f,
	                                 tensors[0], tensors[1], tensors[2], variant, false};
}

Test(variants, outputs_are_those_of_a_slow_computation)
{
	for (size_t v = 0; v < sizeof attention_variants / sizeof attention_variants[0]; v++)
		for (int causal = 0; causal < 2; causal++) {
			struct attention_inputs in = attention(attention_variants[v], causal);
			struct attention_reference reference;
			cr_assert(attention_reference_compute(&in, NULL, 0, &reference));
			for (size_t row = 0; row < HEADS * SEQ; row++)
				for (size_t c = 0; c < DIM; c++) {
					long double lse, o = slow_output(&in, row, c, &lse);
					cr_assert_float_eq(reference.o[row * DIM + c], (double)o, 1e-13);
					cr_assert_float_eq(reference.lse[row], (double)lse, 1e-13);
				}
			attention_reference_free(&reference);
		}
}

static long double slow_loss(const struct attention_inputs *in)
{
	long double sum = 0, lse;
	for (size_t row = 0; row < HEADS * SEQ; row++)
		for (size_t c = 0; c < DIM; c++)
			sum += slow_output(in, row, c, &lse) * tensors[3][row * DIM + c];
	return sum;
}

Test(variants, gradients_are_finite_differences, .timeout = 60)
{
	for (size_t v = 1; v < sizeof attention_variants / sizeof attention_variants[0]; v++)
		for (int causal = 0; causal < 2; causal++) {
			struct attention_inputs in = attention(attention_variants[v], causal);
			struct attention_gradients g;
			struct row_list all = {NULL, 0};
			cr_assert(attention_gradients_compute(&in, tensors[3], all, all, &g));
			const double *gradients[] = {g.dq, g.dk, g.dv};
			for (int t = 0; t < 3; t++)
				for (size_t e = 0; e < ELEMENTS; e += 3) {
					float saved = tensors[t][e], low = saved - 0x1p-10f, high = saved + 0x1p-10f;
					tensors[t][e] = high;
					long double difference = slow_loss(&in);
					tensors[t][e] = low;
					difference -= slow_loss(&in);
					tensors[t][e] = saved;
					double expected = (double)(difference / ((long double)high - low));
					cr_expect_float_eq(
						gradients[t][e], expected, 2e-5, "%s %g, %s[%zu]: %g, %g",
						variant_names[in.variant.kind], (double)in.variant.value,
						&"dQ\0dK\0dV"[3 * t], e, gradients[t][e], expected);
				}
			attention_gradients_free(&g);
		}
}

Test(variants, softmax_is_that_of_a_slow_computation)
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

Test(variants, products_are_those_of_a_slow_computation)
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
