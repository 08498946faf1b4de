/*
 * CPU times without the instrumentation: runs NAME.fast, the plain build of the same sources that lies beside the
 * program, as a child on the same problem, and reads its TSV.
 */
#ifndef MEASURE_PLAIN_BUILD_H
#define MEASURE_PLAIN_BUILD_H

#include "measure/time_summary.h"
#include "support/error.h"

/* Whether NAME.fast is there. It is built only when someone asks for times: `make fast`. */
bool plain_build_exists(void);

/*
 * `arguments` ends with NULL and leaves out the program's name; the function adds --tsv - and --quiet. EXIT_VERIFICATION,
 * without *error and *time, when the plain build says that the kernel is wrong; EXIT_ENVIRONMENT when it is broken.
 */
int plain_build_time(const char *const *arguments, struct time_summary *time, struct error *error);

/* Reads median_ms, p10_ms, p90_ms and runs from a TSV's header and first row; false if they are not there. */
bool plain_build_parse(char *tsv, struct time_summary *time);

#endif
