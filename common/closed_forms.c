#include "closed_forms.h"

#include "problem/attention.h"
#include "support/number.h"

struct closed_forms fa1_forms(const struct problem *problem, int Bc)
{
	uint64_t heads = attention_heads(problem), Nd = (uint64_t)problem->seq * problem->dim;
	uint64_t Tc = ceil_div(problem->seq, (uint64_t)Bc);
	const char *footprint = Tc > 1 ? "5Nd" : "4Nd";
	struct closed_forms forms = {
		.statistics = heads * fa1_statistics(problem, Bc),
		.blocks = heads,
		.flop = attention_flop(problem),
		.exponentials = attention_pairs(problem),
	};
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, heads * (fa1_units(problem, Bc) - Tc) * Nd, heads * Tc * Nd, "(3Tc + 1)Nd"};
	forms.predictions[1] =
		(struct prediction){PREDICTS_FOOTPRINT, heads * (3 + (Tc > 1)) * Nd, heads * Nd, footprint};
	return forms;
}

struct closed_forms streamed_forms(const struct problem *problem, int Br, int Bc, bool skips)
{
	uint64_t heads = attention_heads(problem), N = problem->seq, d = problem->dim;
	struct visits visits = attention_visits(problem, Br, Bc, skips);
	double pairs = (double)heads * (double)visits.pairs;
	const char *requested = skips && problem->causal ? "2Nd + 2d·Σκᵢ" : "2Nd(1 + Tr)";
	struct closed_forms forms = {
		.statistics = heads * N,
		.tile_q = (size_t)Br,
		.tile_k = (size_t)Bc,
		.blocks = heads * ceil_div(N, (uint64_t)Br),
		.flop = 4.0 * pairs * (double)d,
		.exponentials = pairs,
	};
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, heads * (N * d + 2 * d * visits.keys), heads * N * d, requested};
	forms.predictions[1] = (struct prediction){PREDICTS_FOOTPRINT, heads * 3 * N * d, heads * N * d, "4Nd"};
	return forms;
}

/* The sum over tiles j of keys of R_j: queries from the first one that sees a key of the tile. */
static uint64_t queries_visited(const struct problem *problem, uint64_t tile)
{
	uint64_t sum = 0;
	for (uint64_t first_key = 0; first_key < problem->seq; first_key += tile)
		sum += problem->seq - (problem->causal ? first_key : 0);
	return sum;
}

/* Of all heads, those that the mask leaves. */
static double visible_pairs(const struct problem *problem)
{
	double N = (double)problem->seq;
	return problem->causal ? (double)attention_heads(problem) * N * (N + 1) / 2 : attention_pairs(problem);
}

/* Of all heads, those of the tiles that a causal mask does not skip: products are of whole tiles. */
static double tile_pairs(const struct problem *problem, int tile)
{
	return (double)attention_heads(problem) * (double)attention_visits(problem, tile, tile, true).pairs;
}

/* LSE for every element of P; the slope of a class's soft-cap asks for it once more. A block for each row. */
struct closed_forms backward_naive_forms(const struct problem *problem)
{
	uint64_t heads = attention_heads(problem), N = problem->seq, d = problem->dim;
	uint64_t written = heads * (3 * N * N + 3 * N * d), times = problem->variant.kind == VARIANT_SOFTCAP ? 2 : 1;
	/* six kernels, each tensor once: P 2Nd + N², dV N² + 2Nd, dP 2Nd + N², dS 3N², dQ and dK N² + 2Nd each */
	struct prediction footprint = {PREDICTS_FOOTPRINT, heads * (5 * N * N + 7 * N * d), written, "8N² + 10Nd"};
	struct prediction requested = {
		PREDICTS_REQUESTED, heads * (10 * N * N * d + 4 * N * N), written, "10N²d + 7N² + 3Nd"};
	return (struct closed_forms){
		.predictions = {footprint, requested},
		.statistics = times * heads * N * N,
		.blocks = heads * N,
		.flop = 2.5 * attention_flop(problem), /* five products of 2 N² d, masked or not */
		.exponentials = visible_pairs(problem),
	};
}

/*
 * backward_preprocess reads dO and O and writes D. The pass over queries reads K and V, then Q, dO, LSE and D for every
 * tile of keys, and writes dK and dV, with an atomic for each element of dQ at every visit of a query's tile.
 */
struct closed_forms backward_atomic_forms(const struct problem *problem, int tile)
{
	uint64_t heads = attention_heads(problem), N = problem->seq, d = problem->dim,
		 R = queries_visited(problem, (uint64_t)tile);
	uint64_t tiles = heads * ceil_div(N, (uint64_t)tile), preprocess = ceil_div(heads * N, 4);
	const char *formula = problem->causal ? "6Nd + 2dΣR" : "(6 + 2T)Nd";
	struct prediction requested = {
		PREDICTS_REQUESTED, heads * (4 * N * d + 2 * d * R), heads * 2 * N * d, formula};
	struct prediction footprint = {PREDICTS_FOOTPRINT, heads * 7 * N * d, heads * 3 * N * d, "10Nd"};
	return (struct closed_forms){
		.predictions = {requested, footprint},
		.atomics = heads * d * R,
		.statistics = heads * (N + 2 * R),
		.tile_q = (size_t)tile,
		.tile_k = (size_t)tile,
		.blocks = tiles > preprocess ? tiles : preprocess, /* a block of backward_preprocess has four rows */
		.flop = 10.0 * tile_pairs(problem, tile) * (double)d + 2.0 * (double)heads * (double)(N * d),
		.exponentials = visible_pairs(problem),
	};
}

/* As above without atomics, then backward_dq: Q and dO, LSE and D once, K and V for every tile of queries; writes dQ. */
struct closed_forms backward_split_forms(const struct problem *problem, int tile)
{
	uint64_t heads = attention_heads(problem), N = problem->seq, d = problem->dim;
	uint64_t visited =
		queries_visited(problem, (uint64_t)tile) + attention_visits(problem, tile, tile, true).keys;
	const char *formula = problem->causal ? "9Nd + 2d(ΣR + Σκ)" : "(9 + 4T)Nd";
	struct closed_forms forms = backward_atomic_forms(problem, tile);
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, heads * (6 * N * d + 2 * d * visited), heads * 3 * N * d, formula};
	forms.predictions[1] = (struct prediction){PREDICTS_FOOTPRINT, heads * 10 * N * d, heads * 3 * N * d, "13Nd"};
	forms.atomics = 0;
	forms.statistics += 2 * heads * N;
	forms.flop += 4.0 * tile_pairs(problem, tile) * (double)d; /* S and dP once more */
	forms.exponentials *= 2.0;
	return forms;
}
