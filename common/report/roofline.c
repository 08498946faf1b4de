#include "report/roofline.h"

#include "report/metrics.h"
#include "report/table.h"
#include "support/number.h"

#include <string.h>

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

void roofline_add_json(struct json *json, const struct run_result *result)
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

void roofline_print(const struct terminal *terminal, const struct run_result *result)
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
