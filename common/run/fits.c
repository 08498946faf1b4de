#include "run/fits.h"

#include "support/number.h"

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
			reason, size, "needs %s of memory, the device has %s%s", format_bytes(bytes, needed),
			format_bytes(most, available), device->is_small ? ", a sixteenth of this machine's" : "");
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
			reason, size, "these tiles need %s bytes of shared memory per block, the limit of %s is %s",
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

/* --tile-q and --tile-k, as they were given and as the kernel has them. */
struct tile_option {
	enum option_name option;
	const char *name;
	size_t asked, used;
};

static void compare_tiles(
	const struct kernel *kernel, const struct options *options, const struct problem *problem,
	struct tile_option tiles[2])
{
	struct closed_forms forms = kernel->forms(problem);
	tiles[0] = (struct tile_option){OPTION_TILE_Q, "tile-q", problem->tile_q, forms.tile_q};
	tiles[1] = (struct tile_option){OPTION_TILE_K, "tile-k", problem->tile_k, forms.tile_k};
	for (int i = 0; i < 2; i++)
		if (!(options->given & OPTION_BIT(tiles[i].option)))
			tiles[i].asked = tiles[i].used;
}

uint64_t tiles_not_taken(const struct kernel *kernel, const struct options *options, const struct problem *problem)
{
	struct tile_option tiles[2];
	uint64_t not_taken = 0;
	compare_tiles(kernel, options, problem, tiles);
	for (int i = 0; i < 2; i++)
		if (tiles[i].asked != tiles[i].used)
			not_taken |= OPTION_BIT(tiles[i].option);
	return not_taken;
}

void tell_other_tiles(
	FILE *out, const char *program, const struct kernel *kernel, const struct options *options,
	const struct problem *problem)
{
	struct tile_option tiles[2];
	compare_tiles(kernel, options, problem, tiles);
	for (int i = 0; i < 2; i++) {
		if (tiles[i].asked == tiles[i].used)
			continue;
		fprintf(out, "%s: --%s %zu: not for %s, which ", program, tiles[i].name, tiles[i].asked,
		        kernel->name);
		if (tiles[i].used)
			fprintf(out, "is compiled with tiles of %zu x %zu\n", tiles[0].used, tiles[1].used);
		else
			fprintf(out, "has no tiles\n");
	}
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
