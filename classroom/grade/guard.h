/*
 * What the host code of a submission may touch while it launches.
 *
 * simcc compiles host code of a .cu file with the same hooks before every load and store as device code; the
 * simulated device ignores them there. A graded object's hooks are renamed to guard_... (objcopy, names), so they
 * come here first. Device code passes on to the device, which checks it. Host code may
 *
 *     read   anything but device memory: a GPU's host would crash
 *     write  its own stack, below the runner's frame, and the variables of its own file
 *
 * Anything else ends the run: OUTPUTS/violation.txt says why.
 */
#ifndef GUARD_H
#define GUARD_H

#include "support/error.h"

/* Opens DIRECTORY/violation.txt, while files can still be opened. */
int guard_prepare(const char *directory, struct error *error);

/* From here on host code is watched. `frame` is the caller's: what lies above is not the submission's. */
void guard_close(void *frame);
void guard_open(void);

#endif
