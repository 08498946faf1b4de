/*
 * The double-precision gradients: what must hold whatever the numbers, their tolerances, and which rows are sampled.
 * That they are the derivatives of the forward, tests/variants/test_reference.c says.
 */
#include "in_use.h"
#include "problem/inputs.h"
#include "verify/attention.h"
#include "verify/gradients.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct row_list every_row = {NULL, 0};

enum { TENSORS = 4 };

/* A small problem with standard normal inputs. */
struct setting {
	struct attention_inputs inputs;
	float *tensors[TENSORS]; /* Q K V dO; the first three are those of inputs */
	float *sink;             /* [H], of the inputs if they have one */
	size_t elements;         /* of Q */
};

/* A `sink` of the modifiers that is not NULL stands for normal numbers. */
static struct setting set_up_with(
	struct modifiers modifiers, size_t batch, size_t heads, size_t seq, size_t dim, bool causal)
{
	static const char *const names[TENSORS] = {"Q", "K", "V", "dO"};
	struct setting s = {
		.inputs = {
			.batch = batch,
			.heads = heads,
			.seq = seq,
			.dim = dim,
			.causal = causal,
			.scale = (float)(1.0 / sqrt((double)dim)),
			.modifiers = modifiers}};
	s.elements = batch * heads * seq * dim;
	for (int t = 0; t < TENSORS; t++) {
		s.tensors[t] = calloc(s.elements, sizeof(float));
		for (size_t i = 0; i < s.elements; i++)
			s.tensors[t][i] = input_normal(11, names[t], i);
	}
	s.sink = calloc(heads, sizeof(float));
	for (size_t h = 0; h < heads; h++)
		s.sink[h] = input_normal(11, "sink", h);
	s.inputs.q = s.tensors[0];
	s.inputs.k = s.tensors[1];
	s.inputs.v = s.tensors[2];
	if (modifiers.sink)
		s.inputs.modifiers.sink = s.sink;
	return s;
}

static struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, float scale)
{
	struct setting s = set_up_with((struct modifiers){0}, batch, heads, seq, dim, causal);
	s.inputs.scale = scale;
	return s;
}

static void tear_down(struct setting *s)
{
	for (int t = 0; t < TENSORS; t++)
		free(s->tensors[t]);
	free(s->sink);
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
	size_t in_use[IN_USE_TIMES];
	for (int i = 0; i < IN_USE_TIMES; i++) {
		cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &all));
		attention_gradients_free(&all);
		in_use[i] = bytes_in_use();
	}
	cr_expect_not(grows(in_use));
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

/* Keys picked out give the gradient of the sink of the first head of queries that shares them, over all sequences. */
Test(reference, the_sink_of_keys_that_are_picked_out)
{
	static const float any_sink;
	struct setting s = set_up_with((struct modifiers){.kv_heads = 3, .sink = &any_sink}, 2, 6, 5, 4, true);
	struct attention_gradients all, some;
	cr_assert(attention_gradients_compute(&s.inputs, s.tensors[3], every_row, every_row, &all));
	for (size_t kv_head = 0; kv_head < 6; kv_head++) {
		size_t key = kv_head * 5 + 2, head = kv_head * 2 % 6;
		cr_assert(attention_gradients_compute(
			&s.inputs, s.tensors[3], (struct row_list){&key, 1}, (struct row_list){&key, 1}, &some));
		cr_expect_eq(some.dsink[head], all.dsink[head], "keys of head %zu", kv_head);
		cr_expect_eq(some.dsink_tolerance[head], all.dsink_tolerance[head], "keys of head %zu", kv_head);
		attention_gradients_free(&some);
	}
	attention_gradients_free(&all);
	tear_down(&s);
}

static const struct expectation *expected(const struct expectations *expectations, const char *tensor)
{
	const struct expectation *found = expectations_find(expectations, tensor);
	cr_assert(found && found->rows && found->row_count > 0, "%s", tensor);
	return found;
}

