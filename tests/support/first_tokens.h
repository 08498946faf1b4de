/* A shorter problem out of tests/data/real_qkv, [1, 2, 512, 64]. */
#ifndef SUPPORT_FIRST_TOKENS_H
#define SUPPORT_FIRST_TOKENS_H

#include <stddef.h>

/* Writes q.npy, k.npy and v.npy of its first `tokens`, [1, 2, tokens, 64], into a new directory of the test's scratch
 * directory; returns its path. */
const char *first_tokens(size_t tokens);

#endif
