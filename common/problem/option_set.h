/*
 * The options there are, sets of them, and what a command line set them to.
 */
#ifndef PROBLEM_OPTION_SET_H
#define PROBLEM_OPTION_SET_H

#include "problem/problem.h"

/* Up to OPTION_LOAD: what the run works on. After it: how it is run, and what is told of it. */
enum option_name {
	OPTION_BATCH,
	OPTION_HEADS,
	OPTION_SEQ,
	OPTION_DIM,
	OPTION_CAUSAL,
	OPTION_SCALE,
	OPTION_TILE_Q,
	OPTION_TILE_K,
	OPTION_ROWS,
	OPTION_COLS,
	OPTION_BLOCK,
	OPTION_VALUES,
	OPTION_ROW,
	OPTION_TRACE,
	OPTION_M,
	OPTION_N,
	OPTION_K,
	OPTION_KV_HEADS,
	OPTION_KEYS,
	OPTION_SPLITS,
	OPTION_PAGE,
	OPTION_WINDOW,
	OPTION_SOFTCAP,
	OPTION_ALIBI,
	OPTION_SINK,
	OPTION_DROPOUT,
	OPTION_LENGTHS,
	OPTION_SEED,
	OPTION_INPUT,
	OPTION_LOAD,
	OPTION_KERNEL,
	OPTION_SAVE,
	OPTION_SWEEP,
	OPTION_TIME,
	OPTION_REPEAT,
	OPTION_WARMUP,
	OPTION_GPU,
	OPTION_JSON,
	OPTION_TSV,
	OPTION_EXPLAIN,
	OPTION_DETAILS,
	OPTION_VERBOSE,
	OPTION_QUIET,
	OPTION_YES,
	OPTION_COLOR,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_PROMPT,
	OPTION_TOKENS,
	OPTION_MODEL,
	OPTION_TEMPERATURE,
	OPTION_TOP_P,
	OPTION_COUNT_ALL,
	OPTIONS
};

/* A set of options, as struct chapter and `given` hold it. */
#define OPTION_BIT(option) (UINT64_C(1) << (option))

/* batch, heads, seq, dim, causal and scale: what every attention chapter takes. */
#define OPTIONS_ATTENTION ((UINT64_C(1) << (OPTION_SCALE + 1)) - 1)

/* What models do to scores, packed sequences among it (problem/modifiers.h). Reports tell only of what is given. */
#define OPTIONS_MODIFIERS                                                                                            \
	(OPTION_BIT(OPTION_WINDOW) | OPTION_BIT(OPTION_SOFTCAP) | OPTION_BIT(OPTION_ALIBI) |                         \
	 OPTION_BIT(OPTION_SINK) | OPTION_BIT(OPTION_DROPOUT) | OPTION_BIT(OPTION_LENGTHS))

/* What a language model takes that answers: --prompt, and what needs it. */
#define OPTIONS_PROMPT ((UINT64_C(1) << (OPTION_COUNT_ALL + 1)) - (UINT64_C(1) << OPTION_PROMPT))

/* Shapes and inputs of kernels on their own, and reports of them: nothing for a language model. */
#define OPTIONS_NOT_WITH_PROMPT                                                                                      \
	(OPTION_BIT(OPTION_HEADS) | OPTION_BIT(OPTION_KV_HEADS) | OPTION_BIT(OPTION_SEQ) | OPTION_BIT(OPTION_DIM) |  \
	 OPTION_BIT(OPTION_SCALE) | OPTION_BIT(OPTION_INPUT) | OPTION_BIT(OPTION_LOAD) | OPTION_BIT(OPTION_SAVE) |   \
	 OPTION_BIT(OPTION_SWEEP) | OPTION_BIT(OPTION_TSV))

/* seed ... version: what every chapter takes. */
#define OPTIONS_COMMON ((UINT64_C(1) << (OPTION_VERSION + 1)) - (UINT64_C(1) << OPTION_SEED))

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
	struct problem problem;
	uint64_t given;     /* OPTION_BIT of each option on the command line */
	const char *kernel; /* NULL: all */
	const char *save, *json, *tsv, *explain, *details, *gpu, *values; /* NULL: not given; point into argv */
	size_t repeat; /* 0: until the standard error is small enough */
	size_t warmup;
	const char *prompt, *model; /* NULL: not given */
	size_t tokens;
	float temperature, top_p;
	bool sweep, time, verbose, quiet, yes, trace, count_all, help, version;
	enum color_choice color;
};

#endif
