/*
 * The CUDA runtime API: memory of the host and of the device, copies, and variables by their symbol.
 *
 * memcheck on the host: a copy or a set must stay inside one live allocation and name the right side of the bus.
 * Otherwise it is reported, CUDA's own error is returned, and nothing is written.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

static cudaError_t not_supported(const char *function, const char *instead)
{
	say_of_call("%s is not supported by the simulated device: %s\n", function, instead);
	return sim_return(cudaErrorNotSupported);
}

/* ---- page-locked host memory: ordinary memory in a list, so that it can be told from device memory ---- */

struct host_range {
	struct host_range *next;
	char *first;
	size_t size;
	bool owned; /* by cudaMallocHost; else registered */
};

static struct host_range *host_ranges;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

static bool host_range_add(void *pointer, size_t bytes, bool owned)
{
	struct host_range *range = malloc(sizeof *range);
	if (!range)
		return false;
	pthread_mutex_lock(&host_lock);
	*range = (struct host_range){host_ranges, pointer, bytes, owned};
	host_ranges = range;
	pthread_mutex_unlock(&host_lock);
	return true;
}

/* Takes the range that starts at pointer out of the list; false if there is none. */
static bool host_range_remove(void *pointer, bool owned)
{
	bool found = false;
	pthread_mutex_lock(&host_lock);
	for (struct host_range **place = &host_ranges; *place; place = &(*place)->next) {
		struct host_range *range = *place;
		if (range->first == pointer && range->owned == owned) {
			*place = range->next;
			free(range);
			found = true;
			break;
		}
	}
	pthread_mutex_unlock(&host_lock);
	return found;
}

