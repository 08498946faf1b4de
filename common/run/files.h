/*
 * The files that a run reads and writes, looked at before it: what is written can be written, and nothing that is written is
 * another file of the run, whatever links and names lead there.
 */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "chapter.h"

#include <limits.h>

/* EXIT_USAGE where one file would be two; EXIT_ENVIRONMENT where one cannot be written. Nothing is left behind. */
int files_check(
	const struct kernel *kernels, size_t kernel_count, const struct options *options, struct error *error);

/* Is standard output one of them? */
bool files_have_standard_output(const struct options *options);

/* DIRECTORY/run.json of --details. A path that is too long becomes one that no file has. */
void files_run_json(const char *directory, char path[static PATH_MAX]);

#endif
