/* Running chapter 08's program: what a kernel moves, and what it writes. */
#ifndef DECODE_RUN_H
#define DECODE_RUN_H

#include "chapter_run.h"

#include "problem/npy.h"

#define DECODE TEST_BUILD "/chapters/decode"

/* O of a kernel, with further options; `environment` as run_chapter has it. The caller frees its values. */
struct npy output_of(const char *kernel, const char *options, const char *environment);

/* Frees b's values. */
void expect_same_bits(struct npy a, struct npy b, const char *what);

/* A tensor for --load. */
void save(const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank);

/*
 * O of `kernel`, the query of the last of 97 tokens, is the last row of what `kernel_05` computes of all of them; G is 1 or 3,
 * `options` are both programs'.
 */
void expect_last_row(const char *kernel_05, const char *kernel, size_t kv_heads, const char *options);

#endif
