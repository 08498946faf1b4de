/*
 * Chapter 08: what a run of its kernels shows.
 */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* What each kernel asks for, and how many SMs have work. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
