/*
 * The tensors of a kernel on the device: allocated, inputs copied there, outputs copied back.
 */
#ifndef RUN_TENSORS_H
#define RUN_TENSORS_H

#include "chapter.h"

/* Allocates every tensor of the kernel under its name and copies `inputs` (ends with a NULL name) into those it reads.
 * The caller frees with device_free_all. */
void tensors_allocate(
	const struct kernel *kernel, const struct problem *problem, const struct named_values *inputs,
	struct device_memory *memory);

/* A tensor's elements on the host, *values, freed by the caller. EXIT_ENVIRONMENT without memory. */
int tensor_fetch(
	const struct tensor *tensor, const struct problem *problem, const struct device_memory *memory,
	float **values, struct error *error);

/* Writes every output of the kernel into a directory of .npy files, as --save wants them. */
int tensors_save(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *directory, struct error *error);

#endif
