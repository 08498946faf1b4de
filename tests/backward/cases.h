/*
 * The cases of chapter 06 that no natural mistake survives: test_kernels.c runs the kernels on each, test_mistakes.c
 * what is planted in mistakes.edits. A case stands here for what only it finds.
 */
#ifndef BACKWARD_CASES_H
#define BACKWARD_CASES_H

#include <stddef.h>

/* Options; the one kernel that they cannot judge. */
struct mistake_case {
	const char *options, *not_for;
};

static const struct mistake_case backward_cases[] = {
	/* Nothing divides anything; B and H differ. The scale is not 1/sqrt(d). */
	{"--batch 2 --heads 3 --seq 50 --dim 37 --tile-k 32 --scale 0.4", NULL},
	{"--batch 3 --heads 2 --seq 45 --dim 20 --tile-k 32 --causal", NULL},
	/* A tile that begins with the last key, which is the last query too. */
	{"--seq 65 --dim 40 --tile-k 32 --causal", NULL},
	/* Every score far below -1e4: what is masked with a number like that takes all the weight. */
	{"--seq 70 --dim 16 --tile-k 32 --causal --input very-negative --scale 8", NULL},
	/* What minus infinity is for: below any number that a mask could be. Only the LSE is judged here. */
	{"--seq 45 --dim 8 --tile-k 32 --causal --input constant --scale -3e8", NULL},
};

enum { BACKWARD_CASES = sizeof backward_cases / sizeof backward_cases[0] };

#endif
