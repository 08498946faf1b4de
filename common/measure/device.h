/*
 * The device a chapter runs on, seen from the host: which one it is, its memory, and its errors.
 *
 * One of DEVICE_SIM (the simulated device, simcc) and DEVICE_CUDA (an NVIDIA GPU) is defined when the harness
 * is compiled. Only this room, run/details.c and report/provenance.c ask which; kernels never do.
 */
#ifndef MEASURE_DEVICE_H
#define MEASURE_DEVICE_H

#include "gpus.h"
#include "support/error.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(DEVICE_SIM) == defined(DEVICE_CUDA)
#error "compile the harness with exactly one of -DDEVICE_SIM and -DDEVICE_CUDA"
#endif

/*
 * Checks a CUDA call. Anything but cudaSuccess prints file:line, the expression, the error's name and its text,
 * and ends the program with EXIT_ENVIRONMENT.
 */
#define CUDA_CHECK(expression) device_check((expression), #expression, __FILE__, __LINE__)
void device_check(cudaError_t status, const char *expression, const char *file, int line);

/* The buffer that is written to flush L2 is this many times its size: where the cache has two halves, as on an H100,
 * once may leave lines behind. */
enum { DEVICE_FLUSH_L2S = 2 };

struct device {
	bool simulated;
	bool plain;            /* a simulated device that counts nothing: NAME.fast */
	const struct gpu *gpu; /* limits and roofs; NULL for a GPU that simcc/gpus.c does not know */
	char name[256];        /* "h100" (simulated), or what the driver calls it */
	char title[300];       /* for people: "simulated device, limits of an NVIDIA H100 SXM" */
	size_t memory_bytes;   /* for tensors: free at the start; simulated: at most a sixteenth of this machine's */
	bool is_small;         /* simulated: that sixteenth is less than what the GPU has */
	size_t l2_bytes;
};

/*
 * Finds the device; before any other CUDA call. gpu_option is --gpu or NULL; the simulated device then looks at
 * SIM_GPU, else takes an h100. An unknown name is EXIT_USAGE, no device EXIT_ENVIRONMENT.
 */
int device_open(const char *gpu_option, struct device *device, struct error *error);

/* ---- memory: what a kernel works on, each allocation under the name it has in every report ---- */

enum { DEVICE_MAX_ALLOCATIONS = 24 };

struct device_memory {
	struct {
		const char *name;
		void *pointer;
		size_t bytes;
	} allocations[DEVICE_MAX_ALLOCATIONS];
	size_t count, held_bytes;
};

/*
 * Allocates and names device memory; `name` must outlive the allocation. What it holds cannot pass for a result:
 * simulated memory is new and known to be uninitialized, GPU memory is filled with NaN.
 */
float *device_allocate(struct device_memory *memory, const char *name, size_t bytes);

/* The allocation of that name; NULL if there is none. */
float *device_find(const struct device_memory *memory, const char *name);

/*
 * Of a tensor that is watched, what launches did to it since, which the counting build alone knows. device_written_bytes: how many
 * of its bytes they wrote. device_is_as_left: does it hold what the last of them left there, or have host code, a copy or a memset
 * changed it?
 */
void device_watch(const struct device_memory *memory, const char *name);
uint64_t device_written_bytes(const struct device_memory *memory, const char *name);
bool device_is_as_left(const struct device_memory *memory, const char *name);

/* Frees all of it and returns the first error: of tensors that somebody else has freed. */
cudaError_t device_free_all(struct device_memory *memory);

/*
 * From the call of the first on, the second says how many bytes were held at most, by whatever was allocated; the first
 * returns how many are held already. A GPU does not say: there it is what *memory holds.
 */
size_t device_start_peak(void);
size_t device_peak_bytes(const struct device_memory *memory);

/* Error-level hazards the simulated device has found so far; 0 on a GPU (use compute-sanitizer there). */
unsigned long long device_hazards(void);

/* Why the simulated device refused the last launch, naming it; NULL if it did not, and on a GPU, which never says. */
const char *device_refusal(void);

#endif