/* All rows lie in heads [first, end), and the ends of each sequence of these heads are among them. */
static void expect_rows(const struct expectation *item, const struct problem *problem, size_t first, size_t end)
{
	bool has[1 << 16] = {false};
	size_t N = problem->seq;
	for (size_t r = 0; r < item->row_count; r++) {
		cr_assert(item->rows[r] >= first * N && item->rows[r] < end * N, "%s: another head", item->tensor);
		has[item->rows[r]] = true;
	}
	for (size_t head = first; head < end; head++)
		for (size_t i = 0; i < sequence_count(&problem->packing); i++) {
			struct sequence own = sequence_at(&problem->packing, N, i);
			size_t row = head * N + own.first;
			cr_expect(
				has[row] && has[row + own.length - 1],
				"%s: the first or the last row of sequence %zu of head %zu is not looked at",
				item->tensor, i, head);
		}
}

static void expect_values(const struct expectation *item, const double *values)
{
	size_t bytes = item->row_count * item->row_length * sizeof *values;
	cr_expect_eq(memcmp(item->values, values, bytes), 0, "%s", item->tensor);
}

/*
 * Where rows are sampled: the gradients of all heads of queries, of the keys of the one head that the seed says, and
 * of the sink of its first head of queries; of packed sequences, the ends of each. A window makes it cheap.
 */
Test(reference, what_is_sampled_of_groups_and_packed_sequences)
{
	static const float any_sink;
	static const struct {
		uint64_t seed;
		size_t batch, heads, seq;
		struct packing packing;
	} cases[] = {
		{0, 2, 32, 370, {.count = 0}},
		{21, 2, 32, 370, {.count = 0}},
		{37, 1, 64, 600, {"300,1,299", 3, {300, 301, 600}}}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t batch = cases[i].batch, H = cases[i].heads, G = H / 2, N = cases[i].seq, d = 128;
		struct setting s = set_up_with(
			(struct modifiers){
				.window = 2, .kv_heads = G, .sink = &any_sink, .packing = cases[i].packing},
			batch, H, N, d, false);
		struct problem problem = {
			.batch = batch,
			.heads = H,
			.kv_heads = G,
			.seq = N,
			.dim = d,
			.window = 2,
			.scale = s.inputs.scale,
			.sink = true,
			.seed = cases[i].seed,
			.packing = cases[i].packing};
		struct named_values inputs[] = {{"Q", s.tensors[0]},  {"K", s.tensors[1]}, {"V", s.tensors[2]},
		                                {"dO", s.tensors[3]}, {"sink", s.sink},    {NULL, NULL}};
		struct attention_gradients g;
		struct expectations some;
		struct error error;
		cr_assert_eq(attention_gradients_expect(&problem, inputs, &some, &error), 0);
		size_t kv_head = cases[i].seed % (batch * G), head = kv_head * 2 % H;
		const struct expectation *dq = expected(&some, "dQ"), *dk = expected(&some, "dK"),
					 *dv = expected(&some, "dV"), *dsink = expected(&some, "dsink");
		expect_rows(dq, &problem, 0, batch * H);
		expect_rows(dk, &problem, kv_head, kv_head + 1);
		expect_rows(dv, &problem, kv_head, kv_head + 1);
		cr_assert(attention_gradients_compute(
			&s.inputs, s.tensors[3], (struct row_list){dq->rows, dq->row_count},
			(struct row_list){dk->rows, dk->row_count}, &g));
		expect_values(dq, g.dq);
		expect_values(dk, g.dk);
		expect_values(dv, g.dv);
		cr_expect(dsink->row_count == 1 && dsink->rows[0] == head, "dsink of head %zu", dsink->rows[0]);
		expect_values(dsink, g.dsink + head);
		attention_gradients_free(&g);
		expectations_free(&some);
		tear_down(&s);
	}
}
