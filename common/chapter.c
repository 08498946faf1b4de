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
	const struct chapter *chapter, const struct problem *problem, struct kernel kernels[MAX_KERNELS])
{
	struct chapter own = *chapter;
	if (!chapter->modified)
		return own;
	memcpy(kernels, chapter->kernels, chapter->kernel_count * sizeof *kernels);
	kernels[chapter->kernel_count] = *chapter->modified;
	if (problem->sink)
		kernels[chapter->kernel_count].tensors = chapter->sink_tensors;
	own.kernels = kernels;
	own.kernel_count++;
	own.modified = &kernels[chapter->kernel_count];
	if (!own.modifiers)
		own.modifiers = OPTIONS_MODIFIERS;
	own.options |= own.modifiers;
	return own;
}
