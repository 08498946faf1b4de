/* Chapter 00: what the harness has to know about its eight kernels. */
#include "expect.h"
#include "forms.h"
#include "gpu.h"
#include "lesson.h"
#include "look.h"

#include "harness.h"

#define OUTPUT(name, shape)                                                                                          \
	{                                                                                                            \
		name, shape, TENSOR_OUTPUT, false                                                                    \
	}
#define INPUT(name, shape)                                                                                           \
	{                                                                                                            \
		name, shape, TENSOR_INPUT, false                                                                     \
	}
#define END INPUT(NULL, NULL)

static const struct tensor place_tensors[] = {OUTPUT("grid", "RC"), OUTPUT("block", "RC"), OUTPUT("thread", "RC"),
                                              OUTPUT("warp", "RC"), OUTPUT("lane", "RC"),  END};
static const struct tensor copy_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "RC"), END};
static const struct tensor transpose_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "CR"), END};
static const struct tensor sum_tensors[] = {INPUT("x", "RC"), OUTPUT("y", "R"), END};

static cudaError_t who_am_i(const struct problem *problem, const struct device_memory *memory)
{
	return launch_who_am_i((struct places){
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

#define KERNEL(name, summary, tensors, forms, runs)                                                                  \
	{                                                                                                            \
#name, summary, tensors, name, NULL, forms, runs                                                     \
	}

static const struct kernel kernels[] = {
	KERNEL(who_am_i, "each thread writes where it is", place_tensors, place_forms, places_fit),
	KERNEL(copy, "neighboring lanes, neighboring elements", copy_tensors, copy_forms, NULL),
	KERNEL(copy_strided, "neighboring lanes, elements a row apart", copy_tensors, copy_forms, NULL),
	KERNEL(copy_float4, "16 bytes per thread and instruction", copy_tensors, float4_forms, NULL),
	KERNEL(transpose, "through a tile in shared memory", transpose_tensors, transpose_forms, tiles_fit),
	KERNEL(transpose_padded, "the same without bank conflicts", transpose_tensors, transpose_forms, tiles_fit),
	KERNEL(sum, "a tree in shared memory, a barrier per level", sum_tensors, sum_forms, NULL),
	KERNEL(sum_shuffle, "shuffles in the warps, one barrier", sum_tensors, sum_forms, NULL),
};

static const struct chapter chapter = {
	.name = "00_gpu",
	.program = "gpu",
	.title = "What a GPU is: threads, memory, barriers.",
	.next = lesson_next,
	.small = "--rows 2 --cols 3 --input ramp",
	.options = OPTION_BIT(OPTION_ROWS) | OPTION_BIT(OPTION_COLS) | OPTIONS_COMMON,
	.defaults = {.rows = 256, .cols = 512, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_softmax,
	.expect = places_expect,
	.sweep = sweep_columns,
	.examine = look_examine,
	.add_json = look_add_json,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
