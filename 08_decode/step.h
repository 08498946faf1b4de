/*
 * Chapter 08: the kernels on the harness's inputs: their tensors, how they are launched, and their closed forms. N are the
 * tokens that are kept, the letters are those of README.md.
 */
#ifndef STEP_H
#define STEP_H

#include "decode.h"
#include "harness.h"

/* Q and O of one token, K and V of all; a row of K is a token. */
extern const struct tensor whole_tensors[], split_tensors[], paged_tensors[];

/* What launchers are given; and the second launch, if the first one went well. */
struct decode decode_of(const struct problem *problem, const struct device_memory *memory);
struct partials partials_of(const struct problem *problem, const struct device_memory *memory);
cudaError_t merge(cudaError_t status, struct decode decode, struct partials partials);

cudaError_t run_naive(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_grouped(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_split(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_paged(const struct problem *problem, const struct device_memory *memory);

/* The numbers from 0 to count - 1 in an order drawn with the seed. */
void shuffle_pages(uint64_t seed, int *pages, size_t count);

/* Pages in an order drawn with the seed, and K and V in them. */
cudaError_t fill_pages(const struct problem *problem, const struct device_memory *memory);

/* Are there at most as many heads on one as a block has warps? Else a reason. */
bool group_fits(const struct problem *problem, char *reason, size_t size);

/* The entries that are read of a table of pages, of one head of keys: a page that two splits share is counted twice. */
uint64_t pages_touched(uint64_t n, uint64_t splits, uint64_t page);

/* All heads and all launches together. */
struct closed_forms naive_forms(const struct problem *problem);
struct closed_forms grouped_forms(const struct problem *problem);
struct closed_forms split_forms(const struct problem *problem);
struct closed_forms paged_forms(const struct problem *problem);

#endif
