/* Other runs of a chapter's program, or of its plain build, that a run starts. */
#ifndef MEASURE_CHILD_H
#define MEASURE_CHILD_H

#include <limits.h>
#include <stdbool.h>

/* The path of this program with `suffix` behind it ("", ".fast"). False where that may not be executed. */
bool child_program(const char *suffix, char path[PATH_MAX]);

/* Our environment without what would make a child write over this run's reports (SIM_REPORT, SIM_TRACE). A list to be freed
 * as one piece, NULL without memory. */
char **child_environment(void);

/*
 * Runs a program with these arguments, arguments[0] included, and nothing on its standard streams. Returns its seconds of
 * CPU time, of all its threads; of one that is still running after `most_s` seconds, which is ended then, those until then.
 * 0 for one that could not be run.
 */
double child_cpu_seconds(const char *path, char *const *arguments, double most_s);

#endif
