#include "lesson.h"

const struct suggestion lesson_next[] = {
	{"predict what a causal mask saves each kernel, then", "--causal"},
	{"predict the units of tiles of 32, then", "--tile-q 32 --tile-k 32"},
	{"attention inside a model that speaks, cd ../07_transformer && make", NULL},
};

static double flop_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.flop / (attention_pairs(kernel->problem) * (double)kernel->problem->dim);
}

static double exponentials_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.exponentials / attention_pairs(kernel->problem);
}

static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *naive = result_counted(result, "backward_naive"),
				   *split = result_counted(result, "backward_split");
	if (!naive || !split)
		return;
	terminal_print(
		terminal, STYLE_BOLD, "\nWithout P, dP and dS: %.3g times less memory, %.3g times less footprint",
		(double)naive->peak_bytes / (double)split->peak_bytes,
		metric_value(naive, METRIC_FOOTPRINT_BYTES) / metric_value(split, METRIC_FOOTPRINT_BYTES));
	double flop = split->forms.flop / naive->forms.flop;
	if (flop < 1.0)
		fprintf(terminal->out,
		        ".\nP is made anew in both passes, and still there are %.3g times the FLOP of naive,\n"
		        "which multiplies the tiles above the diagonal, too.\n",
		        flop);
	else
		fprintf(terminal->out,
		        ".\nThe price is arithmetic: %.3g times the FLOP of naive, with P made anew in "
		        "both\npasses. ",
		        flop);
	fprintf(terminal->out, "backward_atomic has one pass; its atomics may change dQ from run to run.\n");
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	static const struct column columns[] = {
		{"\nfootprint", .metric = METRIC_FOOTPRINT_BYTES},
		{"memory\nat most", .metric = METRIC_PEAK_BYTES},
		{"of it\nN x N", .metric = METRIC_SQUARE_BYTES},
		{"FLOP/(N\u00b2d)\nper head", .unit = UNIT_FIGURES, .value = flop_per_pair},
		{"exp/N\u00b2\nper head", .unit = UNIT_FIGURES, .value = exponentials_per_pair},
		{"shared\nfloats/FMA", .metric = METRIC_SHARED_FLOATS_PER_FMA},
	};
	columns_print(
		terminal, result, "Memory, arithmetic, and shared memory asked for a multiply-add", false, "\nkernel",
		columns, sizeof columns / sizeof columns[0]);
	print_finding(terminal, result);
}
