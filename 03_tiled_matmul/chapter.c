/* Chapter 03: what the harness has to know about the seven products. */
#include "tiled_matmul.h"

#include "harness.h"
#include "measure/timing.h"
#include "report/report.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- launching ---- */

static struct matmul arguments(const struct problem *problem, const struct device_memory *memory)
{
	return (struct matmul){
		.A = device_find(memory, "A"),
		.B = device_find(memory, "B"),
		.C = device_find(memory, "C"),
		.m = (int)problem->m,
		.n = (int)problem->n,
		.k = (int)problem->k,
	};
}

/* matmul_NAME as the harness wants it. */
#define LAUNCH(name)                                                                                                 \
	static cudaError_t name(const struct problem *problem, const struct device_memory *memory)                   \
	{                                                                                                            \
		return launch_matmul_##name(arguments(problem, memory));                                             \
	}
LAUNCH(naive)
LAUNCH(coalesced)
LAUNCH(tiled)
LAUNCH(padded)
LAUNCH(column)
LAUNCH(square)
LAUNCH(registers)

/* ---- closed forms ---- */

/*
 * Requested with tiles of C of so many rows and columns: A once for each column of tiles, B once for each row of them.
 * Footprint: each matrix once.
 */
static struct closed_forms forms(const struct problem *problem, uint64_t tile, const char *formula)
{
	uint64_t m = problem->m, n = problem->n, k = problem->k;
	uint64_t tile_rows = ceil_div(m, tile), tile_columns = ceil_div(n, tile);
	return (struct closed_forms){
		.predictions =
			{
				{PREDICTS_REQUESTED, m * k * tile_columns + k * n * tile_rows, m * n, formula},
				{PREDICTS_FOOTPRINT, m * k + k * n, m * n, "mk + kn + mn"},
			},
		.blocks = tile_rows * tile_columns,
		.flop = 2.0 * (double)m * (double)n * (double)k,
	};
}

/* For each element of C a row of A and a column of B; a block has a thread for each of its elements. */
static struct closed_forms element_forms(const struct problem *problem)
{
	struct closed_forms of = forms(problem, 1, "2mnk + mn");
	of.blocks = forms(problem, MATMUL_TILE, "").blocks;
	return of;
}

static struct closed_forms tiled_forms(const struct problem *problem)
{
	return forms(problem, MATMUL_TILE, "mk⌈n/32⌉ + kn⌈m/32⌉ + mn");
}

static struct closed_forms register_forms(const struct problem *problem)
{
	return forms(problem, MATMUL_REGISTER_TILE, "mk⌈n/128⌉ + kn⌈m/128⌉ + mn");
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "matmul_naive",
		.summary = "one thread per element, warps down the columns",
		.tensors = matmul_tensors,
		.launch = naive,
		.forms = element_forms,
	},
	{
		.name = "matmul_coalesced",
		.summary = "warps along the rows",
		.tensors = matmul_tensors,
		.launch = coalesced,
		.forms = element_forms,
	},
	{
		.name = "matmul_tiled",
		.summary = "32 x 32 tiles in shared memory",
		.tensors = matmul_tensors,
		.launch = tiled,
		.forms = tiled_forms,
	},
	{
		.name = "matmul_padded",
		.summary = "the same without bank conflicts",
		.tensors = matmul_tensors,
		.launch = padded,
		.forms = tiled_forms,
	},
	{
		.name = "matmul_column",
		.summary = "8 elements of a column per thread",
		.tensors = matmul_tensors,
		.launch = column,
		.forms = tiled_forms,
	},
	{
		.name = "matmul_square",
		.summary = "8 x 8 elements per thread, 128 x 128 tiles",
		.tensors = matmul_tensors,
		.launch = square,
		.forms = register_forms,
	},
	{
		.name = "matmul_registers",
		.summary = "the same, read 16 bytes at a time",
		.tensors = matmul_tensors,
		.launch = registers,
		.forms = register_forms,
	},
};

