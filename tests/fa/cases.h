/*
 * The cases of chapters 04 and 05 that no natural mistake survives: test_results.c runs the kernels on each,
 * test_mistakes.c what is planted in mistakes_fa1.edits and mistakes_fa2.edits.
 * A case stands here for what only it finds.
 */
#ifndef FA_CASES_H
#define FA_CASES_H

#include "faults.h"

static const struct mistake_case fa_cases[] = {
	/* Nothing divides anything: B, H, N, d, Br and Bc; B and H differ. The scale is not 1/sqrt(d). */
	{"--batch 2 --heads 3 --seq 61 --dim 37 --tile-q 24 --tile-k 20 --scale 0.4", NULL},
	/* A key tile is longer than a query tile, and the last one is ragged. */
	{"--batch 3 --heads 2 --seq 113 --dim 20 --tile-q 16 --tile-k 90 --causal", NULL},
	/* A key tile begins with the last key of a query tile; and with the last key of all. One ends just
         * after the first row. */
	{"--seq 140 --dim 16 --heads 1 --tile-q 33 --tile-k 16 --causal", NULL},
	{"--seq 129 --dim 8 --heads 1 --tile-q 31 --tile-k 32 --causal", NULL},
	/* Every score far below -1e4: what is masked with a number like that takes all the weight. */
	{"--seq 150 --dim 16 --heads 1 --tile-q 32 --tile-k 24 --causal --input very-negative --scale 8", NULL},
	/* What minus infinity is for: below any number that a mask could be. Only an LSE is judged here. */
	{"--seq 50 --dim 8 --heads 1 --tile-q 16 --tile-k 12 --causal --input constant --scale -3e8", "fa1_paper"},
};

enum { FA_CASES = sizeof fa_cases / sizeof fa_cases[0] };

#endif
