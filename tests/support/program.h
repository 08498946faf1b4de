/* Running another program as a test does: with its output captured, and never waiting for it for ever. */
#ifndef SUPPORT_PROGRAM_H
#define SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct outcome {
	int status; /* exit status; 128 + signal for one that was killed */
	char *out, *err;
	double seconds;
};

/* Lists for run_program: LIST("ls", "-l"). */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOTHING   ((const char *const[]){NULL})

/*
 * Runs argv[0] (a path, or a name looked up in PATH). `environment` holds "NAME=value" to add; SIM_* variables of
 * our own environment are taken away first. After timeout_s the whole process group is killed and the test fails:
 * nothing may hang. A background process the program leaves behind is killed too.
 */
struct outcome run_program(const char *const argv[], const char *const environment[], double timeout_s);
void free_outcome(struct outcome *outcome);

/* As run_program; the arguments are the words of `line`, separated by spaces, at most 46. */
struct outcome run_line(const char *program, const char *line, const char *const environment[], double timeout_s);

/* As run_program, but in another directory. */
struct outcome run_program_in(
	const char *directory, const char *const argv[], const char *const environment[], double timeout_s);

/* A new empty directory; it is removed with all it holds when the test's process ends normally. */
const char *scratch_directory(void);

/* printf into memory that lives as long as the test. */
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void write_text(const char *path, const char *content);
/* NULL if there is no such file. */
char *read_text(const char *path);

/* Ends the running test as skipped, with a line the runner repeats in its table. */
void skip_test(const char *reason);

/* Is this `make test-all` (LONG=1)? `make test` takes a part of the longest lists, which says the same on most days.
 */
bool thorough(void);

/* The word for the environment of a run whose shape is one of many: all checks of the device, but in make test no
 * racecheck, which takes up to half of a run. Races are looked for at the shapes that run without this word. */
const char *without_racecheck(void);

#endif
