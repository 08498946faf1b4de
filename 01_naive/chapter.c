/* Chapter 01: what the harness has to know about naive attention. */
#include "naive.h"

#include "harness.h"

#include <string.h>

/* ---- closed forms ---- */

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

/* ---- the kernel ---- */

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

/*
 * ---- the roofline, with --verbose ----
 *
 * Where attention stands on a GPU's roofline, from formulas: the product Q Kᵀ as a kernel of its own, and whole attention
 * naive and fused. FLOP/byte against the ridge, the GPU's peak over its bandwidth: below it a kernel is bound by memory.
 */

static const char *bound(double intensity, double ridge)
{
	return intensity < ridge ? "memory" : "compute";
}

/* One product Q K^T as a kernel of its own: 2 N² d FLOP; it reads Q and K and writes S, once each. */
struct product {
	double N, d, flop, fp16_bytes, fp16_intensity; /* fp32: twice the bytes, half the intensity */
};

static const struct {
	double N, d;
} product_shapes[] = {{256, 64},   {2048, 64}, {4096, 64},  {256, 128}, {2048, 128},
                      {4096, 128}, {256, 256}, {2048, 256}, {4096, 256}};

enum { PRODUCTS = sizeof product_shapes / sizeof product_shapes[0] };

static struct product product(size_t i)
{
	double N = product_shapes[i].N, d = product_shapes[i].d;
	return (struct product){N, d, 2 * N * N * d, 2 * (2 * N * d + N * N), N * d / (2 * d + N)};
}

static double ridge_fp16(const struct gpu *gpu)
{
	return gpu->fp16_tensor_flop_per_s / gpu->hbm_bytes_per_s;
}

static double ridge_fp32(const struct gpu *gpu)
{
	return gpu->fp32_flop_per_s / gpu->hbm_bytes_per_s;
}

static void print_product_roofline(const struct terminal *terminal, const struct gpu *gpu)
{
	struct table table = table_new("rrrrrlrrl");
	table_row(&table, STYLE_DIM, "QK\u1d40||FLOP|fp16|FLOP/||fp32|FLOP/|");
	table_row(&table, STYLE_DIM, "N|d||bytes|byte|bound|bytes|byte|bound");
	for (size_t i = 0; i < PRODUCTS; i++) {
		struct product of = product(i);
		char half[32], full[32];
		table_row(
			&table, STYLE_PLAIN, "%.0f|%.0f|%.2f %c|%s|%.0f|%s|%s|%.0f|%s", of.N, of.d,
			of.flop < 1e9 ? 1e-6 * of.flop : 1e-9 * of.flop, of.flop < 1e9 ? 'M' : 'G',
			format_bytes(of.fp16_bytes, half), of.fp16_intensity,
			bound(of.fp16_intensity, ridge_fp16(gpu)), format_bytes(2 * of.fp16_bytes, full),
			of.fp16_intensity / 2, bound(of.fp16_intensity / 2, ridge_fp32(gpu)));
	}
	table_print(&table, terminal);
}

