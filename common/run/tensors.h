/*
 * The tensors of a run. The inputs on the host: every tensor that some kernel reads, once, from the chapter's own source
 * (`provide`), from --load, or generated (`fill`). The tensors of a kernel on the device: allocated, inputs copied there,
 * outputs copied back.
 */
#ifndef RUN_TENSORS_H
#define RUN_TENSORS_H

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

/* Allocates every tensor of the kernel under its name and copies `inputs` (ends with a NULL name) into those it reads.
 * The caller frees with device_free_all. */
void tensors_allocate(
	const struct kernel *kernel, const struct problem *problem, const struct named_values *inputs,
	struct device_memory *memory);

/* A tensor's elements on the host, *values, freed by the caller; NULL of a tensor that is no longer there (EXIT_VERIFICATION) and
 * without memory (EXIT_ENVIRONMENT). */
int tensor_fetch(
	const struct tensor *tensor, const struct problem *problem, const struct device_memory *memory,
	float **values, struct error *error);

/* Writes every output of the kernel into a directory of .npy files, as --save wants them. */
int tensors_save(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *directory, struct error *error);

#endif
