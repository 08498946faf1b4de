/*
 * Tables of a lesson: a row a kernel, a column a number: a metric, or the chapter's own.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "report/metrics.h"
#include "report/table.h"
#include "result.h"

struct column {
	const char *head;        /* lines of the heading, '\n' between them */
	enum metric_name metric; /* or the chapter's own: */
	enum unit unit;
	value_function *value;
};

/*
 * Prints `title`, in bold, and the table of all kernels that were run; with `counted` only those that were counted.
 * The first column, `names`, has the kernels' names; if it ends with '_', without that prefix. At most
 * TABLE_MAX_COLUMNS - 1 columns follow. A row or a column without any number is left out; without any kernel nothing is printed.
 */
void columns_print(
	const struct terminal *terminal, const struct run_result *result, const char *title, bool counted,
	const char *names, const struct column *columns, size_t count);

#endif
