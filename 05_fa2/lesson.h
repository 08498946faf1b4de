/* The tables of chapter 05: FA1 beside FA2, and how often a kernel goes to shared memory. */
#ifndef LESSON_H
#define LESSON_H

#include "fa2.h"

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* In chapter.c: --tile-q and --tile-k, or what fits. */
struct tile fa2_row_tile(const struct problem *problem);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
