/*
 * CPU times without the instrumentation: runs NAME.fast, the plain build of the same sources that lies beside the
 * program, as a child on the same problem, and reads its TSV.
 */
#ifndef MEASURE_PLAIN_BUILD_H
#define MEASURE_PLAIN_BUILD_H

#include "measure/time_summary.h"

enum plain_build_status {
	PLAIN_BUILD_TIMED,
	PLAIN_BUILD_MISSING, /* no NAME.fast: there is no time, and that is no error */
	PLAIN_BUILD_FAILED   /* it ran and did not verify, or could not run */
};

/* `arguments` ends with NULL and leaves out the program's name; the function adds --tsv - and --quiet. */
enum plain_build_status plain_build_time(const char *const *arguments, struct time_summary *time);

/* Reads median_ms, p10_ms, p90_ms and runs from a TSV's header and first row; false if they are not there. */
bool plain_build_parse(char *tsv, struct time_summary *time);

#endif
