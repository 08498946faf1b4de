/*
 * One line on standard error that says what is running. Only on a terminal.
 */
#ifndef SUPPORT_PROGRESS_H
#define SUPPORT_PROGRESS_H

#include <stdbool.h>

struct progress {
	bool shown; /* standard error is a terminal and nobody asked for quiet */
	bool dirty; /* a line is on the screen */
};

struct progress progress_new(bool wanted);

/* Replaces the line. */
void progress_show(struct progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Wipes the line, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
