/* What suites in C need of the machine around them. What runs more than a command or two is of Python (case.py). */
#ifndef SUPPORT_PROGRAM_H
#define SUPPORT_PROGRAM_H

#include <stdbool.h>

/* Runs a command of the shell, for a minute at most; its exit status, and in *said all that it wrote. */
int run_command(const char *command, char **said);

/* A new empty directory; it is removed with all it holds when the test's process ends normally. */
const char *scratch_directory(void);

/* printf into memory that lives as long as the test. */
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the running test as skipped, with a line the runner repeats in its table. */
void skip_test(const char *reason);

/* Is this `make test-all` (LONG=1)? `make test` takes a part of the longest lists, which says the same on most days. */
bool thorough(void);

/* The word for the environment of a run whose shape is one of many: all checks of the device, but in make test no
 * racecheck, which takes up to half of a run. Races are looked for at the shapes that run without this word. */
const char *without_racecheck(void);

#endif
