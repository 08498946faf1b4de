/* Chapter 00: what the harness has to know about its eight kernels. */
#include "gpu.h"

#include "harness.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- launching ---- */

static cudaError_t who_am_i(const struct problem *problem, const struct device_memory *memory)
{
	return launch_who_am_i((struct thread_ids){
		.grid = device_find(memory, "grid"),
		.block = device_find(memory, "block"),
		.thread = device_find(memory, "thread"),
		.warp = device_find(memory, "warp"),
		.lane = device_find(memory, "lane"),
		.count = problem->rows * problem->cols,
	});
}

static struct matrix arguments(const struct problem *problem, const struct device_memory *memory)
{
	return (struct matrix){device_find(memory, "x"), device_find(memory, "y"), problem->rows, problem->cols};
}

/* launch_NAME as the harness wants it. */
#define LAUNCH(name)                                                                                                 \
	static cudaError_t name(const struct problem *problem, const struct device_memory *memory)                   \
	{                                                                                                            \
		return launch_##name(arguments(problem, memory));                                                    \
	}
LAUNCH(copy)
LAUNCH(copy_strided)
LAUNCH(copy_float4)
LAUNCH(transpose)
LAUNCH(transpose_padded)
LAUNCH(sum)
LAUNCH(sum_shuffle)

/* ---- closed forms, and what cannot be run ---- */

/* Nothing is asked for twice: what a kernel requests is its footprint. */
static struct closed_forms forms(uint64_t reads, uint64_t writes, uint64_t blocks, const char *formula)
{
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, reads, writes, formula}, {PREDICTS_FOOTPRINT, reads, writes, formula}},
		.blocks = blocks,
	};
}

static uint64_t elements(const struct problem *problem)
{
	return (uint64_t)problem->rows * problem->cols;
}

static struct closed_forms thread_ids_forms(const struct problem *problem)
{
	return forms(0, 5 * elements(problem), ceil_div(elements(problem), THREADS_PER_BLOCK), "5RC");
}

static struct closed_forms copy_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(RC, THREADS_PER_BLOCK), "2RC");
}

static struct closed_forms float4_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(RC, 4 * THREADS_PER_BLOCK), "2RC");
}

static struct closed_forms transpose_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(problem->rows, TILE_SIDE) * ceil_div(problem->cols, TILE_SIDE), "2RC");
}

static struct closed_forms sum_forms(const struct problem *problem)
{
	struct closed_forms of = forms(elements(problem), problem->rows, problem->rows, "RC + R");
	of.flop = (double)elements(problem);
	return of;
}

static bool blocks_fit(const struct problem *problem, char *reason, size_t size)
{
	if (ceil_div(elements(problem), THREADS_PER_BLOCK) <= MOST_BLOCKS)
		return true;
	snprintf(reason, size, "numbers its blocks in fp32, which holds whole numbers up to %d", MOST_BLOCKS);
	return false;
}

static bool tiles_fit(const struct problem *problem, char *reason, size_t size)
{
	if (ceil_div(problem->rows, TILE_SIDE) <= MOST_TILE_ROWS)
		return true;
	snprintf(
		reason, size, "a grid has at most %d blocks in y: %d rows", MOST_TILE_ROWS,
		MOST_TILE_ROWS * TILE_SIDE);
	return false;
}

/* ---- the kernels ---- */

#define OUTPUT(name, shape)                                                                                          \
	{                                                                                                            \
		name, shape, TENSOR_OUTPUT, false                                                                    \
	}
#define INPUT(name, shape)                                                                                           \
	{                                                                                                            \
		name, shape, TENSOR_INPUT, false                                                                     \
	}
#define END INPUT(NULL, NULL)

static const struct tensor thread_ids_tensors[] = {OUTPUT("grid", "RC"),   OUTPUT("block", "RC"),
                                                   OUTPUT("thread", "RC"), OUTPUT("warp", "RC"),
                                                   OUTPUT("lane", "RC"),   END};
static const struct tensor copy_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "RC"), END};
static const struct tensor transpose_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "CR"), END};
static const struct tensor sum_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "R"), END};

#define KERNEL(kernel, text, list, formulas, limit)                                                                  \
	{                                                                                                            \
		.name = #kernel, .summary = text, .tensors = list, .launch = kernel, .forms = formulas,              \
		.runs = limit                                                                                        \
	}

