#include "measure/device.h"

#include "problem/option_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef DEVICE_SIM
#include "sim.h"
#endif

void device_check(cudaError_t status, const char *expression, const char *file, int line)
{
	if (status == cudaSuccess)
		return;
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s: %s (%s)%s%s\n", file, line, expression, cudaGetErrorName(status),
	        cudaGetErrorString(status), device_refusal() ? ": " : "", device_refusal() ? device_refusal() : "");
	exit(EXIT_ENVIRONMENT);
}

#ifdef DEVICE_SIM

int device_open(const char *gpu_option, struct device *device, struct error *error)
{
	const char *from_environment = getenv("SIM_GPU");
	const char *source = gpu_option ? "--gpu" : "SIM_GPU";
	const char *name = gpu_option                              ? gpu_option
	                   : from_environment && *from_environment ? from_environment
	                                                           : "h100";
	*device = (struct device){.simulated = true, .plain = !sim_is_counting(), .gpu = gpu_find(name)};
	if (!device->gpu || sim_set_gpu(name) != 0)
		return option_choice_unknown(OPTION_GPU, source, name, error);
	snprintf(device->name, sizeof device->name, "%s", name);
	snprintf(device->title, sizeof device->title, "simulated device, limits of %s", device->gpu->title);

	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	/* A sixteenth of this machine's: a byte of tensors takes up to 13, with what the device knows of it, the host's copy and the
	 * reference (resident memory of `./fa2 --kernel fa2_row --seq 125 --heads 512`). */
	size_t host_bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 16 : SIZE_MAX;
	device->is_small = device->gpu->memory_bytes > host_bytes;
	device->memory_bytes = device->is_small ? host_bytes : device->gpu->memory_bytes;
	device->l2_bytes = device->gpu->l2_bytes;
	return 0;
}

unsigned long long device_hazards(void)
{
	return sim_error_count();
}

const char *device_refusal(void)
{
	return sim_refusal();
}

#else

/* What timing will need besides the tensors: the buffer that flushes L2, and what allocations lose to rounding. */
static size_t memory_for_tensors(size_t free_bytes, size_t l2_bytes)
{
	size_t reserved = DEVICE_FLUSH_L2S * l2_bytes + ((size_t)DEVICE_MAX_ALLOCATIONS << 21);
	return free_bytes > reserved ? free_bytes - reserved : 0;
}

int device_open(const char *gpu_option, struct device *device, struct error *error)
{
	*device = (struct device){.simulated = false};
	int count = 0, l2_bytes = 0;
	cudaError_t status = cudaGetDeviceCount(&count);
	if (status != cudaSuccess || count == 0)
		return error_set(
			error, EXIT_ENVIRONMENT, "no CUDA device: %s; `make DEVICE=sim` needs none",
			status != cudaSuccess ? cudaGetErrorString(status) : "none found");
	struct cudaDeviceProp properties;
	size_t total_bytes = 0;
	CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
	CUDA_CHECK(cudaMemGetInfo(&device->memory_bytes, &total_bytes));
	CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
	device->l2_bytes = (size_t)l2_bytes;
	device->memory_bytes = memory_for_tensors(device->memory_bytes, device->l2_bytes);
	snprintf(device->name, sizeof device->name, "%s", properties.name);
	snprintf(device->title, sizeof device->title, "%s", properties.name);
	device->gpu = gpu_option ? gpu_find(gpu_option)
	                         : gpu_of_device(properties.name, properties.multiProcessorCount, total_bytes);
	return gpu_option && !device->gpu ? option_choice_unknown(OPTION_GPU, "--gpu", gpu_option, error) : 0;
}

unsigned long long device_hazards(void)
{
	return 0;
}

const char *device_refusal(void)
{
	return NULL;
}

#endif

float *device_allocate(struct device_memory *memory, const char *name, size_t bytes)
{
	if (memory->count == DEVICE_MAX_ALLOCATIONS) {
		fprintf(stderr, "device_allocate: more than %d allocations\n", DEVICE_MAX_ALLOCATIONS);
		abort();
	}
	void *pointer = NULL;
	const cudaError_t status = cudaMalloc(&pointer, bytes);
	if (status == cudaErrorMemoryAllocation) {
		fflush(stdout);
		fprintf(stderr, "out of device memory: no %zu bytes for %s beside the %zu in use\n", bytes, name,
		        memory->held_bytes);
		exit(EXIT_ENVIRONMENT);
	}
	CUDA_CHECK(status);
#ifdef DEVICE_SIM
	sim_name_allocation(pointer, name);
#else
	CUDA_CHECK(cudaMemset(pointer, 0xff, bytes)); /* four bytes of ones are a NaN */
#endif
	memory->allocations[memory->count].name = name;
	memory->allocations[memory->count].pointer = pointer;
	memory->allocations[memory->count].bytes = bytes;
	memory->count++;
	memory->held_bytes += bytes;
	return pointer;
}

float *device_find(const struct device_memory *memory, const char *name)
{
	for (size_t i = 0; i < memory->count; i++)
		if (strcmp(memory->allocations[i].name, name) == 0)
			return memory->allocations[i].pointer;
	return NULL;
}

#ifdef DEVICE_SIM

void device_watch(const struct device_memory *memory, const char *name)
{
	sim_watch(device_find(memory, name));
}

uint64_t device_written_bytes(const struct device_memory *memory, const char *name)
{
	return sim_bytes_of_launches(device_find(memory, name));
}

bool device_is_as_left(const struct device_memory *memory, const char *name)
{
	return sim_is_as_left(device_find(memory, name));
}

size_t device_start_peak(void)
{
	sim_reset_peak();
	return sim_peak_bytes();
}

size_t device_peak_bytes(const struct device_memory *memory)
{
	(void)memory;
	return sim_peak_bytes();
}

#else

void device_watch(const struct device_memory *memory, const char *name)
{
	(void)memory, (void)name;
}

uint64_t device_written_bytes(const struct device_memory *memory, const char *name)
{
	(void)memory, (void)name;
	return 0;
}

bool device_is_as_left(const struct device_memory *memory, const char *name)
{
	(void)memory, (void)name;
	return true;
}

size_t device_start_peak(void)
{
	return 0;
}

size_t device_peak_bytes(const struct device_memory *memory)
{
	return memory->held_bytes;
}

#endif

cudaError_t device_free_all(struct device_memory *memory)
{
	cudaError_t first = cudaSuccess;
	while (memory->count > 0) {
		memory->count--;
		memory->held_bytes -= memory->allocations[memory->count].bytes;
		cudaError_t status = cudaFree(memory->allocations[memory->count].pointer);
		if (first == cudaSuccess)
			first = status;
	}
	return first;
}
