/* The table of chapter 06: what the three pay in memory, arithmetic, and shared memory. */
#ifndef LESSON_H
#define LESSON_H

#include "backward.h"

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
