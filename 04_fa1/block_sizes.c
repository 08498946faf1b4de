#include "lesson.h"

void lesson_block_sizes(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	if (!gpu)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nAlgorithm 1 against the tile of keys");
	fprintf(terminal->out, ", N=%zu d=%zu, from formulas;\n\"fits\" is meant for a block of the %s.\n\n",
	        problem->seq, problem->dim, gpu->title);
	struct table table = table_new("rrrrrrl");
	table_row(&table, STYLE_DIM, "Bc|Tc|units|read|l, m per|shared, K and V|");
	table_row(&table, STYLE_DIM, "||3Tc+1|literally|head|tiles alone|");
	for (uint64_t keys = 64; keys <= 512; keys *= 2) {
		uint64_t Tc = ceil_div(problem->seq, keys), bytes = 8 * keys * problem->dim;
		uint64_t all = fa1_units(problem, (int)keys);
		char kept[32], shared[32];
		table_row(
			&table, STYLE_PLAIN, "%llu|%llu|%llu|%llu|%s|%s|%s", (unsigned long long)keys,
			(unsigned long long)Tc, (unsigned long long)all, (unsigned long long)(all + 2),
			format_count(fa1_statistics(problem, (int)keys), kept), format_count(bytes, shared),
			bytes <= gpu->shared_per_block ? "fits" : "does not fit");
	}
	table_print(&table, terminal);
}
