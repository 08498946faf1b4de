/*
 * How the harness reports what went wrong: an exit code and one line for the person at the terminal.
 *
 * Functions that can fail take a `struct error *`, return 0 when all is well and otherwise the exit code they
 * stored there. Nothing else ends the program but measure/device.c, where the device is of no use or full, and run/host_code.c,
 * where a launcher has broken it. A mistake in a chapter's own tables ends in abort().
 */
#ifndef SUPPORT_ERROR_H
#define SUPPORT_ERROR_H

/* Exit codes of every chapter. */
enum {
	EXIT_ALL_VERIFIED = 0,
	EXIT_VERIFICATION = 1, /* a kernel is wrong: its results, its counts, or a hazard */
	EXIT_USAGE = 2,        /* usage, or an input file that cannot be used */
	EXIT_ENVIRONMENT = 3   /* no device, out of memory, over a device limit, output cannot be written */
};

struct error {
	int exit_code;     /* 0: nothing went wrong */
	char message[512]; /* one line, no newline; names the option or file and what was expected */
};

/* Fills `error` and returns exit_code, so that a caller can write `return error_set(...)`. */
int error_set(struct error *error, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