/*
 * ---- cuBLAS SGEMM on the same product: what the best kernel is measured against ----
 *
 * It is looked for when the program runs. Without it, on the simulated device, or with NO_PEER in the environment (loading it
 * takes seconds), there is no peer and nothing is missing.
 */

/* The four functions, as cublas_v2.h declares them; its enumerators are numbers that never change. */
enum { CUBLAS_SUCCESS = 0, CUBLAS_NOT_TRANSPOSED = 0, CUBLAS_FP32_NOT_TF32 = 2 /* CUBLAS_PEDANTIC_MATH */ };

struct cublas {
	void *library;
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_math_mode)(void *handle, int mode);
	int (*sgemm)(
		void *handle, int transposed_a, int transposed_b, int m, int n, int k, const float *alpha,
		const float *A, int lda, const float *B, int ldb, const float *beta, float *C, int ldc);
};

struct product {
	struct cublas cublas;
	void *handle;
	struct matmul matmul;
};

static bool find_function(const struct cublas *cublas, const char *name, void *pointer)
{
	return (*(void **)pointer = dlsym(cublas->library, name)) != NULL;
}

static bool open_cublas(struct cublas *cublas)
{
	static const char *const names[] = {
		"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
		"/usr/local/cuda/lib64/libcublas.so"};
	*cublas = (struct cublas){0};
	for (size_t i = 0; i < sizeof names / sizeof names[0] && !cublas->library; i++)
		cublas->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return cublas->library && find_function(cublas, "cublasCreate_v2", &cublas->create) &&
	       find_function(cublas, "cublasDestroy_v2", &cublas->destroy) &&
	       find_function(cublas, "cublasSetMathMode", &cublas->set_math_mode) &&
	       find_function(cublas, "cublasSgemm_v2", &cublas->sgemm);
}

