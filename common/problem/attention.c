#include "problem/attention.h"

#include "support/number.h"

#include <stdio.h>

uint64_t attention_heads(const struct problem *problem)
{
	return (uint64_t)problem->batch * problem->heads;
}

uint64_t attention_kv_heads(const struct problem *problem)
{
	return (uint64_t)problem->batch * (problem->kv_heads ? problem->kv_heads : problem->heads);
}

struct problem problem_with_heads(const struct problem *problem, size_t heads)
{
	struct problem other = *problem;
	other.batch = 1;
	other.heads = heads;
	other.kv_heads = problem->kv_heads ? ceil_div(heads * problem->kv_heads, problem->heads) : heads;
	problem_fill_defaults(&other);
	return other;
}

double attention_pairs(const struct problem *problem)
{
	double pairs = 0.0;
	for (size_t s = 0; s < sequence_count(&problem->packing); s++) {
		double N = (double)sequence_at(&problem->packing, problem->seq, s).length;
		pairs += N * N;
	}
	return (double)attention_heads(problem) * pairs;
}

double attention_flop(const struct problem *problem)
{
	return 4.0 * attention_pairs(problem) * (double)problem->dim;
}

uint64_t attention_rows(const struct problem *problem)
{
	return attention_heads(problem) * problem->seq;
}

int row_tile_queries(const struct problem *problem)
{
	return problem->tile_q ? (int)problem->tile_q : 128;
}

int row_tile_keys(const struct problem *problem)
{
	if (problem->tile_k)
		return (int)problem->tile_k;
	return problem->dim <= 96 ? 64 : 32;
}

bool row_threads_fit(const struct problem *problem, int most, char *reason, size_t size)
{
	if (row_tile_queries(problem) > most)
		snprintf(
			reason, size,
			"--tile-q %zu needs as many threads per block, the limit is %d: each may need 255 of 65,536 "
			"registers",
			problem->tile_q, most);
	return row_tile_queries(problem) <= most;
}

struct visits visits_of_last(uint64_t N, uint64_t M, int Br, int Bc, bool skips)
{
	struct visits visits = {0, 0, 0};
	for (uint64_t first = 0; first < N; first += (uint64_t)Br) {
		uint64_t end = smaller(first + (uint64_t)Br, N), kappa = M;
		if (skips)
			kappa = smaller(M, ceil_div(M - N + end, (uint64_t)Bc) * (uint64_t)Bc);
		visits.keys += kappa;
		visits.pairs += (end - first) * kappa;
		visits.tiles += ceil_div(kappa, (uint64_t)Bc);
	}
	return visits;
}

struct visits attention_visits(const struct problem *problem, int Br, int Bc, bool skips)
{
	return visits_of_last(problem->seq, problem->seq, Br, Bc, skips && problem->causal);
}

uint64_t fa1_units(const struct problem *problem, int Bc)
{
	return 3 * ceil_div(problem->seq, (uint64_t)Bc) + 1;
}

uint64_t fa1_statistics(const struct problem *problem, int Bc)
{
	return (4 * ceil_div(problem->seq, (uint64_t)Bc) - 2) * problem->seq;
}
