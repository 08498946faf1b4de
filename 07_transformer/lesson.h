/*
 * Chapter 07: what a run of its kernels shows.
 */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* The bytes of heads by copying beside those of heads by strides. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
