#include "report/attention_sides.h"

#include "problem/attention.h"
#include "report/columns.h"
#include "report/side_by_side.h"
#include "support/number.h"

#include <math.h>
#include <stddef.h>

#define SIDE(member)    .offset = offsetof(struct attention_side, member)
#define COUNTED(member) SIDE(member), .counted = offsetof(struct attention_side, counted)

static const struct side_line lines[] = {
	{"", SIDE_TEXT, SIDE(name), .short_too = true},
	{"tile, Br x Bc", SIDE_TILE, SIDE(tile)},
	{"outer loop", SIDE_TEXT, SIDE(outer), .short_too = true},
	{"inner loop", SIDE_TEXT, SIDE(inner), .short_too = true},
	{"O, l and m live in", SIDE_TEXT, SIDE(state), .short_too = true},
	{"maximum subtracted", SIDE_TEXT, SIDE(maximum)},
	{"kept of a row", SIDE_TEXT, SIDE(kept)},
	{"tiles above the diagonal", SIDE_TEXT, SIDE(above)},
	{"blocks", SIDE_COUNT, COUNTED(blocks), .short_too = true},
	{"SMs with a block", SIDE_COUNT, SIDE(sms)},
	{"units of N·d, bytes", SIDE_UNITS, COUNTED(units), .short_too = true},
	{"  at 128 x 128", SIDE_UNITS, SIDE(equal_units)},
	{"  at published tiles", SIDE_UNITS, SIDE(published_units)},
	{"rows of O rescaled", SIDE_COUNT, SIDE(rescales), .short_too = true},
	{"rows of O divided", SIDE_COUNT, SIDE(divisions), .short_too = true},
	{"statistics moved", SIDE_COUNT, COUNTED(statistics)},
	{"device memory", SIDE_BYTES, COUNTED(memory_bytes)},
	{"error", SIDE_NUMBER, COUNTED(error)},
	{"floor of a full GPU", SIDE_MILLISECONDS, SIDE(floor_ms)},
	{"time", SIDE_MILLISECONDS, SIDE(time_ms)},
};

/* Tiles the papers and their code used at d = 64; and one for both. */
enum { FA1_PUBLISHED_BC = 256, FA2_PUBLISHED_BR = 128, EQUAL_TILE = 128 };

size_t attention_heads_of_full(const struct problem *problem, const struct gpu *gpu)
{
	return (size_t)(attention_heads(problem) < (uint64_t)gpu->sms ? (uint64_t)gpu->sms : attention_heads(problem));
}

double attention_naive_floor_ms(const struct problem *problem, const struct gpu *gpu)
{
	struct problem full = problem_with_heads(problem, attention_heads_of_full(problem, gpu));
	double pairs = attention_pairs(&full), Nd = (double)attention_rows(&full) * (double)full.dim;
	struct floor_work work = {
		.input_bytes = 12 * Nd,
		.written_bytes = 8 * pairs + 4 * Nd,
		.handed_bytes = 2 * floor_handed_bytes(4 * pairs, gpu),
		.flop = attention_flop(&full),
		.exponentials = 2 * pairs,
		.blocks = attention_rows(&full)};
	return floor_compute(&work, gpu).ms;
}

/* Of as many heads as fill the GPU with a block for each. */
static double fa1_floor_ms(const struct problem *problem, const struct gpu *gpu, int Bc)
{
	struct problem full = problem_with_heads(problem, attention_heads_of_full(problem, gpu));
	struct closed_forms forms = fa1_forms(&full, Bc);
	double rows = (double)attention_rows(&full), Nd = rows * (double)full.dim;
	struct floor_work work = {
		.input_bytes = 12 * Nd,
		.written_bytes = 4 * (Nd + 2 * rows),
		.flop = forms.flop,
		.exponentials = forms.exponentials,
		.blocks = forms.blocks};
	return floor_compute(&work, gpu).ms;
}

struct attention_side side_of_fa1(const struct problem *problem, const struct gpu *gpu, int Br, int Bc)
{
	struct closed_forms forms = fa1_forms(problem, Bc);
	uint64_t rows = attention_rows(problem), visits = rows * ceil_div(problem->seq, (uint64_t)Bc);
	double Nd = (double)rows * (double)problem->dim, statistics = 2 * (double)rows;
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
		.floor_ms = fa1_floor_ms(problem, gpu, Bc),
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
	bool counted = kernel->counts.counted;
	const struct traffic *moved = &kernel->compared_traffic[0];
	double Nd = (double)attention_rows(problem) * (double)problem->dim;
	double counted_units = (double)(moved->read_bytes + moved->write_bytes) / sizeof(float) / Nd;
	return (struct attention_side){
		.counted = counted,
		.name = kernel->kernel->name,
		.outer = "Q, the grid",
		.inner = "K and V",
		.state = "registers",
		.maximum = "running",
		.kept = "LSE",
		.above = "skipped",
		.tile = {Br, Bc},
		.blocks = counted ? kernel->counts.blocks : forms->blocks,
		.sms = smaller(forms->blocks, (uint64_t)gpu->sms),
		.rescales = rescales(problem, (uint64_t)Br, (uint64_t)Bc, (uint64_t)keys),
		.divisions = attention_rows(problem),
		.statistics = counted ? kernel->statistic_bytes / sizeof(float) : forms->statistics,
		.units = counted ? counted_units : fa2_units(problem, Br, Bc),
		.equal_units = fa2_units(problem, EQUAL_TILE, EQUAL_TILE),
		.published_units = fa2_units(problem, FA2_PUBLISHED_BR, FA2_PUBLISHED_BR),
		.memory_bytes = metric_value(kernel, METRIC_PEAK_BYTES),
		.error = kernel->outputs[kernel->worst].check.max_abs,
		.floor_ms = kernel->filled_heads ? kernel->filled.ms : metric_value(kernel, METRIC_FLOOR_MS),
		.time_ms = metric_value(kernel, METRIC_MEDIAN_MS),
	};
}

void attention_sides_print(
	const struct terminal *terminal, const struct problem *problem, const struct attention_side *sides,
	size_t count, bool all)
{
	double unit_bytes = 4 * (double)attention_rows(problem) * (double)problem->dim;
	side_by_side_print(
		terminal, lines, sizeof lines / sizeof lines[0], sides, sizeof sides[0], count, unit_bytes, all);
}
