#include "chapter.h"

#include <string.h>

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