/* cuBLAS counts columns first: in its eyes our row-major matrices are transposed, and (A B)^T = B^T A^T. */
static cudaError_t multiply(void *context)
{
	const struct product *product = context;
	const struct matmul of = product->matmul;
	const float one = 1.0f, zero = 0.0f;
	int status = product->cublas.sgemm(
		product->handle, CUBLAS_NOT_TRANSPOSED, CUBLAS_NOT_TRANSPOSED, of.n, of.m, of.k, &one, of.B, of.n,
		of.A, of.k, &zero, of.C, of.n);
	return status == CUBLAS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

static int time_peer(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	size_t m = result->problem.m, n = result->problem.n, k = result->problem.k;
	struct product product;
	bool wanted = !result->device->simulated && !getenv("NO_PEER");
	if (!wanted || !open_cublas(&product.cublas) || product.cublas.create(&product.handle) != CUBLAS_SUCCESS)
		return 0;
	struct time_summary *time = malloc(sizeof *time);
	if (!time)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the time of cuBLAS");
	product.cublas.set_math_mode(product.handle, CUBLAS_FP32_NOT_TF32);
	struct device_memory memory = {.count = 0};
	float *A = device_allocate(&memory, "A", m * k * sizeof(float));
	float *B = device_allocate(&memory, "B", k * n * sizeof(float));
	device_allocate(&memory, "C", m * n * sizeof(float));
	CUDA_CHECK(cudaMemcpy(A, find_values(inputs, "A"), m * k * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(B, find_values(inputs, "B"), k * n * sizeof(float), cudaMemcpyHostToDevice));
	product.matmul = arguments(&result->problem, &memory);

	struct time_plan plan = {result->options->warmup, result->options->repeat, 1.0};
	*time = time_measure(result->device, &plan, multiply, &product);
	result->findings = time;
	device_free_all(&memory);
	product.cublas.destroy(product.handle);
	return 0;
}

static void add_json(struct json *json, const struct run_result *result)
{
	const struct time_summary *time = result->findings;
	if (!time)
		return;
	json_open_array(json, "peers");
	json_open_object(json, NULL);
	json_string(json, "name", "cublas_sgemm");
	report_json_time(json, &(const struct kernel_result){.time = *time});
	json_close_object(json);
	json_close_array(json);
}

static void print_peer(const struct terminal *terminal, const struct run_result *result)
{
	const struct time_summary *peer = result->findings;
	char text[32];
	if (!peer)
		return;
	const struct kernel_result *last = &result->kernels[result->kernel_count - 1];
	fprintf(terminal->out, "\ncuBLAS SGEMM, fp32: %s", format_milliseconds(peer->median_ms, text));
	if (last->time.runs)
		fprintf(terminal->out, "; %s reaches %.0f %% of it", last->kernel->name,
		        100.0 * peer->median_ms / last->time.median_ms);
	fputc('\n', terminal->out);
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict the cost of ragged tiles,", "--m 257 --n 257 --k 257"},
	{"predict what tiles save of a single row,", "--m 1"},
	{"attention without S, cd ../04_fa1 && make", NULL},
};

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_reads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / metric_value(kernel, METRIC_FMA_PER_LOAD);
}

static const struct column steps[] = {
	{"bytes\nrequested", .metric = METRIC_REQUESTED_BYTES},
	{"sectors\n/request", .metric = METRIC_SECTORS_PER_REQUEST},
	{"wavefronts\n/load", .metric = METRIC_WAVEFRONTS_PER_LOAD},
	{"\n/store", .metric = METRIC_WAVEFRONTS_PER_STORE},
	{"\nideal", .metric = METRIC_IDEAL_PER_REQUEST},
	{"loads\n/FMA", .unit = UNIT_RATIO, .value = shared_reads_per_fma},
	{"busy\nSMs", .metric = METRIC_BUSY_SMS},
	{"time\nthis CPU", .metric = METRIC_MEDIAN_MS},
};

/* A GPU counts nothing: no empty columns. */
static const struct column times[] = {
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time", .metric = METRIC_MEDIAN_MS},
	{"TFLOP/s", .metric = METRIC_TERAFLOPS},
};

/* Of tiles with few rows or columns most lanes have nothing to store. */
static const double conflicts_to_see = 8.0;

/* What was counted, of the kernels that were run. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *naive = result_counted(result, "matmul_naive"),
				   *tiled = result_counted(result, "matmul_tiled"),
				   *registers = result_counted(result, "matmul_registers");
	double a_store = tiled ? metric_value(tiled, METRIC_WAVEFRONTS_PER_STORE) : 0.0;
	if (naive && tiled && registers) {
		double first = metric_value(naive, METRIC_REQUESTED_BYTES);
		terminal_print(
			terminal, STYLE_BOLD, "\nTiles cut the bytes requested %.3g-fold, register tiles %.3g-fold",
			first / metric_value(tiled, METRIC_REQUESTED_BYTES),
			first / metric_value(registers, METRIC_REQUESTED_BYTES));
		fprintf(terminal->out, ".\n");
	}
	if (a_store > conflicts_to_see)
		fprintf(terminal->out,
		        "Half of the stores of matmul_tiled put a column into A's tile: 32 lanes in one\n"
		        "bank, 32 wavefronts. Those of B take one: %.3g on average. With padding all do.\n",
		        a_store);
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	if (result->device->simulated) {
		if (result->options->verbose || result->kernel_count == 1)
			columns_print(
				terminal, result, "Each step: global memory, then shared memory", false, "matmul_",
				steps, sizeof steps / sizeof steps[0]);
		print_finding(terminal, result);
	} else {
		columns_print(
			terminal, result, "Each step and its time", false, "matmul_", times,
			sizeof times / sizeof times[0]);
	}
	print_peer(terminal, result);
}

static const struct chapter chapter = {
	.name = "03_tiled_matmul",
	.program = "tiled_matmul",
	.title = "The tiled matrix product: fetch once, use many times.",
	.next = next,
	.small = "--m 2 --n 2 --k 2 --input ramp",
	.options = OPTION_BIT(OPTION_M) | OPTION_BIT(OPTION_N) | OPTION_BIT(OPTION_K) | OPTIONS_COMMON,
	.defaults = {.m = 256, .n = 256, .k = 256, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_matmul,
	.expect = matmul_expect,
	.sweep = sweep_matmul,
	.examine = time_peer,
	.add_json = add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
