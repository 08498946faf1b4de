/* Chapter 07: what each kernel moves and computes. */
#include "block.h"
#include "transformer.h"

/* ---- closed forms, all heads and all launches together ---- */

static uint64_t blocks_of(uint64_t threads)
{
	return ceil_div(threads, 256);
}

/* What an element of the rows [N, C] costs, where a thread has an element. */
static struct closed_forms elementwise(
	const struct problem *problem, uint64_t reads, const char *formula, double flop, double exponentials)
{
	uint64_t elements = problem->seq * row_width(problem);
	return (struct closed_forms){
		.models =
			{{MODEL_REQUESTED, reads * elements, elements, formula},
	                 {MODEL_FOOTPRINT, reads * elements, elements, formula}},
		.blocks = blocks_of(elements),
		.flop = flop * (double)elements,
		.exponentials = exponentials * (double)elements,
	};
}

/* A row is read for its squares and again for its quotients, with the weights. */
struct closed_forms norm_forms(const struct problem *problem)
{
	uint64_t C = row_width(problem), NC = problem->seq * C;
	struct closed_forms forms = elementwise(problem, 3, "3NC + NC", 4.0, 0.0);
	forms.models[1] = (struct model){MODEL_FOOTPRINT, NC + C, NC, "NC + C + NC"};
	forms.blocks = ceil_div(problem->seq, 4);
	return forms;
}

/* A pair is two numbers, a cosine and a sine; an odd d's last column is a number alone. */
struct closed_forms rope_forms(const struct problem *problem)
{
	uint64_t N = problem->seq, H = problem->heads, d = problem->dim, turned = d / 2 * 2;
	struct closed_forms forms = elementwise(problem, 2, "", 3.0, 0.0);
	forms.models[0] = (struct model){
		MODEL_REQUESTED, N * H * (d + turned), N * H * d, d % 2 ? "NH(2d - 1) + NC" : "2NC + NC"};
	forms.models[1] = (struct model){
		MODEL_FOOTPRINT, N * H * d + N * turned, N * H * d, d % 2 ? "NC + N(d - 1) + NC" : "NC + Nd + NC"};
	forms.blocks = blocks_of(N * H * ((d + 1) / 2));
	return forms;
}

/* Every token reads all weights, and its x once for every 32 of them. */
struct closed_forms project_forms(const struct problem *problem)
{
	uint64_t N = problem->seq, C = row_width(problem);
	return (struct closed_forms){
		.models =
			{{MODEL_REQUESTED, N * (C * C + ceil_div(C, 32) * C + C), N * C, "N(C² + ⌈C/32⌉C + C) + NC"},
	                 {MODEL_FOOTPRINT, C * C + 2 * N * C, N * C, "C² + 2NC + NC"}},
		.blocks = N * ceil_div(C, 128),
		.shared_bytes = sizeof(float) * 4 * 32 * 33,
		.flop = 2.0 * (double)(N * C) * (double)C,
	};
}

struct closed_forms swiglu_forms(const struct problem *problem)
{
	return elementwise(problem, 2, "2NC + NC", 5.0, 1.0);
}

struct closed_forms strided_forms(const struct problem *problem)
{
	struct visits of_a_head = visits_of_last(
		problem->seq, problem->keys, row_tile_queries(problem), row_tile_keys(problem), problem->causal);
	uint64_t H = problem->heads, NC = problem->seq * row_width(problem), d = problem->dim;
	uint64_t MCkv = problem->keys * problem->kv_heads * d;
	double pairs = (double)H * (double)of_a_head.pairs;
	return (struct closed_forms){
		.models =
			{{MODEL_REQUESTED, NC + 2 * H * of_a_head.keys * d, NC, "2NC + 2C Σκ"},
	                 {MODEL_FOOTPRINT, NC + 2 * MCkv, NC, "2NC + 2MGd"}},
		.tile_q = (size_t)row_tile_queries(problem),
		.tile_k = (size_t)row_tile_keys(problem),
		.blocks = H * ceil_div(problem->seq, (uint64_t)row_tile_queries(problem)),
		.shared_bytes = attention_shared_bytes((int)d, row_tile_keys(problem)),
		.flop = pairs * (4.0 * (double)d + 4.0),
		.exponentials = pairs,
	};
}

struct closed_forms permuted_forms(const struct problem *problem)
{
	struct closed_forms forms = strided_forms(problem);
	uint64_t NC = problem->seq * row_width(problem), MCkv = problem->keys * problem->kv_heads * problem->dim;
	for (size_t i = 0; i < MODELS; i++) {
		forms.models[i].read_elements += 2 * NC + 2 * MCkv;
		forms.models[i].write_elements += 2 * NC + 2 * MCkv;
	}
	forms.models[0].formula = "2NC + 2C Σκ + 4(NC + MGd)";
	forms.models[1].formula = "2NC + 2MGd + 4(NC + MGd)";
	uint64_t copying = blocks_of(NC > MCkv ? NC : MCkv);
	forms.blocks = forms.blocks > copying ? forms.blocks : copying;
	return forms;
}
