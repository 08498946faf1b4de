/*
 * Chapter 08: attention of one new token to n tokens that are kept. A row is a token; H heads of queries share G heads of
 * keys and values: head h reads head h / (H / G).
 *
 * Pointers are the device's and aligned to 16 bytes, tensors fp32 and row-major; the caller owns all of it. A launcher
 * allocates and copies nothing, and returns the launch error. What it cannot take is cudaErrorInvalidValue.
 */
#ifndef DECODE_H
#define DECODE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Heads that share are a warp each of one block, which has at most 1,024 threads. Splits are the grid's y. */
enum { MOST_HEAD_DIM = 128, MOST_GROUP = 32, MOST_SPLITS = 65535 };

struct decode {
	const float *Q;     /* [H, d] */
	const float *K, *V; /* n rows of G heads; paged: the rows of all pages */
	float *O;           /* [H, d] */
	size_t row,
		head; /* element c of head h of row j of K and V lies at j row + h head + c; 4 divides both if it divides d */
	int n, H, G, d; /* n >= 1; G divides H, H / G at most MOST_GROUP but for decode_naive; 1 <= d <= 128 */
	float scale;
};

/* What a split knows of its keys, for each head: sum exp(s - m) v, the largest score m, sum exp(s - m). Of a split without
 * keys: 0, -inf, 0. Split s has the keys from s n / S to (s + 1) n / S - 1. */
struct partials {
	float *O;     /* [S, H, d] */
	float *m, *l; /* [S, H] */
	int S;        /* 1 to MOST_SPLITS */
};

/* Where the rows are: token j is row table[j / size] * size + j % size of K and V. */
struct pages {
	const int *table; /* [⌈n / size⌉] */
	int size;         /* tokens, >= 1 */
};

cudaError_t launch_decode_naive(struct decode decode);   /* a block for each head of queries */
cudaError_t launch_decode_grouped(struct decode decode); /* a block for each head of keys */

/* A block for each head of keys and split; writes partials, and not O. */
cudaError_t launch_decode_split(struct decode decode, struct partials partials);
cudaError_t launch_decode_paged(struct decode decode, struct partials partials, struct pages pages);

/* O [H, d] from the partials of all splits. */
cudaError_t launch_merge(struct partials partials, float *O, int H, int d);

/* Tokens first, first + 1, ... of K and V [rows, width], both, into their pages. */
struct append {
	const float *K, *V;
	float *K_pages, *V_pages; /* [pages, size, width] */
	struct pages pages;
	int rows, width;
	int first; /* the token of row 0 */
};
cudaError_t launch_append(struct append append);

/* Shared memory of a block whose warps have a head each, bytes; of decode_paged more, for the table. */
size_t decode_shared_bytes(int d, int heads);
size_t paged_shared_bytes(int d, int heads);

#ifdef __cplusplus
}
#else

/* ---- between chapter.c and pass.c: nothing that a kernel needs ---- */

#include <stdint.h>

struct problem;
struct closed_forms;
struct chapter;
struct options;
struct device;
struct terminal;
struct error;

/* All heads and all launches together. */
struct closed_forms naive_forms(const struct problem *problem);
struct closed_forms grouped_forms(const struct problem *problem);
struct closed_forms split_forms(const struct problem *problem);
struct closed_forms paged_forms(const struct problem *problem);

/* The numbers from 0 to count - 1 in an order drawn with the seed. */
void shuffle_pages(uint64_t seed, int *pages, size_t count);

/* What the program does with --prompt, as struct chapter's `generate`. */
int decode_generate(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error);
#endif
#endif
