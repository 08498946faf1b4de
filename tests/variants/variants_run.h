/* Running chapter 09's decode: what it moves, and what it writes. */
#ifndef VARIANTS_RUN_H
#define VARIANTS_RUN_H

#include "chapter_run.h"

#include "problem/npy.h"

#define VARIANTS TEST_BUILD "/chapters/variants"

/* Q, K, V and sink of H heads of queries, G of keys, and tokens `first` to `first` + `tokens` - 1 of TOKENS, for --load. */
enum { H = 6, G = 2, TOKENS = 150, DIM = 59 };
const char *save_tokens(size_t first, size_t tokens, const float sinks[H]);

/* O of a kernel, with further options; `environment` as run_chapter has it. The caller frees its values. */
struct npy output_of(const char *kernel, const char *options, const char *environment);

#endif
