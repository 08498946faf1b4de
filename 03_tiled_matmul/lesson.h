/* The tables of chapter 03: what each step changes. */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