static const struct kernel kernels[] = {
	KERNEL(who_am_i, "each thread writes where it is", thread_ids_tensors, thread_ids_forms, blocks_fit),
	KERNEL(copy, "neighboring lanes, neighboring elements", copy_tensors, copy_forms, NULL),
	KERNEL(copy_strided, "neighboring lanes, elements a row apart", copy_tensors, copy_forms, NULL),
	KERNEL(copy_float4, "16 bytes per thread and instruction", copy_tensors, float4_forms, NULL),
	KERNEL(transpose, "through a tile in shared memory", transpose_tensors, transpose_forms, tiles_fit),
	KERNEL(transpose_padded, "the same without bank conflicts", transpose_tensors, transpose_forms, tiles_fit),
	KERNEL(sum, "a tree in shared memory, a barrier per level", sum_tensors, sum_forms, NULL),
	KERNEL(sum_shuffle, "shuffles in the warps, one barrier", sum_tensors, sum_forms, NULL),
};

/* ---- what the outputs should be ---- */

static const double most_elements = 0x1p26;
enum { LONGEST_RUNNING_SUM = 1 << 16, WARP_LANES = 32, THREAD_IDS = 5 };
static const char *const thread_ids[THREAD_IDS] = {"grid", "block", "thread", "warp", "lane"};

/* Rows to compare, of `all`: of an output that has a row of x in each of its rows, or a column. */
struct drawn {
	size_t all, count;
	size_t *rows; /* NULL: all */
};

static bool draw(const struct problem *problem, size_t all, struct expectations *expectations, struct drawn *drawn)
{
	*drawn = (struct drawn){all, all, NULL};
	if ((double)problem->rows * (double)problem->cols <= most_elements || all <= SAMPLED_ROWS)
		return true;
	drawn->rows = sample_rows(problem->seed, 1, all, &drawn->count);
	expectations_own(expectations, drawn->rows);
	return drawn->rows != NULL;
}

/* An output that has to be exact; NULL without memory. */
static struct expectation *expect_exactly(
	const char *tensor, const char *shape, const struct drawn *drawn, size_t length,
	struct expectations *expectations)
{
	double *values = calloc(drawn->count * length, sizeof *values);
	expectations_own(expectations, values);
	if (!values)
		return NULL;
	struct expectation *item = &expectations->items[expectations->count++];
	*item = (struct expectation){
		.tensor = tensor,
		.shape = shape,
		.row_count = drawn->count,
		.row_length = length,
		.rows = drawn->rows,
		.values = values};
	return item;
}

static size_t row_of(const struct expectation *item, size_t r)
{
	return item->rows ? item->rows[r] : r;
}

/* What who_am_i says of an element, in the order of `thread_ids`. */
static double thread_id_of(size_t element, size_t elements, size_t which)
{
	size_t thread = element % THREADS_PER_BLOCK;
	const size_t numbers[THREAD_IDS] = {
		ceil_div(elements, THREADS_PER_BLOCK), element / THREADS_PER_BLOCK, thread, thread / WARP_LANES,
		thread % WARP_LANES};
	return (double)numbers[which];
}

static bool expect_thread_ids(
	const struct problem *problem, const struct drawn *rows, struct expectations *expectations)
{
	size_t C = problem->cols, count = problem->rows * C;
	for (size_t p = 0; p < THREAD_IDS; p++) {
		struct expectation *item = expect_exactly(thread_ids[p], "RC", rows, C, expectations);
		if (!item)
			return false;
		double *values = (double *)item->values;
		for (size_t t = 0; t < item->row_count * C; t++)
			values[t] = thread_id_of(row_of(item, t / C) * C + t % C, count, p);
	}
	return true;
}

static bool expect_copies(
	const struct problem *problem, const float *x, const struct drawn *rows, const struct drawn *columns,
	struct expectations *expectations)
{
	size_t R = problem->rows, C = problem->cols;
	struct expectation *copy = expect_exactly("y", "RC", rows, C, expectations);
	struct expectation *transpose = copy ? expect_exactly("y", "CR", columns, R, expectations) : NULL;
	if (!transpose)
		return false;
	double *values = (double *)copy->values;
	for (size_t t = 0; t < copy->row_count * C; t++)
		values[t] = (double)x[row_of(copy, t / C) * C + t % C];
	values = (double *)transpose->values;
	for (size_t t = 0; t < transpose->row_count * R; t++)
		values[t] = (double)x[t % R * C + row_of(transpose, t / R)];
	return true;
}

/* Adds up a row in the order of the kernels; *sizes becomes the sum of the magnitudes of all results on the way. */
static double sum_of(const float *row, size_t cols, double *sizes)
{
	double partial[THREADS_PER_BLOCK] = {0.0};
	*sizes = 0.0;
	for (size_t j = 0; j < cols; j++)
		*sizes += fabs(partial[j % THREADS_PER_BLOCK] += (double)row[j]);
	for (size_t half = THREADS_PER_BLOCK / 2; half > 0; half /= 2)
		for (size_t t = 0; t < half; t++)
			*sizes += fabs(partial[t] += partial[t + half]);
	return partial[0];
}

