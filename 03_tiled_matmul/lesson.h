/* The tables of chapter 03: what each step changes; its closed forms. */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* As struct chapter's `explain`. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* In forms.c, as struct kernel's `forms`: without tiles, with tiles of 32 and of 128. */
struct closed_forms matmul_element_forms(const struct problem *problem);
struct closed_forms matmul_tiled_forms(const struct problem *problem);
struct closed_forms matmul_registers_forms(const struct problem *problem);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
