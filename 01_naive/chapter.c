/* Chapter 01: what the harness has to know about naive attention. */
#include "naive.h"

#include "harness.h"

/*
 * Footprint: each kernel's tensors once. Requested: scores reads a row of Q and a row of K for each element of S,
 * softmax_rows reads S three times, weighted_sum reads P and V for each product.
 */
static struct closed_forms forms(const struct problem *problem)
{
	uint64_t heads = attention_heads(problem), N = problem->seq, d = problem->dim;
	uint64_t written = heads * (2 * N * N + N * d);
	return (struct closed_forms){
		.predictions =
			{
				{PREDICTS_FOOTPRINT, heads * (2 * N * N + 3 * N * d), written, "4N² + 4Nd"},
				{PREDICTS_REQUESTED, heads * (4 * N * N * d + 3 * N * N), written, "4N²d + 5N² + Nd"},
			},
		.blocks = heads * N, /* of scores and weighted_sum: one for each row */
		.flop = attention_flop(problem),
		.exponentials = 2.0 * attention_pairs(problem), /* softmax_rows: for the sum, and for P */
	};
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	const struct launch_counts *total = &result->kernels[0].counts.total;
	uint64_t all = total->footprint.read_bytes + total->footprint.write_bytes, square = 0;
	for (size_t t = 0; t < total->tensor_count; t++) {
		const struct tensor_traffic *tensor = &total->tensors[t];
		if (tensor->name[0] == 'S' || tensor->name[0] == 'P')
			square += tensor->footprint.read_bytes + tensor->footprint.write_bytes;
	}
	if (all > 0) {
		double percent = 100.0 * (double)square / (double)all;
		double requested = (double)(total->requested.read_bytes + total->requested.write_bytes);
		if (!result->options->verbose) {
			fputc('\n', terminal->out);
			traffic_print(terminal, &result->kernels[0].prepared, &result->kernels[0].counts);
		}
		terminal_print(terminal, STYLE_BOLD, "\n%.1f %% of the footprint is S and P", percent);
		fprintf(terminal->out,
		        ": the N² terms, neither input nor output.\n"
		        "All threads together request %.3g times the footprint. If no cache keeps\n"
		        "anything, what moves is their sectors.\n",
		        requested / (double)all);
	}
	if (result->options->verbose)
		roofline_print(terminal, result);
}

static const struct tensor tensors[] = {
	{"Q", "BHNd", TENSOR_INPUT, false},
	{"K", "BHNd", TENSOR_INPUT, false},
	{"V", "BHNd", TENSOR_INPUT, false},
	{"S", "BHNN", TENSOR_SCRATCH, false},
	{"P", "BHNN", TENSOR_SCRATCH, false},
	{"O", "BHNd", TENSOR_OUTPUT, false},
	{0},
};

static const struct kernel kernels[] = {
	{
		.name = "naive",
		.summary = "three kernels, S and P in HBM",
		.tensors = tensors,
		.launch_attention = naive_attention,
		.forms = forms,
	},
};

static const struct suggestion next[] = {
	{"predict what a causal mask saves, then", "--causal"},
	{"real text,", "--causal --load ../tests/data/real_qkv"},
	{"softmax in one pass, cd ../02_online_softmax && make", NULL},
};

static const struct chapter chapter = {
	.name = "01_naive",
	.program = "naive",
	.title = "Attention as three kernels: count what moves.",
	.next = next,
	.small = "--seq 4 --dim 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 1, .seq = 1024, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep_attention,
	.add_json = roofline_add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