static double running_sizes(const float *row, size_t cols)
{
	double sum = 0.0, sizes = 0.0;
	for (size_t j = 0; j < cols; j++)
		sizes += fabs(sum += (double)row[j]);
	return sizes;
}

static bool expect_sums(
	const struct problem *problem, const float *x, const struct drawn *rows, struct expectations *expectations)
{
	struct expectation *item = expect_exactly("y", "R", rows, 1, expectations);
	double *tolerances = item ? calloc(item->row_count, sizeof *tolerances) : NULL;
	expectations_own(expectations, tolerances);
	if (!tolerances)
		return false;
	item->tolerances = tolerances;
	for (size_t r = 0; r < item->row_count; r++) {
		const float *row = x + row_of(item, r) * problem->cols;
		double sizes;
		((double *)item->values)[r] = sum_of(row, problem->cols, &sizes);
		if (problem->cols <= LONGEST_RUNNING_SUM)
			sizes = fmax(sizes, running_sizes(row, problem->cols));
		tolerances[r] = TOLERANCE_EPS / 2.0 * sizes;
	}
	return true;
}

/* Of a kernel without inputs only the ids are looked at. */
static bool expect_all(const struct problem *problem, const float *x, struct expectations *expectations)
{
	struct drawn rows, columns;
	return draw(problem, problem->rows, expectations, &rows) &&
	       draw(problem, problem->cols, expectations, &columns) &&
	       expect_thread_ids(problem, &rows, expectations) &&
	       (!x || (expect_copies(problem, x, &rows, &columns, expectations) &&
	               expect_sums(problem, x, &rows, expectations)));
}

/*
 * The ids "grid", "block", "thread", "warp", "lane" [R, C], and, from the host values of x [R, C], "y" [R, C], its
 * transpose "y" [C, R] and the sums of its rows "y" [R]. All but the sums have to be exact.
 *
 * Each addition of a sum rounds its result by eps/2 of it at most, eps = 2^-23. With s_k all the results on the way,
 *
 *     tolerance(y_r) = eps/2 sum_k |s_k|
 *
 * for the larger of two orders (Higham, Accuracy and Stability, 4.2): one running sum, and 256 running sums of every 256th
 * element that meet in a tree. Of more than 2^16 columns only the second: nothing adds so many up one by one, and the
 * bound of a single running sum would let zeros pass.
 *
 * Beyond 2^26 elements, SAMPLED_ROWS rows of each output are compared.
 */
static int expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	*expectations = (struct expectations){.all_rows = problem->rows};
	if (!expect_all(problem, find_values(inputs, "x"), expectations)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	expectations->row_count = expectations->items[0].row_count;
	return 0;
}

/* ---- what who_am_i wrote, for some elements ---- */

/* What who_am_i wrote for some elements: the first ones of a warp, of a block and of the grid, and the last of all. */
enum { LOOKED_AT = 7 };

struct look {
	size_t count;
	struct {
		size_t element;
		float numbers[THREAD_IDS]; /* in the order of `thread_ids` */
	} threads[LOOKED_AT];
};

/* who_am_i, if its numbers are to be shown: only a verified one is launched again. */
static const struct kernel *kernel_of(const struct run_result *result)
{
	const struct kernel_result *first = &result->kernels[0];
	bool asked = result->kernel_count == 1 || result->options->verbose || result->options->json;
	bool is_it = strcmp(first->kernel->name, "who_am_i") == 0;
	return is_it && first->verified && asked && !result->options->sweep ? first->kernel : NULL;
}

static int look_at_threads(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct kernel *kernel = kernel_of(result);
	size_t elements = result->problem.rows * result->problem.cols;
	const size_t wanted[LOOKED_AT] = {0, 1, 31, 32, 255, 256, elements - 1};
	struct device_memory memory = {.count = 0};
	(void)inputs;
	if (!kernel)
		return 0;
	struct look *look = calloc(1, sizeof *look);
	if (!look)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for what the threads say");
	result->findings = look;
	for (size_t n = 0; n < THREAD_IDS; n++)
		device_allocate(&memory, thread_ids[n], elements * sizeof(float));
	CUDA_CHECK(kernel->launch(&result->problem, &memory));
	for (size_t w = 0; w < LOOKED_AT; w++) {
		size_t element = wanted[w];
		if (element >= elements || (look->count > 0 && element <= look->threads[look->count - 1].element))
			continue;
		look->threads[look->count].element = element;
		for (size_t n = 0; n < THREAD_IDS; n++)
			CUDA_CHECK(cudaMemcpy(
				&look->threads[look->count].numbers[n], device_find(&memory, thread_ids[n]) + element,
				sizeof(float), cudaMemcpyDeviceToHost));
		look->count++;
	}
	device_free_all(&memory);
	return 0;
}

