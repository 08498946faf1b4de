/* What a kernel moved, for people. */
#ifndef REPORT_TRAFFIC_H
#define REPORT_TRAFFIC_H

#include "report/table.h"
#include "result.h"

/* A row a launch and, with `tensors`, one a tensor it touched. Of `prepared` only the launches: they are in no sum. */
void traffic_print(
	const struct terminal *terminal, const struct counts *prepared, const struct counts *counts, bool tensors);

/* The closed forms, each with what was counted below it. */
void models_print(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *kernel);

#endif
