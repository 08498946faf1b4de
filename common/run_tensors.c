#include "run_tensors.h"

#include "problem/load.h"

#include <stdlib.h>

static size_t bytes_of(const struct problem *problem, const struct tensor *tensor)
{
	return tensor_elements(problem, tensor) * sizeof(float);
}

static void copy_starts(const struct packing *packing, int *starts)
{
	int values[MOST_SEQUENCES + 1] = {0};
	for (size_t s = 0; s < packing->count; s++)
		values[s + 1] = (int)packing->ends[s];
	CUDA_CHECK(cudaMemcpy(starts, values, (packing->count + 1) * sizeof *values, cudaMemcpyHostToDevice));
}

void tensors_allocate(
	const struct kernel *kernel, const struct problem *problem, const struct named_values *inputs,
	struct device_memory *memory)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t bytes = bytes_of(problem, tensor);
		float *pointer = device_allocate(memory, tensor->name, bytes);
		if (tensor_is_input(tensor))
			CUDA_CHECK(cudaMemcpy(
				pointer, find_values(inputs, tensor->name), bytes, cudaMemcpyHostToDevice));
		if (tensor->role == TENSOR_STARTS)
			copy_starts(&problem->packing, (int *)pointer);
	}
}

int tensor_fetch(
	const struct tensor *tensor, const struct problem *problem, const struct device_memory *memory,
	float **values, struct error *error)
{
	size_t bytes = bytes_of(problem, tensor);
	if (!(*values = malloc(bytes)))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
	CUDA_CHECK(cudaMemcpy(*values, device_find(memory, tensor->name), bytes, cudaMemcpyDeviceToHost));
	return 0;
}

int tensors_save(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *directory, struct error *error)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
		float *values;
		if (!tensor_is_output(tensor))
			continue;
		if (tensor_fetch(tensor, problem, memory, &values, error) != 0)
			return error->exit_code;
		int status = save_tensor(directory, tensor->name, values, shape, rank, error);
		free(values);
		if (status != 0)
			return status;
	}
	return 0;
}
