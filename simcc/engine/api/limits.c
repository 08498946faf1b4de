/* Launches a GPU would not accept: how much a block may ask for. */
#include <stdlib.h>

#include "api/api.h"

/* ---- dynamic shared memory: by kernel, what was opted in to ---- */

struct limit {
	const void *kernel;
	size_t bytes;
};
static struct limit *limits;
static size_t limit_count, limit_capacity;

cudaError_t sim_set_dynamic_shared_limit(const void *kernel, size_t bytes)
{
	const struct sim_function *function = sim_function_at(kernel);
	const size_t most = sim_options()->gpu->shared_per_block, fixed = sim_static_shared_bytes(function);
	if (bytes + fixed > most) {
		set_refusal(
			"%.100s was refused %zu bytes of dynamic shared memory in a block, "
			"which may have %zu beside %zu static ones",
			function ? function->name : "a kernel", bytes, most - fixed, fixed);
		return cudaErrorInvalidValue;
	}
	size_t i = 0;
	while (i < limit_count && limits[i].kernel != kernel)
		i++;
	if (i == limit_count)
		need_room(&limits, &limit_capacity, ++limit_count, sizeof *limits);
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

/* ---- the checks ---- */

/* Returns `error` from the function it stands in. */
#define REFUSE(error, ...)                                                                                           \
	do {                                                                                                         \
		report_refusal(request, error, __VA_ARGS__);                                                         \
		return error;                                                                                        \
	} while (0)

cudaError_t refuse_stream(const struct request *request)
{
	REFUSE(cudaErrorInvalidResourceHandle, "its stream was destroyed, or never created");
}

cudaError_t check_shape(const struct request *request)
{
	enum { MOST_ALONG_Z = 64, MOST_BLOCKS_ALONG_Y = 65535, MOST_BLOCKS_ALONG_X = 2147483647 };
	const cudaError_t error = cudaErrorInvalidConfiguration;
	const dim3 grid = request->grid, block = request->block;
	if (grid.x == 0 || grid.y == 0 || grid.z == 0)
		REFUSE(error, "a grid without blocks");
	if (block.x == 0 || block.y == 0 || block.z == 0)
		REFUSE(error, "a block without threads");
	if (grid.x > MOST_BLOCKS_ALONG_X || grid.y > MOST_BLOCKS_ALONG_Y || grid.z > MOST_BLOCKS_ALONG_Y)
		REFUSE(error, "a grid may have at most x %d, y %d, z %d blocks", MOST_BLOCKS_ALONG_X,
		       MOST_BLOCKS_ALONG_Y, MOST_BLOCKS_ALONG_Y);
	const double threads = (double)block.x * block.y * block.z; /* up to 2^96 */
	if (threads > MAX_THREADS)
		REFUSE(error, "%.0f threads in a block, which may have %d", threads, MAX_THREADS);
	if (block.z > MOST_ALONG_Z)
		REFUSE(error, "%u threads along z of a block, which may have %d there", block.z, MOST_ALONG_Z);
	return cudaSuccess;
}

cudaError_t check_shared_memory(const struct request *request, const void *kernel)
{
	const cudaError_t error = cudaErrorInvalidValue;
	const size_t fixed = sim_static_shared_bytes(request->function);
	const size_t most = sim_dynamic_shared_limit(request->function ? request->function->address : kernel);
	if (fixed > GPU_SHARED_WITHOUT_OPT_IN)
		REFUSE(error, "%zu bytes of static shared memory in a block, which may have %d", fixed,
		       GPU_SHARED_WITHOUT_OPT_IN);
	if (request->dynamic_shared_bytes > most)
		REFUSE(error,
		       "%zu bytes of dynamic shared memory in a block, which may have %zu beside %zu static ones, "
		       "more only with cudaFuncSetAttribute",
		       request->dynamic_shared_bytes, most, fixed);
	set_refusal(NULL);
	return cudaSuccess;
}
