/*
 * What models do to scores, and which keys their queries see: the reference of each against a second one, written in another
 * way; and the random numbers of dropout.
 */
#include "variants.h"

#include "problem/inputs.h"
#include "verify/attention.h"
#include "verify/gradients.h"

#include <criterion/criterion.h>
#include <math.h>

enum { BATCH = 2, HEADS = 4, SEQ = 9, DIM = 3, ROWS = BATCH * HEADS * SEQ, ELEMENTS = ROWS * DIM, TENSORS = 5 };

/* Q K V dO, and the sinks, of which HEADS are used. */
static float tensors[TENSORS][ELEMENTS];

/* The first number of K and V of a pair's key. */
static size_t at_key(const struct attention_inputs *in, size_t row, size_t j)
{
	size_t heads = in->modifiers.kv_heads ? in->modifiers.kv_heads : HEADS;
	size_t sequence = row / (HEADS * SEQ), head = row / SEQ % HEADS;
	return ((sequence * heads + head * heads / HEADS) * SEQ + j) * DIM;
}

/* Scores as a function of a pair, exponentials without a maximum: plain, slow, and another order of everything. */
static long double score(const struct attention_inputs *in, size_t row, size_t j)
{
	const struct modifiers *m = &in->modifiers;
	long double sum = 0, slope = powl(2, -8.0L / HEADS);
	for (size_t c = DIM; c-- > 0;)
		sum += (long double)in->q[row * DIM + c] * in->k[at_key(in, row, j) + c];
	sum *= in->scale;
	if (m->softcap > 0)
		sum = m->softcap * (1 - 2 / (expl(2 * sum / m->softcap) + 1)); /* tanh */
	if (m->problem && m->problem->alibi)
		sum -= powl(slope, (long double)(row / SEQ % HEADS + 1)) * labs((long)(row % SEQ) - (long)j);
	return sum;
}

/* The packed sequence that a token is in. */
static size_t sequence_index(const struct attention_inputs *in, size_t token)
{
	const struct packing *packing = &in->modifiers.packing;
	size_t index = 0;
	for (size_t s = 0; s + 1 < packing->count; s++)
		index += packing->ends[s] <= token;
	return index;
}

/* 0, or 1 / (1 - p). The counter has the places in the token's own sequence. */
static long double kept(const struct attention_inputs *in, size_t row, size_t j)
{
	const struct problem *problem = in->modifiers.problem;
	if (!problem || problem->dropout == 0)
		return 1;
	size_t i = row % SEQ, s = sequence_index(in, i), first = s ? in->modifiers.packing.ends[s - 1] : 0;
	const uint32_t counter[4] = {
		(uint32_t)(j - first), (uint32_t)(i - first), (uint32_t)(row / SEQ + HEADS * s), 0};
	uint32_t words[4];
	philox_4x32(counter, problem->seed, words);
	return words[0] / 4294967296.0L < problem->dropout ? 0 : 1 / (1 - (long double)problem->dropout);
}

static bool sees(const struct attention_inputs *in, size_t i, size_t j)
{
	if (sequence_index(in, i) != sequence_index(in, j))
		return false;
	size_t W = in->modifiers.window;
	if (W && (i + W <= j || j + W <= i))
		return false;
	return !in->causal || j <= i;
}

static long double slow_output(const struct attention_inputs *in, size_t row, size_t column, long double *lse)
{
	size_t i = row % SEQ;
	long double sum = 0, weighted = 0;
	for (size_t j = SEQ; j-- > 0;) {
		if (!sees(in, i, j))
			continue;
		long double weight = expl(score(in, row, j));
		sum += weight;
		weighted += weight * kept(in, row, j) * in->v[at_key(in, row, j) + column];
	}
	if (in->modifiers.sink)
		sum += expl(in->modifiers.sink[row / SEQ % HEADS]);
	*lse = logl(sum);
	return weighted / sum;
}

/* A problem of these options of the chapter's own. */
#define RULES(...)                                                                                                   \
	.problem = &(const struct problem)                                                                           \
	{                                                                                                            \
		.heads = HEADS, .rules = &variants_rules, __VA_ARGS__                                                \
	}

static const struct modifiers all_modifiers[] = {
	{0},
	{.softcap = 1.5f},
	{.softcap = 5},
	{.window = 1},
	{.window = 5},
	{.window = SEQ + 4},
	{RULES(.alibi = true)},
	{.kv_heads = 1},
	{.kv_heads = 2},
	{.sink = tensors[4]},
	{.sink = tensors[4], .window = 3, .kv_heads = 2, .softcap = 2, RULES(.alibi = true)},
	{RULES(.dropout = 0.25f, .seed = 7)},
	{RULES(.dropout = 0.9f, .seed = UINT64_MAX)},
	{.packing = {"2,1,6", 3, {2, 3, 9}}},
	{.packing = {"9", 1, {9}}, .window = 2},
	{.sink = tensors[4],
         .window = 3,
         .kv_heads = 2,
         .softcap = 2,
         RULES(.alibi = true, .dropout = 0.5f, .seed = 3),
         .packing = {"4,5", 2, {4, 9}}},
};

static struct attention_inputs attention(struct modifiers modifiers, bool causal)
{
	static const char *const names[TENSORS] = {"Q", "K", "V", "dO", "sink"};
	for (int t = 0; t < TENSORS; t++)
		for (size_t e = 0; e < ELEMENTS; e++)
			tensors[t][e] = input_normal(5, names[t], e);
	return (struct attention_inputs){BATCH,      HEADS,      SEQ,        DIM,       causal, 0.7f,
	                                 tensors[0], tensors[1], tensors[2], modifiers, false};
}

