#include "chapter.h"

#include "attention.h"

#include <string.h>

cudaError_t kernel_launch(
	const struct kernel *kernel, const struct closed_forms *forms, const struct problem *problem,
	const struct device_memory *memory)
{
	if (kernel->launch)
		return kernel->launch(problem, memory);
	return kernel->launch_attention((struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.LSE = device_find(memory, "LSE"),
		.l = device_find(memory, "l"),
		.m = device_find(memory, "m"),
		.S = device_find(memory, "S"),
		.P = device_find(memory, "P"),
		.B = (int)problem->batch,
		.H = (int)problem->heads,
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.tile = {(int)forms->tile_q, (int)forms->tile_k},
	});
}

const struct kernel *chapter_kernel(const struct chapter *chapter, const char *name)
{
	for (size_t i = 0; name && i < chapter->kernel_count; i++)
		if (strcmp(chapter->kernels[i].name, name) == 0)
			return &chapter->kernels[i];
	return NULL;
}

struct chapter chapter_of_problem(
	const struct chapter *chapter, const struct problem *problem, struct chapter_lists *lists)
{
	struct chapter own = *chapter;
	for (size_t k = 0; k < chapter->kernel_count; k++) {
		lists->kernels[k] = chapter->kernels[k];
		tensors_of_problem(chapter->kernels[k].tensors, problem, lists->tensors[k]);
		lists->kernels[k].tensors = lists->tensors[k];
	}
	own.kernels = lists->kernels;
	return own;
}
