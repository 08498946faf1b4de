/*
 * The command line of every chapter: one table of options (options.c), of which a chapter takes the ones that apply.
 *
 * Long options only, never abbreviated. Numbers are parsed strictly. What cannot be used is EXIT_USAGE with one line
 * that names the option and what was expected.
 */
#ifndef PROBLEM_OPTIONS_H
#define PROBLEM_OPTIONS_H

#include "problem/problem.h"
#include "support/error.h"

#include <stdio.h>

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
	OPTION_SEED,
	OPTION_INPUT,
	OPTION_LOAD,
	OPTION_KERNEL,
	OPTION_SAVE,
	OPTION_SWEEP,
	OPTION_REPEAT,
	OPTION_WARMUP,
	OPTION_GPU,
	OPTION_JSON,
	OPTION_TSV,
	OPTION_EXPLAIN,
	OPTION_QUIET,
	OPTION_COLOR,
	OPTION_HELP,
	OPTION_VERSION,
	OPTIONS
};

/* A set of options, as struct chapter and `given` hold it. */
#define OPTION_BIT(option) (UINT64_C(1) << (option))

/* batch, heads, seq, dim, causal and scale: what every attention chapter takes. */
#define OPTIONS_ATTENTION ((UINT64_C(1) << (OPTION_SCALE + 1)) - 1)

/* seed ... version: what every chapter takes. */
#define OPTIONS_COMMON ((UINT64_C(1) << OPTIONS) - (UINT64_C(1) << OPTION_SEED))

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
	struct problem problem;
	uint64_t given;                                         /* OPTION_BIT of each option on the command line */
	const char *kernel;                                     /* NULL: all */
	const char *save, *json, *tsv, *explain, *gpu, *values; /* NULL: not given; point into argv */
	size_t repeat;                                          /* 0: until the standard error is small enough */
	size_t warmup;
	bool sweep, quiet, trace, help, version;
	enum color_choice color;
};

/*
 * Parses argv on top of `defaults`. `applicable` is the chapter's set; others are refused as not applying here.
 * The strings in *options point into argv. --help and --version are only noted: the caller acts on them.
 */
int options_parse(
	int argc, char **argv, uint64_t applicable, const struct problem *defaults, struct options *options,
	struct error *error);

/* Refuses a dimension outside what its option takes; `source` names where it came from ("q.npy"). */
int options_check_dimension(const char *source, const char *option, size_t value, struct error *error);

/* Prints the options that apply, a line each, with their defaults. */
void options_print_help(FILE *out, uint64_t applicable, const struct problem *defaults);

/*
 * Writes what makes `problem`, which these options led to, as arguments ("--seq", "512", "--causal", ...): another
 * program of the chapter that gets them works on the same problem. All that was given up to --load is among them, so
 * that it takes every combination that this program took. Returns the count; the strings live in `storage` and in
 * *options.
 */
enum { PROBLEM_OPTIONS = OPTION_LOAD + 1, PROBLEM_ARGUMENTS = 2 * PROBLEM_OPTIONS };
size_t options_of_problem(
	const struct options *options, const struct problem *problem, uint64_t applicable,
	char storage[PROBLEM_ARGUMENTS][32], const char *arguments[PROBLEM_ARGUMENTS]);

#endif
