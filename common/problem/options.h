/*
 * The command line of every chapter: one table of options (option_rules.c), of which a chapter takes the ones that apply.
 *
 * Long options only, never abbreviated. Numbers are parsed strictly. What cannot be used is EXIT_USAGE with one line
 * that names the option and what was expected.
 */
#ifndef PROBLEM_OPTIONS_H
#define PROBLEM_OPTIONS_H

#include "problem/option_set.h"
#include "support/error.h"

#include <stdio.h>

/*
 * Parses argv on top of `defaults`. `applicable` is the chapter's set; others are refused as not applying here.
 * The strings in *options point into argv. --help and --version are only noted: the caller acts on them.
 */
int options_parse(
	int argc, char **argv, uint64_t applicable, const struct problem *defaults, struct options *options,
	struct error *error);

/* The same of a line of options with blanks between, which is cut into words where it stands: *options points into it. */
int options_parse_line(
	char *line, uint64_t applicable, const struct problem *defaults, struct options *options,
	struct error *error);

/* Has each option of this set (of OPTION_BIT) the same value in both? */
bool options_agree(const struct options *a, const struct options *b, uint64_t set);

/* EXIT_USAGE, "--seq: " and `why`, if an option of this set was given. */
int options_refuse(const struct options *options, uint64_t set, const char *why, struct error *error);

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
