/*
 * One line on standard error that says what is running. Only on a terminal, at most ten times a second.
 */
#ifndef SUPPORT_PROGRESS_H
#define SUPPORT_PROGRESS_H

#include <stdbool.h>

struct progress {
	bool shown; /* standard error is a terminal and nobody asked for quiet */
	bool dirty; /* a line is on the screen */
	double last_s;
};

struct progress progress_new(bool wanted);

/* Replaces the line. `urgent` skips the limit of ten a second: the start of something that takes long. */
void progress_show(struct progress *progress, bool urgent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Wipes the line, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
