/* What has to hold of a file that `make bench` wrote. */
#ifndef DATA_CHECK_H
#define DATA_CHECK_H

#include "data_file.h"

/*
 * NULL when all is well, else what is not: where it comes from, its columns, every row's arithmetic, the counts
 * against closed forms that are written out again here. `name` is the file's without .tsv, `device` its directory's.
 * The text is overwritten by the next call.
 */
const char *data_check(const struct data_file *file, const char *device, const char *name);

/* Of a whole bench on the simulated device: every point is there, and once. */
const char *data_check_points(const struct data_file *file, const char *name);

/* "05_fa2" of "plots/data/sim/05_fa2.tsv" */
const char *data_name(const char *path);

#endif
