/*
 * What the kernels of a run do, written down by the simulated device while they run: every interval's accesses and every
 * hazard. It goes to memory that has no name in any directory, so that nothing is left however the run ends; where the
 * user has set SIM_TRACE or SIM_REPORT, to the file it names, which is read back.
 */
#ifndef EXPLAIN_RECORDING_H
#define EXPLAIN_RECORDING_H

#include "support/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Records the launches and hazards of what is launched from now on and, with `trace`, its accesses. On the simulated
 * device's counting build only. EXIT_ENVIRONMENT where there is no memory for it. */
int recording_begin(bool trace, struct error *error);

/* Ends the recording and drops it; a file of the user's stays. Without one nothing is done. */
void recording_end(void);

/* From here on nothing that is launched is written anywhere, also not to a file of the user's, which keeps what it has. */
void recording_stop(void);

/*
 * What was recorded so far, as text, freed by the caller. NULL where there is none, or more than `most_bytes`; *bytes is
 * its size, 0 where there is none.
 */
char *recording_trace(size_t most_bytes, size_t *bytes);
char *recording_report(size_t most_bytes, size_t *bytes);

/* True where a trace is written, be it to "-" or to a disk that is full, from where nothing can be read back. */
bool recording_traces(void);

#endif
