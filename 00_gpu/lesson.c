#include "lesson.h"

#include "look.h"

#include <math.h>
#include <string.h>

const struct suggestion lesson_next[] = {
	{"where the threads are,", "--kernel who_am_i"},
	{"predict the sectors of narrow rows,", "--cols 2 --kernel copy_strided"},
	{"what a missing barrier does, make no-barrier; then attention.md, cd ../01_naive && make", NULL},
};

/* Block-wide barriers that each block passes. */
static double barriers_per_block(const struct kernel_result *kernel)
{
	return (double)kernel->counts.barriers / (double)kernel->counts.total.blocks;
}

static double shared_requests(const struct kernel_result *kernel)
{
	const struct shared_traffic *shared = &kernel->counts.total.shared;
	uint64_t requests = shared->load_requests + shared->store_requests;
	return requests ? (double)requests : (double)NAN;
}

static const struct column counted_columns[] = {
	{"\nglobal\nrequests", .metric = METRIC_HBM_REQUESTS},
	{"\nsectors/\nrequest", .metric = METRIC_SECTORS_PER_REQUEST},
	{"\nshared\nrequests", .unit = UNIT_COUNT, .value = shared_requests},
	{"wave-\nfronts/\nstore", .metric = METRIC_WAVEFRONTS_PER_STORE},
	{"wave-\nfronts/\nload", .metric = METRIC_WAVEFRONTS_PER_LOAD},
	{"\nbarriers/\nblock", .unit = UNIT_COUNT, .value = barriers_per_block},
	{"\n\ntime", .metric = METRIC_MEDIAN_MS},
};

static const struct column timed_columns[] = {
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time", .metric = METRIC_MEDIAN_MS},
};

static const struct kernel_result *counted(const struct run_result *result, const char *name)
{
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		if (strcmp(kernel->kernel->name, name) == 0 && !kernel->skipped[0] && kernel->counts.counted)
			return kernel;
	}
	return NULL;
}

/* What was counted, of the kernels that were run. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *copy = counted(result, "copy"), *strided = counted(result, "copy_strided"),
				   *transpose = counted(result, "transpose");
	if (copy && strided &&
	    metric_value(strided, METRIC_SECTORS_PER_REQUEST) > metric_value(copy, METRIC_SECTORS_PER_REQUEST))
		terminal_print(
			terminal, STYLE_BOLD,
			"\nA copy down the columns requests the same bytes; %.3g times as many are delivered.\n",
			metric_value(strided, METRIC_SECTORS_PER_REQUEST) /
				metric_value(copy, METRIC_SECTORS_PER_REQUEST));
	if (transpose && metric_value(transpose, METRIC_WAVEFRONTS_PER_LOAD) > 1.0)
		fprintf(terminal->out, "Without padding, a load of a column of the tile takes %.3g wavefronts.\n",
		        metric_value(transpose, METRIC_WAVEFRONTS_PER_LOAD));
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	look_print(terminal, result);
	if (!result->device->simulated) {
		columns_print(
			terminal, result, "How long each kernel takes", false, "", timed_columns,
			sizeof timed_columns / sizeof timed_columns[0]);
		return;
	}
	columns_print(
		terminal, result, "What each kernel requests", true, "", counted_columns,
		sizeof counted_columns / sizeof counted_columns[0]);
	print_finding(terminal, result);
}
