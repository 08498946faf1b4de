/* Chapter 03: what the harness has to know about the seven products. */
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

static cudaError_t column(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_column(arguments(problem, memory));
}

static cudaError_t square(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_square(arguments(problem, memory));
}

static cudaError_t registers(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_registers(arguments(problem, memory));
}

static const struct kernel kernels[] = {
	{
		.name = "matmul_naive",
		.summary = "one thread per element, warps down the columns",
		.tensors = matmul_tensors,
		.launch = naive,
		.forms = matmul_element_forms,
	},
	{
		.name = "matmul_coalesced",
		.summary = "warps along the rows",
		.tensors = matmul_tensors,
		.launch = coalesced,
		.forms = matmul_element_forms,
	},
	{
		.name = "matmul_tiled",
		.summary = "32 x 32 tiles in shared memory",
		.tensors = matmul_tensors,
		.launch = tiled,
		.forms = matmul_tiled_forms,
	},
	{
		.name = "matmul_padded",
		.summary = "the same without bank conflicts",
		.tensors = matmul_tensors,
		.launch = padded,
		.forms = matmul_tiled_forms,
	},
	{
		.name = "matmul_column",
		.summary = "8 elements of a column per thread",
		.tensors = matmul_tensors,
		.launch = column,
		.forms = matmul_tiled_forms,
	},
	{
		.name = "matmul_square",
		.summary = "8 x 8 elements per thread, 128 x 128 tiles",
		.tensors = matmul_tensors,
		.launch = square,
		.forms = matmul_registers_forms,
	},
	{
		.name = "matmul_registers",
		.summary = "the same, read 16 bytes at a time",
		.tensors = matmul_tensors,
		.launch = registers,
		.forms = matmul_registers_forms,
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
