/* Chapter 05: what the harness has to know about FlashAttention-2. */
#include "fa2.h"

#include "harness.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --tile-q and --tile-k, or what fits. */
static struct tile row_tile(const struct problem *problem)
{
	return (struct tile){row_tile_queries(problem), row_tile_keys(problem)};
}

static bool fa2_grid_fits(const struct problem *problem, char *reason, size_t size)
{
	bool fits = problem->batch <= FA2_MOST_HEADS && problem->heads <= FA2_MOST_HEADS;
	if (!fits)
		snprintf(
			reason, size, "batch and heads are the grid's z and y, the limit of each is %d",
			FA2_MOST_HEADS);
	return fits;
}

static bool row_runs(const struct problem *problem, char *reason, size_t size)
{
	return row_threads_fit(problem, FA2_MOST_ROW_THREADS, reason, size) && fa2_grid_fits(problem, reason, size);
}

/* ---- closed forms ---- */

static struct closed_forms forms_of(const struct problem *problem, struct tile tile, size_t shared_bytes)
{
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, true);
	forms.shared_bytes = shared_bytes;
	return forms;
}

static struct closed_forms row_forms(const struct problem *problem)
{
	struct tile tile = row_tile(problem);
	return forms_of(problem, tile, fa_row_shared_bytes((int)problem->dim, tile));
}

static struct closed_forms tile_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return forms_of(problem, fa2_warp_tile(d), fa2_tile_shared_bytes(d));
}

static struct closed_forms slab_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return forms_of(problem, fa2_warp_tile(d), fa2_slab_shared_bytes(d));
}

static struct closed_forms split_q_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return forms_of(problem, fa2_split_q_tile(d), fa2_split_q_shared_bytes(d));
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "fa2_row",
		.summary = "chapter 04's row kernel, a block for each tile of queries",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_row,
		.forms = row_forms,
		.runs = row_runs,
	},
	{
		.name = "fa2_tile",
		.summary = "one warp per 32 or 16 rows: register tiles, 16-byte reads",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_tile,
		.forms = tile_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_slab",
		.summary = "P~ through shared memory, rows padded",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_slab,
		.forms = slab_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_split_q",
		.summary = "four warps split the query tile, share K and V",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_split_q,
		.forms = split_q_forms,
		.runs = fa2_grid_fits,
	},
};

/*
 * ---- FA1 beside FA2: what loops where, what moves, what it costs, a column an algorithm ----
 *
 * What was counted or measured has a star; FA1's column comes from formulas alone.
 */

/* One column. */
struct side {
	const char *name, *outer, *inner, *state, *maximum, *kept, *above;
	struct tile tile;
	uint64_t blocks, sms, rescales, divisions, statistics;
	double units, equal_units, published_units, memory_bytes, error;
	double floor_ms, time_ms; /* the floor of a full GPU: of heads_of_full heads */
	bool counted; /* blocks, units, statistics, memory and error are a run's; else, and all others, from closed forms */
};

/* Tiles the papers and their code used at d = 64; and one for both. */
enum { FA1_PUBLISHED_BC = 256, FA2_PUBLISHED_BR = 128, EQUAL_TILE = 128 };

/* The heads of the problem, but at least as many as the GPU has SMs: a head for each. */
static size_t heads_of_full(const struct problem *problem, const struct gpu *gpu)
{
	return (size_t)(attention_heads(problem) < (uint64_t)gpu->sms ? (uint64_t)gpu->sms : attention_heads(problem));
}