static bool host_range_holds(const void *pointer)
{
	bool found = false;
	pthread_mutex_lock(&host_lock);
	for (struct host_range *range = host_ranges; range && !found; range = range->next)
		found = (uintptr_t)pointer - (uintptr_t)range->first < range->size;
	pthread_mutex_unlock(&host_lock);
	return found;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	void *memory = NULL;
	(void)flags;
	sim_wait_for_device();
	RETURN_IF_STICKY();
	RETURN_IF(!pointer, cudaErrorInvalidValue);
	*pointer = NULL;
	RETURN_IF(bytes == 0, cudaSuccess);
	RETURN_IF(posix_memalign(&memory, 4096, bytes) != 0, cudaErrorMemoryAllocation);
	if (!host_range_add(memory, bytes, true)) {
		free(memory);
		return sim_return(cudaErrorMemoryAllocation);
	}
	sim_add_host_block(memory, bytes, true);
	*pointer = memory;
	return sim_return(cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
	return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

/* Frees even when a faulted launch makes it return that error: the memory is the host's own. */
cudaError_t cudaFreeHost(void *pointer)
{
	if (pointer && !host_range_remove(pointer, true))
		return sim_api_hazard(
			cudaErrorInvalidValue, "cudaFreeHost",
			sim_memory_is_device((uintptr_t)pointer)
				? "%p is device memory: cudaFree frees it"
				: "%p was not allocated by cudaMallocHost, or is freed already",
			pointer);
	sim_remove_host_block(pointer);
	free(pointer);
	sim_wait_for_device();
	return sim_return(cudaSuccess);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	RETURN_IF_STICKY();
	RETURN_IF(!pointer || bytes == 0, cudaErrorInvalidValue);
	RETURN_IF(host_range_holds(pointer), cudaErrorHostMemoryAlreadyRegistered);
	return sim_return(host_range_add(pointer, bytes, false) ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	RETURN_IF_STICKY();
	return sim_return(host_range_remove(pointer, false) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)host, (void)flags;
	if (device)
		*device = NULL;
	return not_supported("cudaHostGetDevicePointer (mapped host memory)", "copy with cudaMemcpy");
}

/* ---- device memory ---- */

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(!pointer, cudaErrorInvalidValue);
	*pointer = NULL;
	RETURN_IF(bytes == 0, cudaSuccess);
	RETURN_IF(!(*pointer = sim_memory_allocate(bytes)), cudaErrorMemoryAllocation);
	return sim_return(cudaSuccess);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
	sim_wait_for_device();
	return cudaMallocAsync(pointer, bytes, NULL);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	const size_t row = (width + 511) / 512 * 512; /* what a GPU's texture alignment gives */
	RETURN_IF_STICKY();
	RETURN_IF(!pitch || width > SIZE_MAX - 511, cudaErrorInvalidValue);
	RETURN_IF(height != 0 && row > SIZE_MAX / height, cudaErrorMemoryAllocation);
	*pitch = row;
	return cudaMalloc(pointer, row * height);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	(void)bytes, (void)flags;
	if (pointer)
		*pointer = NULL;
	return not_supported("cudaMallocManaged (managed memory)", "use cudaMalloc and cudaMemcpy");
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(!pointer, cudaSuccess);
	struct sim_allocation *allocation = sim_memory_find((uintptr_t)pointer);
	if (!allocation)
		return sim_api_hazard(cudaErrorInvalidValue, "cudaFree", "%p is no device memory", pointer);
	if (allocation->freed)
		return sim_api_hazard(
			cudaErrorInvalidValue, "cudaFree", "'%s' at %p has been freed before", allocation->name,
			pointer);
	if (allocation->is_variable || allocation->first != (uintptr_t)pointer)
		return sim_api_hazard(
			cudaErrorInvalidValue, "cudaFree", "%p is not the start of an allocation ('%s' starts at %p)",
			pointer, allocation->name, (void *)allocation->first);
	sim_memory_free(allocation);
	return sim_return(cudaSuccess);
}

cudaError_t cudaFree(void *pointer)
{
	sim_wait_for_device();
	return cudaFreeAsync(pointer, NULL);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	RETURN_IF_STICKY();
	RETURN_IF(!free_bytes || !total_bytes, cudaErrorInvalidValue);
	*free_bytes = sim_memory_free_bytes();
	*total_bytes = sim_options()->gpu->memory_bytes;
	return sim_return(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
	struct sim_allocation *allocation = sim_memory_find((uintptr_t)pointer);
	RETURN_IF_STICKY();
	RETURN_IF(!attributes, cudaErrorInvalidValue);
	*attributes = (struct cudaPointerAttributes){
		.type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = (void *)(uintptr_t)pointer};
	if (allocation && !allocation->freed)
		*attributes = (struct cudaPointerAttributes){
			.type = cudaMemoryTypeDevice, .devicePointer = (void *)(uintptr_t)pointer};
	else if (host_range_holds(pointer))
		*attributes = (struct cudaPointerAttributes){
			.type = cudaMemoryTypeHost,
			.devicePointer = (void *)(uintptr_t)pointer,
			.hostPointer = (void *)(uintptr_t)pointer};
	return sim_return(cudaSuccess);
}

/* ---- copies ---- */

/* cudaSuccess if [pointer, pointer + bytes) is device memory a copy may touch; else reported, as of `function`. */
static cudaError_t check_device(const char *function, const char *role, const void *pointer, size_t bytes)
{
	const uintptr_t address = (uintptr_t)pointer;
	struct sim_allocation *a = sim_memory_find(address);
	if (a && !a->freed && bytes <= a->size - (address - a->first))
		return cudaSuccess;
	if (a && a->freed)
		return sim_api_hazard(
			cudaErrorInvalidValue, function, "%s %p is inside '%s', which has been freed", role, pointer,
			a->name);
	if (a)
		return sim_api_hazard(
			cudaErrorInvalidValue, function,
			"%s: %zu bytes from byte %zu of '%s' end %zu bytes past its end (it has %zu)", role, bytes,
			address - a->first, a->name, bytes - (a->size - (address - a->first)), a->size);
	if (sim_memory_is_device(address))
		return sim_api_hazard(cudaErrorInvalidValue, function, "%s %p is in no allocation", role, pointer);
	return sim_api_hazard(
		cudaErrorInvalidValue, function, "%s %p is host memory, not device memory", role, pointer);
}

static cudaError_t check_host(const char *function, const char *role, const void *pointer, size_t bytes)
{
	if (sim_memory_is_device((uintptr_t)pointer))
		return sim_api_hazard(
			cudaErrorInvalidValue, function, "%s %p is device memory, not host memory", role, pointer);
	return check_host_extent(function, role, pointer, bytes);
}

static cudaError_t bad_direction(const char *function, enum cudaMemcpyKind kind)
{
	return sim_api_hazard(
		cudaErrorInvalidMemcpyDirection, function, "%d is no direction of this copy", (int)kind);
}

/* cudaSuccess if to_bytes from `to` and from_bytes from `from` may take part in a copy of this kind. */
static cudaError_t check_copy(
	const char *function, const void *to, size_t to_bytes, const void *from, size_t from_bytes,
	enum cudaMemcpyKind kind)
{
	bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	if (kind == cudaMemcpyDefault) {
		to_device = sim_memory_is_device((uintptr_t)to);
		from_device = sim_memory_is_device((uintptr_t)from);
	} else if ((unsigned)kind > cudaMemcpyDefault) {
		return bad_direction(function, kind);
	}
	if (!to || !from)
		return sim_api_hazard(
			cudaErrorInvalidValue, function, "the %s is NULL", !to ? "destination" : "source");
	cudaError_t error = to_device ? check_device(function, "destination", to, to_bytes)
	                              : check_host(function, "destination", to, to_bytes);
	if (error != cudaSuccess)
		return error;
	return from_device ? check_device(function, "source", from, from_bytes)
	                   : check_host(function, "source", from, from_bytes);
}

static cudaError_t copy(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	RETURN_IF_STICKY();
	RETURN_IF(bytes == 0, cudaSuccess);
	const cudaError_t error = check_copy(function, to, bytes, from, bytes, kind);
	if (error != cudaSuccess)
		return error;
	if (sim_unseen_fault() != cudaSuccess)
		return sim_return(cudaSuccess);
	memmove(to, from, bytes);
	sim_memory_copied(to, from, bytes);
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	sim_wait_for_device();
	return copy("cudaMemcpy", to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	return copy("cudaMemcpyAsync", to, from, bytes, kind);
}

/* Bytes from the first of the first row to the last of the last; false if they cannot be counted. */
static bool span_of(size_t pitch, size_t width, size_t height, size_t *span)
{
	if (width > pitch || (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)))
		return false;
	*span = pitch * (height - 1) + width;
	return true;
}

cudaError_t cudaMemcpy2DAsync(
	void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
	enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(width == 0 || height == 0, cudaSuccess);
	size_t to_span, from_span;
	RETURN_IF(
		!span_of(to_pitch, width, height, &to_span) || !span_of(from_pitch, width, height, &from_span),
		cudaErrorInvalidPitchValue);
	const cudaError_t error = check_copy("cudaMemcpy2D", to, to_span, from, from_span, kind);
	if (error != cudaSuccess)
		return error;
	for (size_t row = 0; row < height && sim_unseen_fault() == cudaSuccess; row++) {
		memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
		sim_memory_copied((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
	}
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemcpy2D(
	void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
	enum cudaMemcpyKind kind)
{
	sim_wait_for_device();
	return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemset2DAsync(
	void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(width == 0 || height == 0, cudaSuccess);
	size_t span;
	RETURN_IF(!span_of(pitch, width, height, &span), cudaErrorInvalidPitchValue);
	const cudaError_t error = check_device("cudaMemset", "destination", pointer, span);
	if (error != cudaSuccess)
		return error;
	for (size_t row = 0; row < height && sim_unseen_fault() == cudaSuccess; row++) {
		memset((char *)pointer + row * pitch, value, width);
		sim_memory_copied((char *)pointer + row * pitch, NULL, width);
	}
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
	sim_wait_for_device();
	return cudaMemset2DAsync(pointer, pitch, value, width, height, NULL);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
	return cudaMemset2D(pointer, bytes, value, bytes, 1);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
	return cudaMemset2DAsync(pointer, bytes, value, bytes, 1, stream);
}

/* ---- __device__ and __constant__ variables ---- */

/* The variable whose first byte is at symbol, or NULL. */
static struct sim_allocation *variable_at(const void *symbol)
{
	struct sim_allocation *variable = sim_memory_find((uintptr_t)symbol);
	return variable && variable->is_variable && variable->first == (uintptr_t)symbol ? variable : NULL;
}

static void *place_in(const void *symbol, size_t offset)
{
	return (void *)((uintptr_t)symbol + offset);
}

cudaError_t cudaMemcpyToSymbolAsync(
	const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
	cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(!variable_at(symbol), cudaErrorInvalidSymbol);
	if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		return bad_direction("cudaMemcpyToSymbol", kind);
	if (kind == cudaMemcpyDefault)
		kind = sim_memory_is_device((uintptr_t)from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
	return copy("cudaMemcpyToSymbol", place_in(symbol, offset), from, bytes, kind);
}

cudaError_t cudaMemcpyToSymbol(
	const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	sim_wait_for_device();
	return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}

cudaError_t cudaMemcpyFromSymbolAsync(
	void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	RETURN_IF(!variable_at(symbol), cudaErrorInvalidSymbol);
	if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		return bad_direction("cudaMemcpyFromSymbol", kind);
	if (kind == cudaMemcpyDefault)
		kind = sim_memory_is_device((uintptr_t)to) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
	return copy("cudaMemcpyFromSymbol", to, place_in(symbol, offset), bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	sim_wait_for_device();
	return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	RETURN_IF_STICKY();
	RETURN_IF(!pointer, cudaErrorInvalidValue);
	RETURN_IF(!variable_at(symbol), cudaErrorInvalidSymbol);
	*pointer = place_in(symbol, 0);
	return sim_return(cudaSuccess);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	RETURN_IF_STICKY();
	RETURN_IF(!size, cudaErrorInvalidValue);
	RETURN_IF(!variable_at(symbol), cudaErrorInvalidSymbol);
	*size = variable_at(symbol)->size;
	return sim_return(cudaSuccess);
}
