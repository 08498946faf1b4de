/*
 * Planted faults of a chapter (`planted` in chapter.mk): each is run on an input that shows it. Exit 0 for any of them is a
 * checker that does not check.
 */
#ifndef SUPPORT_FAULTS_H
#define SUPPORT_FAULTS_H

#include <stddef.h>

struct fault_case {
	const char *fault, *kernel, *input; /* input: options */
};

/*
 * Each case: without the fault `program` ends with 0; `faults`/FAULT/program ends with 1 and says "is wrong", and the file
 * `output` of its --save differs.
 */
void expect_faults_found(
	const char *program, const char *faults, const char *output, const struct fault_case *cases, size_t count);

/* The directory `faults` holds `planted` faults, and each has a case: one nobody runs proves nothing. */
void expect_faults_used(const char *faults, const struct fault_case *cases, size_t count, size_t planted);

/* A planted fault with the options that show it, and what the run says then: a line of `tools/plant --table options says`. */
struct told_fault {
	char name[80], options[140], says[48];
};
enum { MOST_TOLD_FAULTS = 90 };

/* Those of the file `table`, at most MOST_TOLD_FAULTS; how many. */
size_t read_told_faults(const char *table, struct told_fault *faults);

/* `faults`/NAME/program ends with 1, with threads in reverse order, and says what it has to. */
void expect_told_fault_found(const char *faults, const struct told_fault *fault);

/* With the same options `program` ends with 0 and says nothing: more than `least` faults of `table`. */
void expect_told_faults_are_faults(const char *program, const char *table, size_t least);

/* A case that kernels are run on; `not_for` is the one kernel that it cannot judge, NULL: none. */
struct mistake_case {
	const char *options, *not_for;
};

/*
 * Natural mistakes, each with its program in a directory of `directory`, named KERNEL__WHAT; there are `planted` of them. Each has to
 * fail on one of the cases: exit 1. Those that survive are named, and for the others what found them is logged.
 */
void expect_mistakes_found(const char *directory, const struct mistake_case *cases, size_t count, size_t planted);

#endif
