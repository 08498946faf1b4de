/* The CUDA runtime API: launches, attributes of kernels, occupancy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"

/* A launch is a call of cudaPushCallConfiguration, then of the kernel's stub, which takes back the configuration and calls
 * cudaLaunchKernel. */
struct place {
	const char *file;
	unsigned line;
};
struct configuration {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
	struct place place;
};
static __thread struct {
	struct configuration *pushed; /* the arguments of a launch may launch */
	size_t count, capacity;
	struct place place; /* of the launch that comes next */
	bool popped;        /* it is one of <<<>>> */
} configurations;

/* In front of each launch. Returns how many are under way: what stands in its parentheses may launch. */
unsigned sim_launch_from(const char *file, unsigned line)
{
	configurations.place = (struct place){file, line};
	configurations.popped = false;
	return (unsigned)configurations.count;
}

/* Behind it: whose stub has not taken the configuration was a function of the host, by its address. */
void sim_launched(unsigned before)
{
	if (configurations.count <= before)
		return;
	const struct place place = configurations.pushed[before].place;
	fflush(stdout);
	fprintf(stderr, "%s:%u: error: a function that is no kernel was launched: it has no __global__\n", place.file,
	        place.line);
	exit(1);
}

/* The first statement of a kernel's stub, which a program may call by its address. */
void sim_enter_stub(const char *kernel)
{
	if (configurations.count > 0)
		return;
	say_of_call("error: kernel '%s' was called like a function: it needs <<<grid, block>>>\n", kernel);
	_exit(1);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
	need_room(
		&configurations.pushed, &configurations.capacity, configurations.count + 1,
		sizeof *configurations.pushed);
	configurations.pushed[configurations.count++] =
		(struct configuration){grid, block, shared_bytes, stream, configurations.place};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	const struct configuration *top = &configurations.pushed[--configurations.count];
	*grid = top->grid;
	*block = top->block;
	*shared_bytes = top->shared_bytes;
	*(cudaStream_t *)stream = top->stream;
	configurations.place = top->place;
	configurations.popped = true;
	return cudaSuccess;
}

static cudaError_t launch(const struct sim_stub *stub, struct request *request, void **arguments, cudaStream_t stream)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	RETURN_IF_STICKY();
	const struct invocation invocation = {stub->invoke, arguments};
	cudaError_t error = is_stream(stream) ? check_shape(request) : refuse_stream(request);
	if (error != cudaSuccess || sim_unseen_fault() != cudaSuccess)
		return sim_return(error);
	pthread_mutex_lock(&one_at_a_time);
	request->function = sim_function_at(stub->kernel);
	error = check_shared_memory(request, stub->kernel);
	const cudaError_t fault = error == cudaSuccess ? run_kernel(request, &invocation) : cudaSuccess;
	if (fault != cudaSuccess)
		sim_set_fault(fault);
	error = sim_return(error);
	pthread_mutex_unlock(&one_at_a_time);
	return error;
}

cudaError_t cudaLaunchKernel(
	const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream)
{
	const struct sim_stub *stub = sim_stub_at(kernel);
	const bool is_returned = !configurations.popped;
	const struct place place = configurations.place;
	configurations.popped = false; /* the next one may be called by code that says nothing */
	configurations.place = (struct place){NULL, 0};
	if (stub) {
		struct request request = {
			.name = stub->name,
			.file = place.file ? place.file : "",
			.line = place.line,
			.grid = grid,
			.block = block,
			.dynamic_shared_bytes = shared_bytes};
		const cudaError_t error = launch(stub, &request, arguments, stream);
		if (is_returned)
			cudaPeekAtLastError(); /* nobody need ask for it */
		return error;
	}
	RETURN_IF_STICKY();
	say_of_call("cudaLaunchKernel: this is no kernel's address\n");
	return sim_return(cudaErrorInvalidDeviceFunction);
}

/* ---- attributes ---- */

/* The kernel at an address, which becomes that of its device code. */
static bool is_kernel(const void **address, const struct sim_function **function)
{
	const struct sim_stub *stub = sim_stub_at(*address);
	if (!stub)
		return false;
	*address = stub->kernel;
	*function = sim_function_at(*address);
	return true;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
	RETURN_IF_STICKY();
	const struct sim_function *function;
	RETURN_IF(!is_kernel(&kernel, &function), cudaErrorInvalidDeviceFunction);
	switch (attribute) {
	case cudaFuncAttributeMaxDynamicSharedMemorySize:
		RETURN_IF(value < 0, cudaErrorInvalidValue);
		return sim_return(sim_set_dynamic_shared_limit(kernel, (size_t)value));
	case cudaFuncAttributePreferredSharedMemoryCarveout: /* a hint */
		return sim_return(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
	default: return sim_return(cudaErrorInvalidValue);
	}
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
	const struct gpu *gpu = sim_options()->gpu;
	RETURN_IF_STICKY();
	const struct sim_function *function;
	RETURN_IF(!attributes, cudaErrorInvalidValue);
	RETURN_IF(!is_kernel(&kernel, &function), cudaErrorInvalidDeviceFunction);
	*attributes = (struct cudaFuncAttributes){
		.sharedSizeBytes = sim_static_shared_bytes(function),
		.maxThreadsPerBlock = MAX_THREADS,
		.ptxVersion = gpu->compute_major * 10 + gpu->compute_minor,
		.binaryVersion = gpu->compute_major * 10 + gpu->compute_minor,
		.maxDynamicSharedSizeBytes = (int)sim_dynamic_shared_limit(kernel),
		.preferredShmemCarveout = -1,
	};
	return sim_return(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
	(void)config;
	const struct sim_function *function;
	return sim_return(is_kernel(&kernel, &function) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, const void *kernel, int block_size, size_t dynamic_shared_bytes)
{
	const struct gpu *gpu = sim_options()->gpu;
	const int warps = (block_size + 31) / 32;
	const struct sim_function *function;
	RETURN_IF_STICKY();
	RETURN_IF(!blocks || block_size <= 0, cudaErrorInvalidValue);
	RETURN_IF(!is_kernel(&kernel, &function), cudaErrorInvalidDeviceFunction);
	*blocks = 0;
	size_t shared = sim_static_shared_bytes(function) + dynamic_shared_bytes;
	if (block_size > MAX_THREADS || shared > gpu->shared_per_block ||
	    dynamic_shared_bytes > sim_dynamic_shared_limit(kernel))
		return sim_return(cudaSuccess);
	/* allocated in units of 128 bytes, with what the system takes of each block */
	shared = (shared + RESERVED_SHARED_BYTES + 127) / 128 * 128;
	*blocks = minimum(gpu->max_blocks_per_sm, gpu->max_threads_per_sm / (warps * 32));
	*blocks = minimum(*blocks, (int)(gpu->shared_per_sm / shared));
	return sim_return(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *kernel, int block_size, size_t dynamic_shared_bytes, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, dynamic_shared_bytes);
}
