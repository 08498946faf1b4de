/*
 * Chapter 08: what a run of its kernels shows.
 */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* What each kernel asks for, how many SMs have work, and what was found. */
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* Below the table: what splitting costs, and what it gives; and the table of pages. In finding.c. */
void print_finding(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *split);
void print_pages(const struct terminal *terminal, const struct problem *problem);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
