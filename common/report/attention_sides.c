#include "report/attention_sides.h"

#include "problem/attention.h"
#include "report/columns.h"
#include "report/side_by_side.h"
#include "support/number.h"

#include <math.h>
#include <stddef.h>

static const struct side_line lines[] = {
	{"", SIDE_TEXT, offsetof(struct attention_side, name)},
	{"tile, Br x Bc", SIDE_TILE, offsetof(struct attention_side, tile)},
	{"outer loop", SIDE_TEXT, offsetof(struct attention_side, outer)},
	{"inner loop", SIDE_TEXT, offsetof(struct attention_side, inner)},
	{"O, l and m live in", SIDE_TEXT, offsetof(struct attention_side, state)},
	{"maximum subtracted", SIDE_TEXT, offsetof(struct attention_side, maximum)},
	{"kept of a row", SIDE_TEXT, offsetof(struct attention_side, kept)},
	{"tiles above the diagonal", SIDE_TEXT, offsetof(struct attention_side, above)},
	{"blocks", SIDE_COUNT, offsetof(struct attention_side, blocks)},
	{"SMs they can fill", SIDE_COUNT, offsetof(struct attention_side, sms)},
	{"units of N·d, bytes", SIDE_UNITS, offsetof(struct attention_side, units)},
	{"  at 128 x 128", SIDE_UNITS, offsetof(struct attention_side, equal_units)},
	{"  at published tiles", SIDE_UNITS, offsetof(struct attention_side, published_units)},
	{"rows of O rescaled", SIDE_COUNT, offsetof(struct attention_side, rescales)},
	{"rows of O divided", SIDE_COUNT, offsetof(struct attention_side, divisions)},
	{"statistics moved", SIDE_COUNT, offsetof(struct attention_side, statistics)},
	{"device memory", SIDE_BYTES, offsetof(struct attention_side, memory_bytes)},
	{"error", SIDE_NUMBER, offsetof(struct attention_side, error)},
	{"floor", SIDE_MILLISECONDS, offsetof(struct attention_side, floor_ms)},
	{"time", SIDE_MILLISECONDS, offsetof(struct attention_side, time_ms)},
};

/* Tiles the papers and their code used at d = 64; and one for both. */
enum { FA1_PUBLISHED_BC = 256, FA2_PUBLISHED_BR = 128, EQUAL_TILE = 128 };

struct attention_side side_of_fa1(const struct problem *problem, const struct gpu *gpu, int Br, int Bc)
{
	struct closed_forms forms = fa1_forms(problem, Bc);
	uint64_t rows = attention_rows(problem), visits = rows * ceil_div(problem->seq, (uint64_t)Bc);
	double Nd = (double)rows * (double)problem->dim, statistics = 2 * (double)rows;
	struct floor_work work = {
		.input_bytes = 12 * Nd,
		.written_bytes = 4 * (Nd + statistics),
		.flop = forms.flop,
		.exponentials = forms.exponentials,
		.blocks = forms.blocks};
	return (struct attention_side){
		.name = "fa1_paper",
		.outer = "K and V",
		.inner = "Q, O, l, m",
		.state = "HBM",
		.maximum = "the tile's",
		.kept = "l and m",
		.above = "masked",
		.tile = {Br, Bc},
		.blocks = forms.blocks,
		.sms = smaller(forms.blocks, (uint64_t)gpu->sms),
		.rescales = visits,
		.divisions = visits,
		.statistics = forms.statistics,
		.units = (double)fa1_units(problem, Bc),
		.equal_units = (double)fa1_units(problem, EQUAL_TILE),
		.published_units = (double)fa1_units(problem, FA1_PUBLISHED_BC),
		.memory_bytes = 4 * (4 * Nd + statistics),
		.error = NAN,
		.floor_ms = floor_compute(&work, gpu).ms,
		.time_ms = NAN,
	};
}

static double fa2_units(const struct problem *problem, int Br, int Bc)
{
	return 2 + 2 * (double)attention_visits(problem, Br, Bc, true).keys / (double)problem->seq;
}

/* A visit of keys [first, end) rescales each row once a group of `keys` keys. */
static uint64_t rescales(const struct problem *problem, uint64_t Br, uint64_t Bc, uint64_t keys)
{
	uint64_t N = problem->seq, sum = 0;
	for (uint64_t first_row = 0; first_row < N; first_row += Br) {
		uint64_t last = smaller(first_row + Br, N), end = problem->causal ? last : N;
		for (uint64_t first = 0; first < end; first += Bc)
			sum += (last - first_row) * ceil_div(smaller(Bc, N - first), keys);
	}
	return attention_heads(problem) * sum;
}

struct attention_side side_of_fa2(const struct kernel_result *kernel, const struct gpu *gpu, int Br, int Bc, int keys)
{
	const struct problem *problem = kernel->problem;
	const struct closed_forms *forms = &kernel->forms;
	return (struct attention_side){
		.name = kernel->kernel->name,
		.outer = "Q, the grid",
		.inner = "K and V",
		.state = "registers",
		.maximum = "running",
		.kept = "LSE",
		.above = "skipped",
		.tile = {Br, Bc},
		.blocks = forms->blocks,
		.sms = smaller(forms->blocks, (uint64_t)gpu->sms),
		.rescales = rescales(problem, (uint64_t)Br, (uint64_t)Bc, (uint64_t)keys),
		.divisions = attention_rows(problem),
		.statistics = forms->statistics,
		.units = fa2_units(problem, Br, Bc),
		.equal_units = fa2_units(problem, EQUAL_TILE, EQUAL_TILE),
		.published_units = fa2_units(problem, FA2_PUBLISHED_BR, FA2_PUBLISHED_BR),
		.memory_bytes = metric_value(kernel, METRIC_PEAK_BYTES),
		.error = kernel->outputs[kernel->worst].check.max_abs,
		.floor_ms = metric_value(kernel, METRIC_FLOOR_MS),
		.time_ms = metric_value(kernel, METRIC_MEDIAN_MS),
	};
}

void attention_sides_print(
	const struct terminal *terminal, const struct problem *problem, const struct attention_side *sides,
	size_t count)
{
	double unit_bytes = 4 * (double)attention_rows(problem) * (double)problem->dim;
	side_by_side_print(
		terminal, lines, sizeof lines / sizeof lines[0], sides, sizeof sides[0], count, unit_bytes);
}
