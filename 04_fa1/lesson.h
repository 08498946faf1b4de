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

/* Prints what the choice of Bc does to Algorithm 1, from the formula; K and V alone have to fit. */
void lesson_block_sizes(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
