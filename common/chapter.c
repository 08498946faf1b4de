#include "chapter.h"

#include <string.h>

const struct kernel *chapter_kernel(const struct chapter *chapter, const char *name)
{
	for (size_t i = 0; name && i < chapter->kernel_count; i++)
		if (strcmp(chapter->kernels[i].name, name) == 0)
			return &chapter->kernels[i];
	return NULL;
}

struct chapter chapter_with_modified(
	const struct chapter *chapter, const struct problem *problem, struct chapter_lists *lists)
{
	struct chapter own = *chapter;
	if (!chapter->modified)
		return own;
	struct kernel *modified = &lists->kernels[chapter->kernel_count];
	memcpy(lists->kernels, chapter->kernels, chapter->kernel_count * sizeof *chapter->kernels);
	*modified = *chapter->modified;
	tensors_of_problem(modified->tensors, problem, lists->tensors);
	modified->tensors = lists->tensors;
	own.kernels = lists->kernels;
	own.kernel_count++;
	own.modified = modified;
	if (!own.modifiers)
		own.modifiers = OPTIONS_MODIFIERS;
	own.options |= own.modifiers;
	return own;
}
