/* Chapter 03: what the harness has to know about the five products. */
#include "lesson.h"
#include "tiled_matmul.h"

#include "harness.h"

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

static cudaError_t naive(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_naive(arguments(problem, memory));
}

static cudaError_t coalesced(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_coalesced(arguments(problem, memory));
}

static cudaError_t tiled(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_tiled(arguments(problem, memory));
}

static cudaError_t padded(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_padded(arguments(problem, memory));
}

static cudaError_t registers(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_registers(arguments(problem, memory));
}

/*
 * Requested with tiles of C of so many rows and columns: A once for each column of tiles, B once for each row of them.
 * Footprint: each matrix once.
 */
static struct closed_forms forms(const struct problem *problem, uint64_t tile, const char *formula)
{
	uint64_t m = problem->m, n = problem->n, k = problem->k;
	uint64_t tile_rows = ceil_div(m, tile), tile_columns = ceil_div(n, tile);
	return (struct closed_forms){
		.models =
			{
				{MODEL_REQUESTED, m * k * tile_columns + k * n * tile_rows, m * n, formula},
				{MODEL_FOOTPRINT, m * k + k * n, m * n, "mk + kn + mn"},
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

static struct closed_forms registers_forms(const struct problem *problem)
{
	return forms(problem, MATMUL_REGISTER_TILE, "mk⌈n/128⌉ + kn⌈m/128⌉ + mn");
}

static const struct kernel kernels[] = {
	{
		.name = "matmul_naive",
		.summary = "a thread an element, warps down the columns",
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
		.name = "matmul_registers",
		.summary = "128 x 128 tiles, 8 x 8 elements a thread",
		.tensors = matmul_tensors,
		.launch = registers,
		.forms = registers_forms,
	},
};

static const struct chapter chapter = {
	.name = "03_tiled_matmul",
	.program = "tiled_matmul",
	.title = "The tiled matrix product: fetch once, use many times.",
	.next = lesson_next,
	.small = "--m 2 --n 2 --k 2 --input ramp",
	.options = OPTION_BIT(OPTION_M) | OPTION_BIT(OPTION_N) | OPTION_BIT(OPTION_K) | OPTIONS_COMMON,
	.defaults = {.m = 256, .n = 256, .k = 256, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_matmul,
	.expect = matmul_expect,
	.sweep = sweep_matmul,
	.examine = peer_examine,
	.add_json = peer_add_json,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
