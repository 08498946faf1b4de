/* Chapter 01: what the harness has to know about naive attention, and the tables of its lesson. */
#include "naive.h"

#include "harness.h"

static cudaError_t launch(const struct problem *problem, const struct device_memory *memory)
{
	return naive_attention((struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.S = device_find(memory, "S"),
		.P = device_find(memory, "P"),
		.O = device_find(memory, "O"),
		.heads = (int)(problem->batch * problem->heads),
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
	});
}

/*
 * Elements read and written, all heads. Footprint: each kernel's tensors once. Requested: scores reads a row of Q and
 * a row of K for each element of S, softmax_rows reads S three times, weighted_sum reads P and V for each product.
 */
static size_t models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t heads = problem->batch * problem->heads, N = problem->seq, d = problem->dim;
	models[0] = (struct model){
		MODEL_FOOTPRINT, heads * (2 * N * N + 3 * N * d), heads * (2 * N * N + N * d), "4N² + 4Nd"};
	models[1] = (struct model){
		MODEL_REQUESTED, heads * (4 * N * N * d + 3 * N * N), heads * (2 * N * N + N * d), "4N²d + 5N² + Nd"};
	return 2;
}

/* scores and weighted_sum: a block a row. */
static uint64_t blocks(const struct problem *problem)
{
	return (uint64_t)problem->batch * problem->heads * problem->seq;
}

static double row_pairs(const struct problem *problem)
{
	return (double)(problem->batch * problem->heads) * (double)problem->seq * (double)problem->seq;
}

/* Two products of 2 N² d FLOP a head, masked or not. */
static double flop(const struct problem *problem)
{
	return 4.0 * row_pairs(problem) * (double)problem->dim;
}

/* softmax_rows needs every exponential twice: for the sum, and for P. */
static double exponentials(const struct problem *problem)
{
	return 2.0 * row_pairs(problem);
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)128 << step;
	return problem->seq <= (simulated ? 1024 : 16384);
}

static void print_share(const struct terminal *terminal, const struct run_result *result)
{
	const struct launch_counts *total = &result->kernels[0].counts.total;
	uint64_t all = total->footprint.read_bytes + total->footprint.write_bytes, square = 0;
	for (size_t t = 0; t < total->tensor_count; t++) {
		const struct tensor_traffic *tensor = &total->tensors[t];
		if (tensor->name[0] == 'S' || tensor->name[0] == 'P')
			square += tensor->footprint.read_bytes + tensor->footprint.write_bytes;
	}
	if (all == 0)
		return;
	terminal_print(
		terminal, STYLE_BOLD, "\n%.1f %% of the footprint is S and P", 100.0 * (double)square / (double)all);
	fprintf(terminal->out, ": the N² terms, neither input nor output.\n");
}

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

/* The same for programs: "roofline":{"ridge_fp16","ridge_fp32","products":[...]} */
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

/* Whole attention, 4 N² d FLOP a head: naive; fused, each tensor once; fused as it runs, K and V read for each tile.
 */
static void
print_attention_roofline(const struct terminal *terminal, const struct problem *problem, const struct gpu *gpu)
{
	enum { TILE = 128 };
	double N = (double)problem->seq, d = (double)problem->dim;
	double tiles = (double)((problem->seq + TILE - 1) / TILE);
	const struct {
		const char *name, *formula;
		double intensity;
	} rows[] = {
		{"naive", "Nd/(2(N+d))", N * d / (2 * (N + d))},
		{"fused, K and V read once", "N/2", N / 2},
		{"fused, tiles of 128 queries", "N/(1+Tr)", N / (1 + tiles)},
	};
	struct table table = table_new("llrlrl");
	table_row(&table, STYLE_DIM, "whole attention, N=%.0f d=%.0f|FLOP/byte|fp16||fp32|", N, d);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%.1f|%s|%.1f|%s", rows[i].name, rows[i].formula,
			rows[i].intensity, bound(rows[i].intensity, ridge_fp16(gpu)), rows[i].intensity / 2,
			bound(rows[i].intensity / 2, ridge_fp32(gpu)));
	table_print(&table, terminal);
}

static void explain(const struct terminal *terminal, const struct run_result *result)
{
	const struct gpu *gpu = result->device->gpu;
	print_share(terminal, result);
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
}

static const struct kernel kernels[] = {
	{
		.name = "naive",
		.summary = "three kernels, S and P in HBM",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"S", "BHNN", TENSOR_SCRATCH, false},
                         {"P", "BHNN", TENSOR_SCRATCH, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false}},
		.launch = launch,
		.models = models,
		.blocks = blocks,
		.flop = flop,
		.exponentials = exponentials,
	},
};

static const struct chapter chapter = {
	.name = "01_naive",
	.program = "naive",
	.title = "Attention as three kernels: count what moves.",
	.next = "predict what a causal mask saves, then ./naive --seq 2048 --causal",
	.small = "--seq 4 --dim 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 1, .seq = 1024, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep,
	.add_json = add_json,
	.explain = explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
