/* Chapter 05: FA1 beside FA2. */
#include "lesson.h"

#include <string.h>

/*
 * What naive attention moves over what this kernel requests lies between two ends: naive at its best, its footprint, when a
 * cache forgets nothing, and at its worst, all that its threads request, without a cache.
 */
static void print_finding(
	const struct terminal *terminal, const struct problem *problem, const struct attention_side *side)
{
	double N = (double)problem->seq, d = (double)problem->dim;
	double footprint = 4 * N / d + 4, requested = 4 * N + 5 * N / d + 1;
	terminal_print(
		terminal, STYLE_BOLD, "\nNaive attention moves %.3g to %.3g times what %s requests",
		footprint / side->units, requested / side->units, side->name);
	fprintf(terminal->out, ":\nits footprint with a perfect cache, and all it requests without a cache.\n");
}

static void print_title(const struct terminal *terminal, const struct run_result *result, bool counted)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	char floor[32];
	terminal_print(terminal, STYLE_BOLD, "\nFA1 beside FA2");
	if (!result->options->verbose) {
		fprintf(terminal->out, " (fa1_paper at the tile of fa2_row; %s)\n",
		        counted ? "* counted, the rest formulas" : "formulas");
		return;
	}
	fprintf(terminal->out,
	        ", all heads, on an %s with %d SMs.\n%s numbers come from closed\n"
	        "forms, fa1_paper (chapter 04) at the tile of fa2_row. Published tiles: FA1\n"
	        "Bc = 256 at d = 64, FA2 Br = 128. A full GPU: B·H = %zu; naive's floor: %s.\n\n",
	        gpu->title, gpu->sms, counted ? "* was counted, the error measured; all other" : "All",
	        attention_heads_of_full(problem, gpu),
	        format_milliseconds(attention_naive_floor_ms(problem, gpu), floor));
}

void lesson_compare(const struct terminal *terminal, const struct run_result *result)
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
	print_title(terminal, result, sides[1].counted);
	attention_sides_print(terminal, problem, sides, count, result->options->verbose);
	print_finding(terminal, problem, &sides[count - 1]);
}
