#include "lesson.h"

#include <string.h>

static void print_comparison(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	struct tile row = fa2_row_tile(problem), split_q = fa2_split_q_tile((int)problem->dim);
	int keys = fa2_row_keys_at_once((int)problem->dim);
	struct attention_side sides[TABLE_MAX_COLUMNS - 1] = {side_of_fa1(problem, gpu, row.Br, row.Bc)};
	size_t count = 1;
	for (size_t i = 0; i < result->kernel_count && count < TABLE_MAX_COLUMNS - 1; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const char *name = kernel->kernel->name;
		if (!kernel->verified)
			continue;
		if (strcmp(name, "fa2_row") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, row.Br, row.Bc, keys);
		else if (strcmp(name, "fa2_split_q") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, split_q.Br, split_q.Bc, split_q.Bc);
	}
	if (count == 1)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nFA1 beside FA2");
	fprintf(terminal->out,
	        ", all heads, on an %s with %d SMs.\n"
	        "The column of fa1_paper (chapter 04) comes from closed forms, at the tile of\n"
	        "fa2_row. Published tiles: FA1 Bc = 256 at d = 64, FA2 Br = 128.\n\n",
	        gpu->title, gpu->sms);
	attention_sides_print(terminal, problem, sides, count);
}

static const struct column shared[] = {
	{"block, bytes", .metric = METRIC_SHARED_BYTES},  {"loads", .metric = METRIC_SHARED_LOADS},
	{"FMA a load", .metric = METRIC_FMA_PER_LOAD},    {"wavefronts an FMA", .metric = METRIC_WAVEFRONTS_PER_FMA},
	{"conflicts", .metric = METRIC_SHARED_CONFLICTS},
};

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->gpu)
		return;
	print_comparison(terminal, result);
	if (result->options->verbose)
		columns_print(
			terminal, result, "Shared memory, as the source says it\n", true, "kernel", shared,
			sizeof shared / sizeof shared[0]);
}
