#include "run/tensors.h"

#include "problem/load.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs, on the host ---- */

static int generate(
	const struct chapter *chapter, const struct problem *problem, const struct tensor *tensor, float **values,
	struct error *error)
{
	if (!(*values = malloc(tensor_elements(problem, tensor) * sizeof **values)))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
	chapter->fill(problem, tensor->name, *values);
	return 0;
}

static int load(
	const struct chapter *chapter, struct problem *problem, const struct tensor *tensor, uint64_t *fixed,
	float **values, struct error *error)
{
	const char *masked = chapter->may_be_minus_infinity;
	bool may_be_minus_infinity = masked && strcmp(masked, tensor->name) == 0;
	return load_tensor(
		problem->load, tensor->name, tensor->shape, may_be_minus_infinity, problem, fixed, values, error);
}

static bool is_left_out(const struct problem *problem, const struct tensor *tensor)
{
	return tensor->role == TENSOR_GRADIENT && !tensor_file_exists(problem->load, tensor->name);
}

static int make_input(
	const struct chapter *chapter, const struct options *options, struct problem *problem,
	const struct tensor *tensor, uint64_t *fixed, struct inputs *inputs, float **values, struct error *error)
{
	if (chapter->provide && chapter->provide(options, tensor->name, problem, fixed, values, error) != 0)
		return error->exit_code;
	if (*values)
		return 0;
	if (problem->load && !is_left_out(problem, tensor))
		return load(chapter, problem, tensor, fixed, values, error);
	if (problem->load)
		inputs->generated = tensor->name;
	return generate(chapter, problem, tensor, values, error);
}

int inputs_make(
	const struct chapter *chapter, const struct kernel *kernels, size_t kernel_count,
	const struct options *options, struct problem *problem, struct inputs *inputs, struct error *error)
{
	uint64_t fixed = options->given;
	bool alike = problem->kv_heads == problem->heads;
	*inputs = (struct inputs){.count = 0};
	for (size_t i = 0; i < kernel_count; i++)
		for (const struct tensor *tensor = kernels[i].tensors; tensor->name; tensor++) {
			if (!tensor_is_input(tensor) || find_values(inputs->list, tensor->name))
				continue;
			float *values = NULL;
			if (make_input(chapter, options, problem, tensor, &fixed, inputs, &values, error) != 0) {
				free(values);
				return error->exit_code;
			}
			inputs->owned[inputs->count] = values;
			inputs->list[inputs->count++] = (struct named_values){tensor->name, values};
		}
	if (alike && !(fixed & OPTION_BIT(OPTION_KV_HEADS)))
		problem->kv_heads = problem->heads; /* those of files that do not say it of keys */
	problem_fill_defaults(problem);
	return 0;
}

void inputs_free(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		free(inputs->owned[i]);
	*inputs = (struct inputs){.count = 0};
}

/* ---- a kernel's tensors, on the device ---- */

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
		if (tensor_is_output(tensor))
			device_watch(memory, tensor->name);
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
	const cudaError_t status =
		cudaMemcpy(*values, device_find(memory, tensor->name), bytes, cudaMemcpyDeviceToHost);
	if (status == cudaSuccess)
		return 0;
	free(*values);
	*values = NULL;
	return error_set(
		error, EXIT_VERIFICATION, "%s cannot be read after the launch: %s (%s)", tensor->name,
		cudaGetErrorName(status), cudaGetErrorString(status));
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
