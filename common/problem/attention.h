/*
 * The sizes of an attention problem: heads, rows, scores, FLOP, default tiles, and what a loop over tiles visits. B H heads
 * of N queries and N keys in d dimensions; numbers are of all heads together unless they say "a head".
 */
#ifndef PROBLEM_ATTENTION_H
#define PROBLEM_ATTENTION_H

#include "problem/problem.h"

/* B H: each head of each sequence is a problem of its own. */
uint64_t attention_heads(const struct problem *problem);

/* B G: heads of keys and values; B H unless heads of queries share them. */
uint64_t attention_kv_heads(const struct problem *problem);

/* The same heads, but so many of them, in one sequence, and heads of keys in proportion. */
struct problem problem_with_heads(const struct problem *problem, size_t heads);

/* N² scores a head, masked or not. */
double attention_pairs(const struct problem *problem);

/* Q Kᵀ and P V: 4 N² d FLOP a head, masked or not. */
double attention_flop(const struct problem *problem);

/* B H N: query rows of all heads; LSE has as many numbers. */
uint64_t attention_rows(const struct problem *problem);

/* Br and Bc of a kernel in which a thread owns a query row: --tile-q and --tile-k, or what fits 48 KB. */
int row_tile_queries(const struct problem *problem);
int row_tile_keys(const struct problem *problem);

/* Whether those queries, a thread each, are at most `most`, because each may need 255 registers; else a reason. */
bool row_threads_fit(const struct problem *problem, int most, char *reason, size_t size);

/*
 * What a kernel reads that streams the keys past tiles of Br queries, sums over the query tiles of one head. With
 * kappa_i the keys that tile i loads, N or, causal and if it skips the others, whole tiles of Bc keys up to its last row:
 *
 *     keys = sum kappa_i          pairs = sum rows_i kappa_i          tiles = sum ceil(kappa_i / Bc)
 */
struct visits {
	uint64_t keys, pairs, tiles;
};

struct visits attention_visits(const struct problem *problem, int Br, int Bc, bool skips);

/* The same for N queries that are the last of M >= N keys; with `skips` they are causal. */
struct visits visits_of_last(uint64_t N, uint64_t M, int Br, int Bc, bool skips);

/* Elements of Q, K, V and O that Algorithm 1 requests, a head, in units of N d: K and V once, Q and O read and O written at
 * each of the Tc visits of a row, but O not read at the first: 3 Tc + 1. */
uint64_t fa1_units(const struct problem *problem, int Bc);

/* Elements of l and m that Algorithm 1 requests, a head. Both are read and written at each of the Tc visits of a row, but
 * not read at the first: (4 Tc - 2) N. */
uint64_t fa1_statistics(const struct problem *problem, int Bc);

#endif
