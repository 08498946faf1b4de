/*
 * The inputs of a run on the host: every tensor that some kernel reads, once. From the chapter's own source (`provide`),
 * from --load, or generated (`fill`).
 */
#ifndef RUN_INPUTS_H
#define RUN_INPUTS_H

#include "chapter.h"

struct inputs {
	struct named_values list[MAX_TENSORS + 1]; /* ends with a NULL name */
	float *owned[MAX_TENSORS];                 /* the same values, freed by inputs_free */
	size_t count;
	const char *generated; /* the one that --load left out; NULL: none */
};

/*
 * Makes the inputs of all `kernels`. Files set the dimensions of *problem that no option gave; its scale is settled.
 * EXIT_USAGE for a file or a text that cannot be used, EXIT_ENVIRONMENT without memory. inputs_free frees what *inputs
 * holds, after an error, too.
 */
int inputs_make(
	const struct chapter *chapter, const struct kernel *kernels, size_t kernel_count,
	const struct options *options, struct problem *problem, struct inputs *inputs, struct error *error);

void inputs_free(struct inputs *inputs);

#endif
