#include "fits.h"

#include "report/table.h"

#include <limits.h>

static bool has_memory(
	const struct kernel *kernel, const struct problem *problem, const struct device *device, char *reason,
	size_t size)
{
	double bytes = 0.0, most = (double)device->memory_bytes;
	char needed[32], available[32];
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
		bytes += tensor_bytes(problem, tensor);
	if (bytes > most)
		snprintf(
			reason, size, "needs %s of memory, the device has %s", format_bytes(bytes, needed),
			format_bytes(most, available));
	return bytes <= most;
}

static bool has_blocks(const struct closed_forms *forms, char *reason, size_t size)
{
	char asked[32];
	if (forms->blocks > INT_MAX)
		snprintf(
			reason, size, "it takes a grid of %s blocks, the limit is %d",
			format_count(forms->blocks, asked), INT_MAX);
	return forms->blocks <= INT_MAX;
}

static bool has_shared_memory(
	const struct closed_forms *forms, const struct device *device, char *reason, size_t size)
{
	int limit = 0;
	char asked[32], allowed[32];
	CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	if (forms->shared_bytes > (size_t)limit)
		snprintf(
			reason, size,
			"these tiles ask for %s bytes of shared memory per block, the limit of %s is %s",
			format_count(forms->shared_bytes, asked), device->gpu ? device->gpu->title : "this GPU",
			format_count((uint64_t)limit, allowed));
	return forms->shared_bytes <= (size_t)limit;
}

bool kernel_fits(
	const struct kernel *kernel, const struct problem *problem, const struct device *device,
	struct closed_forms *forms, char *reason, size_t size)
{
	*forms = (struct closed_forms){0};
	if (!has_memory(kernel, problem, device, reason, size))
		return false;
	*forms = kernel->forms(problem);
	return (!kernel->runs || kernel->runs(problem, reason, size)) && has_blocks(forms, reason, size) &&
	       has_shared_memory(forms, device, reason, size);
}

int refuse_what_fits_nowhere(
	const struct kernel *kernels, size_t kernel_count, const struct problem *problem, const struct device *device,
	struct error *error)
{
	struct closed_forms forms;
	char reason[200];
	for (size_t i = 0; i < kernel_count; i++)
		if (kernel_fits(&kernels[i], problem, device, &forms, reason, sizeof reason))
			return 0;
	return error_set(error, EXIT_ENVIRONMENT, "%s: %s", kernels[kernel_count - 1].name, reason);
}
