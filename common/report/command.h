/* A command line as a shell takes it. */
#ifndef REPORT_COMMAND_H
#define REPORT_COMMAND_H

#include <stdio.h>

/*
 * Prints "./PROGRAM ARGUMENT ..." on one line; `arguments` ends with NULL. What means something to a shell is in quotes; an
 * argument with control characters, or with bytes that are no UTF-8, is written $'a\012b', as POSIX.1-2024 has it.
 */
void command_print(FILE *out, const char *program, const char *const *arguments);

#endif
