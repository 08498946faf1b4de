/* The tables of chapter 04: traffic in units of N d, and what the choice of Bc does to Algorithm 1. */
#ifndef LESSON_H
#define LESSON_H

#include "fa1.h"

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* In chapter.c: the tiles of fa1_paper, and of the row kernels. */
struct tile paper_tile(const struct problem *problem);
struct tile row_tile(const struct problem *problem);

#endif
