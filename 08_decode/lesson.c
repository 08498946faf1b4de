#include "lesson.h"

#include "moved.h"

const struct suggestion lesson_next[] = {
	{"predict what 176 splits cost, then", "--splits 176"},
	{"predict the table words of pages of one token, then", "--page 1"},
	{"how many SMs have work, from 1 split to 176: ./decode --sweep", NULL},
};

static void print_row(
	struct table *table, const struct kernel_result *kernel, const struct problem *problem, const struct gpu *gpu)
{
	uint64_t kv = asked_of(kernel, true), words = asked_of(kernel, false);
	char texts[4][32], count[32] = "", busy[32] = "-";
	if (words)
		format_count(words / sizeof(int), count);
	if (gpu)
		format_count(smaller(blocks_with_keys(kernel, problem), (uint64_t)gpu->sms), busy);
	table_row(
		table, STYLE_PLAIN, "%s|%s|%s|%s|%s|%s|%s", kernel->kernel->name,
		format_count(blocks_of(kernel, problem), texts[0]), busy, format_bytes((double)kv, texts[1]),
		format_bytes((double)(requested(kernel) - kv - words), texts[2]), count,
		format_bytes((double)requested(kernel), texts[3]));
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	struct table table = table_new("lrrrrrr");
	size_t rows = 0;
	table_row(&table, STYLE_BOLD, "kernel|blocks|SMs with|keys,|Q, O and|table|requested");
	table_row(&table, STYLE_BOLD, "||work|values|partials|words|");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		if (!kernel->verified || !kernel->counts.counted)
			continue;
		print_row(&table, kernel, &result->problem, result->device->gpu);
		rows++;
	}
	if (!rows)
		return;
	size_t others = result->problem.seq - 1;
	terminal_print(terminal, STYLE_BOLD, "\nOne token after %zu other%s", others, others == 1 ? "" : "s");
	fprintf(terminal->out, ": bytes asked of global memory\n\n");
	table_print(&table, terminal);
	const struct kernel_result *split = result_counted(result, "decode_split");
	if (split && split->verified)
		print_finding(terminal, result, split);
	const struct kernel_result *paged = result_counted(result, "decode_paged");
	if (paged && paged->verified)
		print_pages(terminal, &result->problem);
}
