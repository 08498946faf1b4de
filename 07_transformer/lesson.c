#include "lesson.h"

const struct suggestion lesson_next[] = {
	{"let it speak: ./transformer --prompt \"How do plants make food?\"", NULL},
};

static uint64_t asked_for(const struct kernel_result *kernel)
{
	return kernel->counts.total.requested.read_bytes + kernel->counts.total.requested.write_bytes;
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *permuted = result_counted(result, "permuted"),
				   *strided = result_counted(result, "strided");
	const struct problem *p = &result->problem;
	if (!permuted || !strided || !permuted->verified || !strided->verified)
		return;
	struct table table = table_new("lrrrr");
	char texts[4][32];
	terminal_print(terminal, STYLE_BOLD, "\nHeads: the same attention kernel, with copies and without\n\n");
	table_row(&table, STYLE_BOLD, "heads|launches|requested|footprint|on the device");
	const struct kernel_result *kernels[] = {permuted, strided};
	for (size_t i = 0; i < 2; i++)
		table_row(
			&table, STYLE_PLAIN, "%s|%zu|%s|%s|%s", kernels[i]->kernel->name, kernels[i]->counts.launch_count,
			format_bytes((double)asked_for(kernels[i]), texts[0]),
			format_bytes(
				(double)(kernels[i]->counts.total.footprint.read_bytes +
		                         kernels[i]->counts.total.footprint.write_bytes),
				texts[1]),
			format_bytes((double)kernels[i]->peak_bytes, texts[2]));
	table_print(&table, terminal);
	fprintf(terminal->out, "\nThe copies are 4(NC + MGd) = %s elements.",
	        format_count((asked_for(permuted) - asked_for(strided)) / sizeof(float), texts[0]));
	if (p->kv_heads < p->heads)
		fprintf(terminal->out,
		        " %zu heads share %zu of keys and\nvalues: a cache of %zu heads would be %.3g times as "
		        "large.",
		        p->heads, p->kv_heads, p->heads, (double)p->heads / (double)p->kv_heads);
	fprintf(terminal->out, "\n");
}
