/*
 * Launches a GPU would not accept: how much a block may ask for, and what is said about one that asked for too much.
 * A program that never looks at the error would go on as if the kernel had run; at its end it is told.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static struct {
	char last[400];  /* why; "" if the last launch was none */
	char first[400]; /* of those whose error nobody has looked at yet */
	uint64_t unseen;
} refusals;

/* ---- dynamic shared memory: by kernel, what was opted in to ---- */

struct limit {
	const void *kernel;
	size_t bytes;
};
static struct limit *limits;
static size_t limit_count;

cudaError_t sim_set_dynamic_shared_limit(const void *kernel, size_t bytes)
{
	const size_t most = sim_options()->gpu->shared_per_block,
		     fixed = sim_static_shared_bytes(sim_function_at(kernel));
	size_t i = 0;

	if (bytes + fixed > most) {
		const struct sim_function *function = sim_function_at(kernel);

		snprintf(refusals.last, sizeof refusals.last,
		         "%.100s was refused %zu bytes of dynamic shared memory in a block, "
		         "which may have %zu beside %zu static ones",
		         function != NULL ? function->name : "a kernel", bytes, most - fixed, fixed);
		return cudaErrorInvalidValue;
	}
	while (i < limit_count && limits[i].kernel != kernel)
		i++;
	if (i == limit_count) {
		limits = realloc(limits, ++limit_count * sizeof *limits);
		if (limits == NULL)
			abort();
	}
	limits[i] = (struct limit){kernel, bytes};
	return cudaSuccess;
}

size_t sim_dynamic_shared_limit(const void *kernel)
{
	const size_t fixed = sim_static_shared_bytes(sim_function_at(kernel));

	for (size_t i = 0; i < limit_count; i++)
		if (limits[i].kernel == kernel)
			return limits[i].bytes;
	return fixed < GPU_SHARED_WITHOUT_OPT_IN ? GPU_SHARED_WITHOUT_OPT_IN - fixed : 0;
}

/* ---- refusals ---- */

static cudaError_t __attribute__((format(printf, 3, 4)))
refuse(const struct launch *launch, cudaError_t error, const char *format, ...)
{
	va_list arguments;
	size_t used;

	snprintf(refusals.last, sizeof refusals.last, "%.100s<<<(%u,%u,%u), (%u,%u,%u)", launch->name, launch->grid.x,
	         launch->grid.y, launch->grid.z, launch->block.x, launch->block.y, launch->block.z);
	used = strlen(refusals.last);
	if (launch->dynamic_shared_bytes > 0) {
		snprintf(refusals.last + used, sizeof refusals.last - used, ", %zu", launch->dynamic_shared_bytes);
		used = strlen(refusals.last);
	}
	used += (size_t)snprintf(refusals.last + used, sizeof refusals.last - used, ">>> was refused: ");
	va_start(arguments, format);
	vsnprintf(refusals.last + used, sizeof refusals.last - used, format, arguments);
	va_end(arguments);
	if (refusals.unseen++ == 0)
		memcpy(refusals.first, refusals.last, sizeof refusals.first);
	return error;
}

const char *sim_refusal(void)
{
	return refusals.last[0] != '\0' ? refusals.last : NULL;
}

void sim_refusals_seen(void)
{
	refusals.unseen = 0;
}

void sim_report_refusals(void)
{
	if (refusals.unseen == 0)
		return;
	fflush(NULL);
	fprintf(stderr, "========= %s. The program never asked for the error", refusals.first);
	if (refusals.unseen > 1)
		fprintf(stderr, ", nor for %" PRIu64 " more", refusals.unseen - 1);
	fprintf(stderr, " (cudaGetLastError)\n");
}

/* ---- the checks ---- */

cudaError_t check_shape(const struct launch *launch)
{
	enum { MOST_ALONG_Z = 64, MOST_BLOCKS_ALONG_Y = 65535, MOST_BLOCKS_ALONG_X = 2147483647 };
	const dim3 grid = launch->grid, block = launch->block;

	if (grid.x == 0 || grid.y == 0 || grid.z == 0)
		return refuse(launch, cudaErrorInvalidConfiguration, "a grid without blocks");
	if (block.x == 0 || block.y == 0 || block.z == 0)
		return refuse(launch, cudaErrorInvalidConfiguration, "a block without threads");
	if (grid.x > MOST_BLOCKS_ALONG_X || grid.y > MOST_BLOCKS_ALONG_Y || grid.z > MOST_BLOCKS_ALONG_Y)
		return refuse(launch, cudaErrorInvalidConfiguration, "a grid may have (%d,%d,%d) blocks",
		              MOST_BLOCKS_ALONG_X, MOST_BLOCKS_ALONG_Y, MOST_BLOCKS_ALONG_Y);
	if (block.x > MAX_THREADS || block.y > MAX_THREADS || block.z > MOST_ALONG_Z)
		return refuse(launch, cudaErrorInvalidConfiguration, "a block may have (%d,%d,%d) threads",
		              MAX_THREADS, MAX_THREADS, MOST_ALONG_Z);
	if ((uint64_t)block.x * block.y * block.z > MAX_THREADS)
		return refuse(launch, cudaErrorInvalidConfiguration,
		              "%" PRIu64 " threads in a block, which may have %d",
		              (uint64_t)block.x * block.y * block.z, MAX_THREADS);
	return cudaSuccess;
}

cudaError_t check_shared_memory(const struct launch *launch, const void *kernel)
{
	const size_t fixed = sim_static_shared_bytes(launch->function);
	const size_t most = sim_dynamic_shared_limit(launch->function ? launch->function->address : kernel);

	if (fixed > GPU_SHARED_WITHOUT_OPT_IN)
		return refuse(launch, cudaErrorInvalidValue,
		              "%zu bytes of static shared memory in a block, which may have %d", fixed,
		              GPU_SHARED_WITHOUT_OPT_IN);
	if (launch->dynamic_shared_bytes > most)
		return refuse(
			launch, cudaErrorInvalidValue,
			"%zu bytes of dynamic shared memory in a block, which may have %zu beside %zu static ones, "
			"more only with cudaFuncSetAttribute",
			launch->dynamic_shared_bytes, most, fixed);
	refusals.last[0] = '\0';
	return cudaSuccess;
}
