#include "lesson.h"

#include <math.h>
#include <string.h>

const struct suggestion lesson_next[] = {
	{"by hand,", "--trace --values 1,2,3,6,2,1 --block 3"},
	{NULL, "--trace --load ../tests/data/real_qkv --row 9 --block 64"},
	{"fetch once, use many times, cd ../03_tiled_matmul && make", NULL},
};

static bool is_three_pass(const struct kernel_result *kernel)
{
	return strcmp(kernel->kernel->name, "softmax_three_pass") == 0;
}

static double scores(const struct kernel_result *kernel)
{
	return (double)kernel->problem->rows * (double)kernel->problem->cols;
}

/* How often all threads together read an element of x. */
static double reads_of_x(const struct kernel_result *kernel)
{
	const struct launch_counts *total = &kernel->counts.total;
	double bytes = 0.0;
	for (size_t t = 0; t < total->tensor_count; t++)
		if (strcmp(total->tensors[t].name, "x") == 0)
			bytes += (double)total->tensors[t].requested.read_bytes;
	return bytes / sizeof(float) / scores(kernel);
}

static double exponentials_of_x(const struct kernel_result *kernel)
{
	return (double)kernel->counts.exponentials / scores(kernel);
}

/* By the source of the kernels: three passes compute a weight for the sum and again for the quotient, the others once. */
static double weights_of_x(const struct kernel_result *kernel)
{
	return is_three_pass(kernel) ? 2.0 : 1.0;
}

/* A score is merged with what its thread has seen: an exponential for each of the two. */
static double merges_of_x(const struct kernel_result *kernel)
{
	return is_three_pass(kernel) ? 0.0 : 2.0;
}

/* The rest of what was counted: of pairs of lanes, warps and blocks. Not known of scores that are all -inf: no merge there. */
static double merges_of_threads(const struct kernel_result *kernel)
{
	double rest = exponentials_of_x(kernel) - weights_of_x(kernel) - merges_of_x(kernel);
	return rest < 0.0 ? (double)NAN : rest;
}

static const struct column columns[] = {
	{"reads\nof x", .unit = UNIT_RATIO, .value = reads_of_x},
	{"exp,\ncounted", .unit = UNIT_RATIO, .value = exponentials_of_x},
	{"for its\nweight", .unit = UNIT_RATIO, .value = weights_of_x},
	{"for its\nmerge", .unit = UNIT_RATIO, .value = merges_of_x},
	{"between\nthreads", .unit = UNIT_RATIO, .value = merges_of_threads},
	{"\nfootprint", .metric = METRIC_FOOTPRINT_BYTES},
};

/* With the kernels it compares, and where they were counted. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *three = result_counted(result, "softmax_three_pass"),
				   *online = result_counted(result, "softmax_online");
	if (!three || !online)
		return;
	double less =
		1.0 - metric_value(online, METRIC_REQUESTED_BYTES) / metric_value(three, METRIC_REQUESTED_BYTES);
	terminal_print(terminal, STYLE_BOLD, "\nOne pass less: %.0f %% fewer bytes requested", 100.0 * less);
	fprintf(terminal->out,
	        ", and the footprint is the same.\n"
	        "The price is exponentials: a merge takes two. Each score is merged once. After\n"
	        "each block of %zu columns the threads merge their pairs: the wider the blocks,\n"
	        "the fewer exponentials that takes per element.\n",
	        result->problem.block);
}

void lesson_add_json(struct json *json, const struct run_result *result)
{
	if (result->findings)
		stream_add_json(json, result->findings);
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	if (result->findings)
		stream_print(terminal, result->findings);
	else {
		columns_print(
			terminal, result, "Per element of x: reads, and exponentials by their purpose", true, "",
			columns, sizeof columns / sizeof columns[0]);
		print_finding(terminal, result);
	}
}
