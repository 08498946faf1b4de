/*
 * A case small enough to follow by hand, in which a kernel that came out wrong is wrong, too: found by running it.
 */
#ifndef EXPLAIN_SMALL_CASE_H
#define EXPLAIN_SMALL_CASE_H

#include "result.h"

/*
 * Tries the chapter's own small case, then, where the kernel works in tiles, one key more than a tile and than two; then the
 * same lengths with the run's own head dimension and inputs. `line` becomes the options of the first that is wrong. False
 * where none is wrong, or where the kernel cannot be run again: what the device found in it is told already, and fewer
 * threads may not show it.
 */
bool small_case_find(const struct run_result *result, const struct kernel_result *failed, char *line, size_t size);

#endif
