/* What suites in C need of the machine around them. What runs more than a command is of Python (case.py). */
#ifndef SUPPORT_PROGRAM_H
#define SUPPORT_PROGRAM_H

#include <stdbool.h>

/* Runs a command of the shell; its exit status, and in *said what it wrote to its standard output. */
int run_command(const char *command, char **said);

/* Is this `make test-all` (LONG=1)? `make test` takes a part of the longest lists, which says the same on most days. */
bool thorough(void);

#endif