static void add_json(struct json *json, const struct run_result *result)
{
	const struct gpu *gpu = result->device->gpu;
	if (!gpu)
		return;
	json_open_object(json, "roofline");
	json_number(json, "ridge_fp16", ridge_fp16(gpu));
	json_number(json, "ridge_fp32", ridge_fp32(gpu));
	json_open_array(json, "products");
	for (size_t i = 0; i < PRODUCTS; i++) {
		struct product of = product(i);
		json_open_object(json, NULL);
		json_number(json, "N", of.N);
		json_number(json, "d", of.d);
		json_number(json, "flop", of.flop);
		json_number(json, "fp16_bytes", of.fp16_bytes);
		json_number(json, "fp16_intensity", of.fp16_intensity);
		json_string(json, "fp16_bound", bound(of.fp16_intensity, ridge_fp16(gpu)));
		json_number(json, "fp32_bytes", 2 * of.fp16_bytes);
		json_number(json, "fp32_intensity", of.fp16_intensity / 2);
		json_string(json, "fp32_bound", bound(of.fp16_intensity / 2, ridge_fp32(gpu)));
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

/* Whole attention, 4 N² d FLOP a head: naive; fused, each tensor once; fused as it runs, K and V read for each tile. */
static void print_attention_roofline(
	const struct terminal *terminal, const struct problem *problem, const struct gpu *gpu)
{
	enum { TILE = 128 };
	double N = (double)problem->seq, d = (double)problem->dim;
	double tiles = (double)ceil_div(problem->seq, TILE);
	const struct {
		const char *name, *formula;
		double intensity;
	} rows[] = {
		{"naive", "Nd/(2(N+d))", N * d / (2 * (N + d))},
		{"fused, K and V read once", "N/2", N / 2},
		{"fused, tiles of 128 queries", "N/(1+Tr)", N / (1 + tiles)},
	};
	struct table table = table_new("llrlrl");
	table_row(&table, STYLE_DIM, "whole attention, N=%.0f d=%.0f|FLOP/byte, fp16|fp16||fp32|", N, d);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%.1f|%s|%.1f|%s", rows[i].name, rows[i].formula,
			rows[i].intensity, bound(rows[i].intensity, ridge_fp16(gpu)), rows[i].intensity / 2,
			bound(rows[i].intensity / 2, ridge_fp32(gpu)));
	table_print(&table, terminal);
}

/* The two may name different bounds of one run: the floor lets L2 keep what fits. */
static void print_beside_floor(const struct terminal *terminal, const struct run_result *result)
{
	const struct gpu *gpu = result->device->gpu;
	const struct kernel_result *kernel = &result->kernels[0];
	double N = (double)result->problem.seq, d = (double)result->problem.dim;
	bool by_memory = N * d / (4 * (N + d)) < ridge_fp32(gpu);
	char square[32], l2[32];
	if (!by_memory || !kernel->has_floor || strcmp(kernel->floor.full_bound_by, "hbm") == 0)
		return;
	fprintf(terminal->out,
	        "\nThe floor above is bound by %s, naive here by memory: the floor lets L2 keep\n"
	        "S and P (%s each) as far as its %s go; here all goes through HBM.\n",
	        kernel->floor.full_bound_by, format_bytes(metric_value(kernel, METRIC_SQUARE_BYTES) / 2, square),
	        format_bytes((double)gpu->l2_bytes, l2));
}

static void print_roofline(const struct terminal *terminal, const struct run_result *result)
{
	const struct gpu *gpu = result->device->gpu;
	if (!gpu)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nRoofline, from formulas, of the %s", gpu->title);
	fprintf(terminal->out,
	        "\nIts ridge is at %.0f FLOP/byte in fp16 with tensor cores, at %.1f in our fp32.\n"
	        "Below the ridge a kernel is bound by memory.\n\n",
	        ridge_fp16(gpu), ridge_fp32(gpu));
	print_product_roofline(terminal, gpu);
	fputc('\n', terminal->out);
	print_attention_roofline(terminal, &result->problem, gpu);
	print_beside_floor(terminal, result);
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict what a causal mask saves, then", "--causal"},
	{"real text,", "--causal --load ../tests/data/real_qkv"},
	{"softmax in one pass, cd ../02_online_softmax && make", NULL},
};

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
			traffic_print(terminal, &result->kernels[0].prepared, &result->kernels[0].counts, false);
		}
		terminal_print(terminal, STYLE_BOLD, "\n%.1f %% of the footprint is S and P", percent);
		fprintf(terminal->out,
		        ": the N² terms, neither input nor output.\n"
		        "All threads together request %.3g times the footprint. If no cache keeps\n"
		        "anything, what moves is their sectors.\n",
		        requested / (double)all);
	}
	if (result->options->verbose)
		print_roofline(terminal, result);
}

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
	.add_json = add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
