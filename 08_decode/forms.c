/*
 * Chapter 08: what each kernel moves, all heads and all launches together, and what its attention computes. The arithmetic
 * of the merge is left out, so a floor stays a bound.
 */
#include "step.h"

#include "support/number.h"

struct sizes {
	uint64_t H, G, d, S, KV; /* KV: numbers of K and of V together */
};

static struct sizes sizes_of(const struct problem *problem)
{
	uint64_t G = problem->kv_heads, d = problem->dim;
	return (struct sizes){problem->heads, G, d, problem->splits, 2 * problem->seq * G * d};
}

uint64_t pages_touched(uint64_t n, uint64_t splits, uint64_t page)
{
	uint64_t touched = 0;
	for (uint64_t s = 0; s < splits; s++) {
		uint64_t begin = s * n / splits, end = (s + 1) * n / splits;
		if (begin < end)
			touched += (end - 1) / page - begin / page + 1;
	}
	return touched;
}

/* A warp for each head reads the keys of its head. */
struct closed_forms naive_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	uint64_t Hd = s.H * s.d;
	double pairs = (double)problem->heads * (double)problem->seq;
	return (struct closed_forms){
		.models =
			{{MODEL_REQUESTED, 2 * problem->seq * Hd + Hd, Hd, "2NHd + 2Hd"},
	                 {MODEL_FOOTPRINT, s.KV + Hd, Hd, "2NGd + 2Hd"}},
		.blocks = s.H,
		.shared_bytes = decode_shared_bytes((int)s.d, 1),
		.flop = pairs * (4.0 * (double)s.d + 4.0),
		.exponentials = pairs,
	};
}

struct closed_forms grouped_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = naive_forms(problem);
	forms.models[0] = (struct model){MODEL_REQUESTED, s.KV + s.H * s.d, s.H * s.d, "2NGd + 2Hd"};
	forms.blocks = s.G;
	forms.shared_bytes = decode_shared_bytes((int)s.d, (int)(s.H / s.G));
	return forms;
}

/* Q for each split; O, m and l of each written, and read by the merge. */
struct closed_forms split_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = grouped_forms(problem);
	uint64_t Hd = s.H * s.d, partials = s.S * s.H * (s.d + 2);
	forms.models[0] = (struct model){
		MODEL_REQUESTED, s.KV + s.S * Hd + partials, partials + Hd, "2NGd + (S+1)Hd + 2SH(d+2)"};
	forms.models[1] =
		(struct model){MODEL_FOOTPRINT, s.KV + Hd + partials, partials + Hd, "2NGd + 2SH(d + 2) + 2Hd"};
	uint64_t blocks = s.G * s.S;
	forms.blocks = blocks > s.H ? blocks : s.H; /* of the larger launch: the merge has H */
	return forms;
}

struct closed_forms paged_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = split_forms(problem);
	forms.models[0].read_elements += s.G * pages_touched(problem->seq, s.S, problem->page);
	forms.models[0].formula = "2NGd + (S+1)Hd + 2SH(d+2) + GΣτ";
	forms.models[1].read_elements += problem->pages;
	forms.models[1].formula = "2NGd + 2SH(d + 2) + 2Hd + T";
	forms.shared_bytes = paged_shared_bytes((int)s.d, (int)(s.H / s.G));
	return forms;
}