static void add_json(struct json *json, const struct run_result *result)
{
	const struct look *look = result->findings;
	if (!look)
		return;
	json_open_array(json, "threads");
	for (size_t t = 0; t < look->count; t++) {
		json_open_object(json, NULL);
		json_count(json, "element", look->threads[t].element);
		for (size_t n = 0; n < THREAD_IDS; n++)
			json_number(json, thread_ids[n], (double)look->threads[t].numbers[n]);
		json_close_object(json);
	}
	json_close_array(json);
}

static void print_threads(const struct terminal *terminal, const struct run_result *result)
{
	const struct look *look = result->findings;
	char text[32];
	if (!look)
		return;
	struct table table = table_new("rrrrr");
	terminal_print(
		terminal, STYLE_BOLD, "\nWhich thread writes an element, in a grid of %s blocks\n",
		format_count((uint64_t)look->threads[0].numbers[0], text));
	table_row(&table, STYLE_DIM, "element|block|thread|warp|lane");
	for (size_t t = 0; t < look->count; t++) {
		const float *n = look->threads[t].numbers;
		table_row(
			&table, STYLE_PLAIN, "%s|%.0f|%.0f|%.0f|%.0f", format_count(look->threads[t].element, text),
			(double)n[1], (double)n[2], (double)n[3], (double)n[4]);
	}
	table_print(&table, terminal);
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"where the threads are,", "--kernel who_am_i"},
	{"predict the sectors of narrow rows,", "--cols 2 --kernel copy_strided"},
	{"what a missing barrier does, make no-barrier; then attention.md, cd ../01_naive && make", NULL},
};

/* Block-wide barriers that each block passes. */
static double barriers_per_block(const struct kernel_result *kernel)
{
	return (double)kernel->counts.barriers / (double)kernel->counts.total.blocks;
}

static double shared_requests(const struct kernel_result *kernel)
{
	const struct shared_traffic *shared = &kernel->counts.total.shared;
	uint64_t requests = shared->load_requests + shared->store_requests;
	return requests ? (double)requests : (double)NAN;
}

static const struct column counted_columns[] = {
	{"\nglobal\nrequests", .metric = METRIC_HBM_REQUESTS},
	{"\nsectors/\nrequest", .metric = METRIC_SECTORS_PER_REQUEST},
	{"\nshared\nrequests", .unit = UNIT_COUNT, .value = shared_requests},
	{"wave-\nfronts/\nstore", .metric = METRIC_WAVEFRONTS_PER_STORE},
	{"wave-\nfronts/\nload", .metric = METRIC_WAVEFRONTS_PER_LOAD},
	{"\nbarriers/\nblock", .unit = UNIT_COUNT, .value = barriers_per_block},
	{"\n\ntime", .metric = METRIC_MEDIAN_MS},
};

static const struct column timed_columns[] = {
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time", .metric = METRIC_MEDIAN_MS},
};

/* What was counted, of the kernels that were run. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *copy = result_counted(result, "copy"),
				   *strided = result_counted(result, "copy_strided"),
				   *transpose = result_counted(result, "transpose");
	if (copy && strided &&
	    metric_value(strided, METRIC_SECTORS_PER_REQUEST) > metric_value(copy, METRIC_SECTORS_PER_REQUEST))
		terminal_print(
			terminal, STYLE_BOLD,
			"\nA copy down the columns requests the same bytes; %.3g times as many are delivered.\n",
			metric_value(strided, METRIC_SECTORS_PER_REQUEST) /
				metric_value(copy, METRIC_SECTORS_PER_REQUEST));
	if (transpose && metric_value(transpose, METRIC_WAVEFRONTS_PER_LOAD) > 1.0)
		fprintf(terminal->out, "Without padding, a load of a column of the tile takes %.3g wavefronts.\n",
		        metric_value(transpose, METRIC_WAVEFRONTS_PER_LOAD));
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	print_threads(terminal, result);
	if (!result->device->simulated) {
		columns_print(
			terminal, result, "How long each kernel takes", false, "", timed_columns,
			sizeof timed_columns / sizeof timed_columns[0]);
		return;
	}
	if (result->options->verbose || result->kernel_count == 1)
		columns_print(
			terminal, result, "What each kernel requests", true, "", counted_columns,
			sizeof counted_columns / sizeof counted_columns[0]);
	print_finding(terminal, result);
}

static const struct chapter chapter = {
	.name = "00_gpu",
	.program = "gpu",
	.title = "What a GPU is: threads, memory, barriers.",
	.next = next,
	.small = "--rows 2 --cols 3 --input ramp",
	.options = OPTION_BIT(OPTION_ROWS) | OPTION_BIT(OPTION_COLS) | OPTIONS_COMMON,
	.defaults = {.rows = 256, .cols = 512, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_softmax,
	.expect = expect,
	.sweep = sweep_columns,
	.examine = look_at_threads,
	.add_json = add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
