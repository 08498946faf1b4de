/*
 * FlashAttention-1 beside FlashAttention-2: what loops where, what moves, what it costs, a column an algorithm.
 */
#ifndef REPORT_ATTENTION_SIDES_H
#define REPORT_ATTENTION_SIDES_H

#include "report/table.h"
#include "result.h"

/* One column. */
struct attention_side {
	const char *name, *outer, *inner, *state, *maximum, *kept, *above;
	int tile[2]; /* Br, Bc */
	uint64_t blocks, sms, rescales, divisions, statistics;
	double units, equal_units, published_units, memory_bytes, error;
	double floor_ms, time_ms; /* the floor of a full GPU: of attention_heads_of_full heads */
	bool counted; /* blocks, units, statistics, memory and error are a run's; else, and all others, from closed forms */
};

/* The heads of the problem, but at least as many as the GPU has SMs: a head for each. */
size_t attention_heads_of_full(const struct problem *problem, const struct gpu *gpu);

/* The floor of naive attention at so many heads. */
double attention_naive_floor_ms(const struct problem *problem, const struct gpu *gpu);

/* Algorithm 1 with such tiles, from formulas alone: without error and time. It masks and skips nothing. */
struct attention_side side_of_fa1(const struct problem *problem, const struct gpu *gpu, int Br, int Bc);

/* A kernel that was run, in which K and V stream past tiles of Br queries, and which takes in `keys` keys at once: it
 * rescales O that often. */
struct attention_side side_of_fa2(
	const struct kernel_result *kernel, const struct gpu *gpu, int Br, int Bc, int keys);

/* What was counted or measured has a star. Unless `all`: the few lines that say how the algorithms differ. */
void attention_sides_print(
	const struct terminal *terminal, const struct problem *problem, const struct attention_side *sides,
	size_t count, bool all);

#endif