/* The known answers that the authors' Random123 is published with (kat_vectors, "philox4x32 10"). */
Test(reference, philox_has_its_known_answers)
{
	static const struct {
		uint32_t counter[4];
		uint64_t key;
		uint32_t words[4];
	} known[] = {
		{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
	         UINT64_MAX,
	         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
	         0x299f31d0a4093822,
	         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		uint32_t words[4];
		philox_4x32(known[i].counter, known[i].key, words);
		for (int w = 0; w < 4; w++)
			cr_expect_eq(words[w], known[i].words[w], "%zu, word %d: %08x", i, w, words[w]);
	}
}

/* Of 40,000 weights a share of p is dropped, to 4 standard deviations; and their mean stays 1. */
Test(reference, dropout_drops_its_share)
{
	static const float shares[] = {0.001f, 0.1f, 0.5f, 0.99f};
	for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
		const struct problem problem = {.dropout = shares[s], .seed = 11};
		double p = (double)shares[s], dropped = 0, count = 40000, sum = 0;
		for (size_t i = 0; i < 200; i++)
			for (size_t j = 0; j < 200; j++) {
				double factor = variants_rules.factor(&problem, 1, i, j);
				dropped += factor == 0.0;
				sum += factor;
			}
		cr_expect_float_eq(dropped, count * p, 4 * sqrt(count * p * (1 - p)), "%g of %g", dropped, p);
		cr_expect_float_eq(sum * (1 - p), count - dropped, 1e-6 * count);
	}
	cr_expect(variants_rules.factor(&(struct problem){0}, 0, 3, 4) == 1.0);
}

/* Places that have nothing to do with each other differ in 2 p (1 - p) of their weights. */
Test(reference, dropout_of_each_place_is_drawn_anew)
{
	const struct problem one = {.dropout = 0.3f, .seed = 11}, low = {.dropout = 0.3f, .seed = 12},
			     high = {.dropout = 0.3f, .seed = 11 + (UINT64_C(1) << 32)};
	double count = 200 * 200, share = 2 * 0.3 * 0.7, differ[5] = {0};
	for (size_t i = 0; i < 200; i++)
		for (size_t j = 0; j < 200; j++) {
			bool here = variants_rules.factor(&one, 1, i, j) > 0;
			differ[0] += here != (variants_rules.factor(&one, 2, i, j) > 0);
			differ[1] += here != (variants_rules.factor(&one, 1, j, i + 200) > 0);
			differ[2] += here != (variants_rules.factor(&one, 1, i, j + 1) > 0);
			differ[3] += here != (variants_rules.factor(&low, 1, i, j) > 0);
			differ[4] += here != (variants_rules.factor(&high, 1, i, j) > 0);
		}
	for (int k = 0; k < 5; k++)
		cr_expect_float_eq(differ[k], count * share, 5 * sqrt(count * share), "%d: %g", k, differ[k]);
}

Test(reference, outputs_are_those_of_a_slow_computation)
{
	for (size_t v = 0; v < sizeof all_modifiers / sizeof all_modifiers[0]; v++)
		for (int causal = 0; causal < 2; causal++) {
			struct attention_inputs in = attention(all_modifiers[v], causal);
			struct attention_reference reference;
			cr_assert(attention_reference_compute(&in, NULL, 0, &reference));
			for (size_t row = 0; row < ROWS; row++)
				for (size_t c = 0; c < DIM; c++) {
					long double lse, o = slow_output(&in, row, c, &lse);
					cr_assert_float_eq(reference.o[row * DIM + c], (double)o, 1e-13, "%zu", v);
					cr_assert_float_eq(reference.lse[row], (double)lse, 1e-13, "%zu", v);
				}
			attention_reference_free(&reference);
		}
}

static long double slow_loss(const struct attention_inputs *in)
{
	long double sum = 0, lse;
	for (size_t row = 0; row < ROWS; row++)
		for (size_t c = 0; c < DIM; c++)
			sum += slow_output(in, row, c, &lse) * tensors[3][row * DIM + c];
	return sum;
}

static double slow_derivative(const struct attention_inputs *in, float *x)
{
	float saved = *x, low = saved - 0x1p-10f, high = saved + 0x1p-10f;
	*x = high;
	long double difference = slow_loss(in);
	*x = low;
	difference -= slow_loss(in);
	*x = saved;
	return (double)(difference / ((long double)high - low));
}

Test(reference, gradients_are_finite_differences)
{
	for (size_t v = 0; v < sizeof all_modifiers / sizeof all_modifiers[0]; v++)
		for (int causal = 0; causal < 2; causal++) {
			struct attention_inputs in = attention(all_modifiers[v], causal);
			struct attention_gradients g;
			struct row_list all = {NULL, 0};
			size_t kv_heads = in.modifiers.kv_heads ? in.modifiers.kv_heads : HEADS;
			cr_assert(attention_gradients_compute(&in, tensors[3], all, all, &g));
			const double *gradients[TENSORS] = {g.dq, g.dk, g.dv, NULL, g.dsink};
			const size_t counts[TENSORS] = {
				ELEMENTS, BATCH * kv_heads * SEQ * DIM, BATCH * kv_heads * SEQ * DIM, 0,
				in.modifiers.sink ? HEADS : 0};
			for (int t = 0; t < TENSORS; t++)
				for (size_t e = 0; e < counts[t]; e += t == 4 ? 1 : 2) {
					double expected = slow_derivative(&in, &tensors[t][e]);
					cr_expect_float_eq(
						gradients[t][e], expected, 2e-5,
						"%zu, causal %d: tensor %d, %zu: %g, %g", v, causal, t, e,
						gradients[t][e], expected);
				}
			attention_gradients_free(&g);
		}
}
