/* The tables of chapter 05: the ladder of its kernels, and FA1 beside FA2; its closed forms. */
#ifndef LESSON_H
#define LESSON_H

#include "fa2.h"

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* In compare.c: FA1 beside FA2, in short without --verbose. */
void lesson_compare(const struct terminal *terminal, const struct run_result *result);

/* In forms.c: --tile-q and --tile-k, or what fits. */
struct tile fa2_row_tile(const struct problem *problem);

/* In forms.c, as struct kernel's `forms`. fa2_exp2 has those of fa2_slab. */
struct closed_forms fa2_row_forms(const struct problem *problem);
struct closed_forms fa2_tile_forms(const struct problem *problem);
struct closed_forms fa2_slab_forms(const struct problem *problem);
struct closed_forms fa2_split_q_forms(const struct problem *problem);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