/* The floor of naive attention at so many heads. */
static double naive_floor_ms(const struct problem *problem, const struct gpu *gpu)
{
	struct problem full = problem_with_heads(problem, heads_of_full(problem, gpu));
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
	struct problem full = problem_with_heads(problem, heads_of_full(problem, gpu));
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

/* Algorithm 1 with such tiles: without error and time. It masks and skips nothing. */
static struct side side_of_fa1(const struct problem *problem, const struct gpu *gpu, struct tile tile)
{
	struct closed_forms forms = fa1_forms(problem, tile.Bc);
	uint64_t rows = attention_rows(problem), visits = rows * ceil_div(problem->seq, (uint64_t)tile.Bc);
	double Nd = (double)rows * (double)problem->dim, statistics = 2 * (double)rows;
	return (struct side){
		.name = "fa1_paper",
		.outer = "K and V",
		.inner = "Q, O, l, m",
		.state = "HBM",
		.maximum = "the tile's",
		.kept = "l and m",
		.above = "masked",
		.tile = tile,
		.blocks = forms.blocks,
		.sms = smaller(forms.blocks, (uint64_t)gpu->sms),
		.rescales = visits,
		.divisions = visits,
		.statistics = forms.statistics,
		.units = (double)fa1_units(problem, tile.Bc),
		.equal_units = (double)fa1_units(problem, EQUAL_TILE),
		.published_units = (double)fa1_units(problem, FA1_PUBLISHED_BC),
		.memory_bytes = 4 * (4 * Nd + statistics),
		.error = NAN,
		.floor_ms = fa1_floor_ms(problem, gpu, tile.Bc),
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

/* A kernel that was run. It takes in `keys` keys at once: it rescales O that often. */
static struct side side_of_fa2(const struct kernel_result *kernel, const struct gpu *gpu, struct tile tile, int keys)
{
	const struct problem *problem = kernel->problem;
	const struct closed_forms *forms = &kernel->forms;
	bool counted = kernel->counts.counted;
	const struct traffic *moved = &kernel->compared_traffic[0];
	double Nd = (double)attention_rows(problem) * (double)problem->dim;
	double counted_units = (double)(moved->read_bytes + moved->write_bytes) / sizeof(float) / Nd;
	return (struct side){
		.counted = counted,
		.name = kernel->kernel->name,
		.outer = "Q, the grid",
		.inner = "K and V",
		.state = "registers",
		.maximum = "running",
		.kept = "LSE",
		.above = "skipped",
		.tile = tile,
		.blocks = counted ? kernel->counts.blocks : forms->blocks,
		.sms = smaller(forms->blocks, (uint64_t)gpu->sms),
		.rescales = rescales(problem, (uint64_t)tile.Br, (uint64_t)tile.Bc, (uint64_t)keys),
		.divisions = attention_rows(problem),
		.statistics = counted ? kernel->statistic_bytes / sizeof(float) : forms->statistics,
		.units = counted ? counted_units : fa2_units(problem, tile.Br, tile.Bc),
		.equal_units = fa2_units(problem, EQUAL_TILE, EQUAL_TILE),
		.published_units = fa2_units(problem, FA2_PUBLISHED_BR, FA2_PUBLISHED_BR),
		.memory_bytes = metric_value(kernel, METRIC_PEAK_BYTES),
		.error = kernel->outputs[kernel->worst].check.max_abs,
		.floor_ms = kernel->filled_heads ? kernel->filled.ms : metric_value(kernel, METRIC_FLOOR_MS),
		.time_ms = metric_value(kernel, METRIC_MEDIAN_MS),
	};
}

/* What lies at a line's offset; from BYTES on a double, of which NAN is written as nothing. */
enum kind { TEXT, COUNT, TILE, BYTES, NUMBER, MILLISECONDS, UNITS };

struct line {
	const char *label;
	enum kind kind;
	size_t offset; /* in struct side */
	bool counted;  /* has a star where the side was counted */
};

#define SIDE(member) .offset = offsetof(struct side, member)

static const struct line lines[] = {
	{"", TEXT, SIDE(name)},
	{"tile, Br x Bc", TILE, SIDE(tile)},
	{"outer loop", TEXT, SIDE(outer)},
	{"inner loop", TEXT, SIDE(inner)},
	{"O, l and m live in", TEXT, SIDE(state)},
	{"maximum subtracted", TEXT, SIDE(maximum)},
	{"kept of a row", TEXT, SIDE(kept)},
	{"tiles above the diagonal", TEXT, SIDE(above)},
	{"blocks", COUNT, SIDE(blocks), .counted = true},
	{"SMs with a block", COUNT, SIDE(sms)},
	{"units of N·d, bytes", UNITS, SIDE(units), .counted = true},
	{"  at 128 x 128", UNITS, SIDE(equal_units)},
	{"  at published tiles", UNITS, SIDE(published_units)},
	{"rows of O rescaled", COUNT, SIDE(rescales)},
	{"rows of O divided", COUNT, SIDE(divisions)},
	{"statistics moved", COUNT, SIDE(statistics), .counted = true},
	{"device memory", BYTES, SIDE(memory_bytes), .counted = true},
	{"error", NUMBER, SIDE(error), .counted = true},
	{"floor of a full GPU", MILLISECONDS, SIDE(floor_ms)},
	{"time", MILLISECONDS, SIDE(time_ms)},
};

enum { CELL_SIZE = 64 };

static void write_cell(const struct line *line, const struct side *side, double unit_bytes, char cell[CELL_SIZE])
{
	const void *at = (const char *)side + line->offset;
	double number = line->kind >= BYTES ? *(const double *)at : 0.0;
	char bytes[32];
	*cell = '\0';
	if (isnan(number))
		return;
	if (line->counted && side->counted)
		*cell++ = '*';
	switch (line->kind) {
	case TEXT: strcpy(cell, *(const char *const *)at); break;
	case COUNT: format_count(*(const uint64_t *)at, cell); break;
	case TILE: sprintf(cell, "%d x %d", ((const struct tile *)at)->Br, ((const struct tile *)at)->Bc); break;
	case BYTES: format_bytes(number, cell); break;
	case NUMBER: sprintf(cell, "%.1e", number); break;
	case MILLISECONDS: format_milliseconds(number, cell); break;
	case UNITS: sprintf(cell, "%.4g, %s", number, format_bytes(number * unit_bytes, bytes)); break;
	}
}

/* A line in which every side has nothing is left out. */
static void print_sides(
	const struct terminal *terminal, const struct problem *problem, const struct side *sides, size_t count)
{
	double unit_bytes = 4 * (double)attention_rows(problem) * (double)problem->dim;
	char alignment[TABLE_MAX_COLUMNS + 1] = "l";
	memset(alignment + 1, 'r', count);
	struct table table = table_new(alignment);
	for (const struct line *line = lines; line < lines + sizeof lines / sizeof lines[0]; line++) {
		char row[TABLE_MAX_COLUMNS * CELL_SIZE], cell[CELL_SIZE];
		bool known = false;
		strcpy(row, line->label);
		for (size_t i = 0; i < count; i++) {
			write_cell(line, &sides[i], unit_bytes, cell);
			strcat(strcat(row, "|"), cell);
			known = known || *cell;
		}
		if (known)
			table_row(&table, line == lines ? STYLE_DIM : STYLE_PLAIN, "%s", row);
	}
	table_print(&table, terminal);
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict what the causal mask saves this time, then", "--causal"},
	{"predict the units at Br = 64, then", "--kernel fa2_row --tile-q 64"},
	{"the gradients, cd ../06_backward && make", NULL},
};

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_loads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / metric_value(kernel, METRIC_FMA_PER_LOAD);
}

static const struct column ladder[] = {
	{"shared loads\nper FMA", .unit = UNIT_RATIO, .value = shared_loads_per_fma},
	{"wavefronts\nper FMA", .metric = METRIC_WAVEFRONTS_PER_FMA},
	{"\nexponentials", .metric = METRIC_EXPONENTIALS},
	{"\nblocks", .metric = METRIC_BLOCKS},
};

static const struct column shared[] = {
	{"bytes\nper block", .metric = METRIC_SHARED_BYTES},
	{"warp-level\nloads, all", .metric = METRIC_SHARED_LOADS},
	{"wavefronts,\nall", .metric = METRIC_SHARED_WAVEFRONTS},
	{"conflicts,\nall", .metric = METRIC_SHARED_CONFLICTS},
};

/*
 * What naive attention moves over what this kernel requests lies between two ends: naive at its best, its footprint, when a
 * cache forgets nothing, and at its worst, all that its threads request, without a cache.
 */
static void print_finding(const struct terminal *terminal, const struct problem *problem, const struct side *side)
{
	double N = (double)problem->seq, d = (double)problem->dim;
	double footprint = 4 * N / d + 4, requested = 4 * N + 5 * N / d + 1;
	terminal_print(
		terminal, STYLE_BOLD, "\nThe footprint of naive attention is %.3g times what %s requests",
		footprint / side->units, side->name);
	fprintf(terminal->out, ",\nand what it requests itself %.3g times as much.\n", requested / side->units);
}

static void print_title(
	const struct terminal *terminal, const struct problem *problem, const struct gpu *gpu, bool counted)
{
	char floor[32];
	terminal_print(terminal, STYLE_BOLD, "\nFA1 beside FA2");
	fprintf(terminal->out,
	        ", all heads, on an %s with %d SMs.\n%s numbers come from closed\n"
	        "forms, fa1_paper (chapter 04) at the tile of fa2_row. Published tiles: FA1\n"
	        "Bc = 256 at d = 64, FA2 Br = 128. A full GPU: B·H = %zu; naive's floor: %s.\n\n",
	        gpu->title, gpu->sms, counted ? "* was counted, the error measured; all other" : "All",
	        heads_of_full(problem, gpu), format_milliseconds(naive_floor_ms(problem, gpu), floor));
}

/* FA1 beside FA2 with --verbose, and what the last of the kernels saves. */
static void print_compared(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	struct tile row = row_tile(problem), split_q = fa2_split_q_tile((int)problem->dim);
	int keys = fa2_row_keys_at_once((int)problem->dim);
	struct side sides[TABLE_MAX_COLUMNS - 1] = {side_of_fa1(problem, gpu, row)};
	size_t count = 1;
	for (size_t i = 0; i < result->kernel_count && count < TABLE_MAX_COLUMNS - 1; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const char *name = kernel->kernel->name;
		if (!kernel->verified)
			continue;
		if (strcmp(name, "fa2_row") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, row, keys);
		else if (strcmp(name, "fa2_split_q") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, split_q, split_q.Bc);
	}
	if (count == 1)
		return;
	if (result->options->verbose) {
		print_title(terminal, problem, gpu, sides[1].counted);
		print_sides(terminal, problem, sides, count);
	}
	print_finding(terminal, problem, &sides[count - 1]);
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->gpu)
		return;
	columns_print(
		terminal, result, "The ladder: one idea per step, counted", true, "\nkernel", ladder,
		sizeof ladder / sizeof ladder[0]);
	print_compared(terminal, result);
	if (result->options->verbose)
		columns_print(
			terminal, result, "Shared memory, as the source says it\n", true, "\nkernel", shared,
			sizeof shared / sizeof shared[0]);
}

static const struct chapter chapter = {
	.name = "05_fa2",
	.program = "fa2",
	.title = "FlashAttention-2: a block for each tile of queries.",
	.next = next,
	.small = "--seq 4 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 512, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep_attention,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
