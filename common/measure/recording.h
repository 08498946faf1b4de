/*
 * A run that writes down what its kernels do. The simulated device reads SIM_TRACE and SIM_REPORT when a program
 * starts, so a program that wants them runs itself once more, as a child with both set to files of its own.
 */
#ifndef MEASURE_RECORDING_H
#define MEASURE_RECORDING_H

#include "support/error.h"

#include <stdbool.h>
#include <stddef.h>

/* True in the child. */
bool recording_active(void);

/*
 * Runs this program again with the same arguments and the same input and output, recording hazards and, with `trace`,
 * every interval's accesses; waits, removes the files, and returns the child's exit status. One that did not exit by
 * itself, or could not be started, is EXIT_ENVIRONMENT with *error. A SIM_TRACE or SIM_REPORT of the user's stays.
 */
int recording_run(char **argv, bool trace, struct error *error);

/*
 * What was recorded so far: the whole file as text, freed by the caller. NULL where there is none, or more than
 * `most_bytes`; *bytes is its size, 0 where there is none.
 */
char *recording_trace(size_t most_bytes, size_t *bytes);
char *recording_report(size_t most_bytes, size_t *bytes);

/* True where a trace is written, be it to "-" or to a disk that is full, from where nothing can be read back. */
bool recording_traces(void);

#endif
