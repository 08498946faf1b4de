/*
 * Inside the simulated device: what its parts offer each other. Not for host programs (see ../sim.h).
 *
 * The CUDA runtime API
 *   api_device.c api_memory.c api_streams.c api_kernels.c
 *   memory.c                 allocations, bounds, footprints
 *   limits.c                 launches a GPU would refuse
 * A launch
 *   launch.c                 spreads blocks over CPU threads
 *   block.c fiber.c          one block: its threads are fibers, a barrier switches between them
 *   warp.c warp_entry.c      shuffles and votes
 *   atomics.c device_math.c  atomicAdd and friends; exponentials, counted
 * An access of device code
 *   hooks.c access.c         arrives; its bounds and alignment
 *   account.c                warp instructions: sectors, wavefronts
 *   racecheck.c initcheck.c synccheck.c    the checks
 *   faults.c                 signals, the last net
 * What is told
 *   report.c                 launch records as JSON
 *   trace.c trace_file.c     SIM_TRACE
 *   findings.c diagnose.c    hazards gathered; messages, records, the error summary
 * And options.c, the SIM_* environment; symbols.c, the tables of tables.h, indexed.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gpus.h"
#include "../sim.h"
#include "tables.h"

/* ---- options.c: the environment, read once ---- */

enum sim_order { SIM_ORDER_FORWARD, SIM_ORDER_REVERSE, SIM_ORDER_SHUFFLE };

struct sim_options {
	const struct gpu *gpu;
	enum sim_order order;
	uint64_t order_seed;
	int threads; /* CPU threads over which blocks are spread */
	double timeout_s;
	bool check[SIM_TOOLS];
	const char *report_path; /* NULL, "-" or a file */
	const char *trace_path;  /* the same */
	size_t trace_limit;      /* bytes */
};

/* Parses the environment at the first call; a bad value is one line on stderr and exit 2. */
const struct sim_options *sim_options(void);

/* ---- memory.c ---- */

enum sim_space { SIM_GLOBAL, SIM_CONSTANT, SIM_SHARED, SIM_LOCAL };

struct sim_allocation {
	uintptr_t first;  /* address of the first byte */
	size_t size;      /* bytes asked for */
	const char *name; /* "Q", "alloc3", or the symbol of a variable; owned */
	bool named;       /* by sim_name_allocation, or a variable */
	bool freed;
	bool is_constant, is_variable;
	size_t slots;                   /* with the emptiness behind it */
	uint32_t index;                 /* in order of allocation; variables come first */
	uint8_t *written;               /* initcheck: as in struct slot */
	struct global_cell *cells;      /* racecheck: a cell for 4 bytes; NULL until touched */
	struct global_cell *byte_cells; /* and for each, where smaller accesses were seen */
	struct sim_marks *_Atomic read_marks, *_Atomic write_marks; /* footprint, this launch; NULL until touched */
};

/* cudaMalloc: 256-byte aligned. NULL when the chosen GPU's memory is full. */
void *sim_memory_allocate(size_t bytes);
/* The allocation that starts at pointer: cudaSuccess, or cudaErrorInvalidValue with the reason diagnosed. */
cudaError_t sim_memory_free(void *pointer);
/* The allocation or variable that holds the byte at address, freed ones included; NULL if none. */
struct sim_allocation *sim_memory_find(uintptr_t address);
/* The live allocation closest to an address that lies in none, and how many bytes lie between; NULL if none. */
struct sim_allocation *sim_memory_nearest(uintptr_t address, size_t *distance, bool *before);
/* True when address lies where device memory lives (allocations and the space between them). */
bool sim_memory_is_device(uintptr_t address);
size_t sim_memory_free_bytes(void);
/* The host has written [to, to + bytes), from [from, ...) or, where that is no device memory, from elsewhere: what is
 * known to be written moves along. Does nothing where `to` is not device memory. */
void sim_memory_copied(const void *to, const void *from, size_t bytes);
/* cudaDeviceReset: forgets every allocation. */
void sim_memory_reset(void);

/* ---- errors and hazards: diagnose.c ---- */

/* Sets what cudaGetLastError returns, unless a sticky error is there; returns what the call should return. */
cudaError_t sim_return(cudaError_t error);
/* A launch has ended with this error. As on a GPU the host hears of it where it next waits for the device; what it
 * asks of the device until then is accepted and not done. */
void sim_set_fault(cudaError_t error);
cudaError_t sim_unseen_fault(void); /* cudaSuccess if none */
void sim_wait_for_device(void);
/* The fault that the host has heard of, which every call returns until cudaDeviceReset; cudaSuccess if none. */
cudaError_t sim_sticky_error(void);
/* cudaGetLastError (clear) and cudaPeekAtLastError. */
cudaError_t sim_last_error(bool clear);
void sim_clear_errors(void); /* cudaDeviceReset */

/* A misuse of the CUDA API seen on the host (memcheck): prints it in compute-sanitizer's manner, counts it as an
 * error and returns `error` through sim_return. */
cudaError_t sim_api_hazard(cudaError_t error, const char *function, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- launch.c ---- */

/* Runs a kernel to its end. `kernel` is its address, or NULL where only `name` is known (a template whose arguments
 * are deduced). invoke(arguments) calls it once, in the place of one thread. */
cudaError_t sim_launch_kernel(dim3 grid, dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream,
                              const void *kernel, const char *name, void (*invoke)(void *), void *arguments);
/* Bytes of static shared memory; 0 if the address is no kernel's. */
size_t sim_static_shared_bytes(const struct sim_function *function);

/* ---- limits.c ---- */

/* cudaFuncAttributeMaxDynamicSharedMemorySize for a kernel. */
cudaError_t sim_set_dynamic_shared_limit(const void *kernel, size_t bytes);
size_t sim_dynamic_shared_limit(const void *kernel);
/* The program has asked for the error of the launches that were refused. */
void sim_refusals_seen(void);
/* At the end: one line on stderr if it never has. */
void sim_report_refusals(void);

/* ---- symbols.c ---- */

/* The function whose first instruction is at address, or that holds it; NULL if none. */
const struct sim_function *sim_function_at(const void *address);
const struct sim_function *sim_function_holding(const void *address);
const struct sim_function *sim_kernel_named(const char *name);
const struct sim_function *sim_function_signed(const char *signature);

/* ---- for device code: called by fibers only; `site` is what simcc's pass filled in, NULL in plain builds ---- */

/* An atomic of the calling thread, of 2^width bytes; does not return if it is not allowed. */
enum {
	SIM_ATOMIC_BLOCK = 1,      /* of the scope of its block */
	SIM_ATOMIC_OVERWRITES = 2, /* an exchange: a read only where its result is used */
};
void sim_atomic_access(const void *pointer, unsigned width, unsigned kind, const void *site);

/* __nanosleep: gives the other threads a turn. So does an atomic in a plain build, now and then: there no window
 * fills up, and a loop that waits for another thread would wait for ever. */
void sim_take_turns(void);

void sim_block_barrier(const void *site);
enum sim_reduce { SIM_REDUCE_COUNT, SIM_REDUCE_AND, SIM_REDUCE_OR };
int sim_block_reduce(enum sim_reduce kind, int predicate, const void *site);

/* `intrinsic` is the name of the CUDA function that was called. Lanes meet in calls of one function only. */
void sim_warp_sync(unsigned mask, const void *site);
enum sim_shuffle { SIM_SHUFFLE_INDEX, SIM_SHUFFLE_UP, SIM_SHUFFLE_DOWN, SIM_SHUFFLE_XOR };
uint64_t sim_warp_shuffle(const char *intrinsic, enum sim_shuffle kind, unsigned mask, uint64_t bits, int operand,
                          int width, const void *site);
/* The lanes of mask whose predicate holds. */
unsigned sim_warp_ballot(const char *intrinsic, unsigned mask, int predicate, const void *site);
unsigned sim_warp_active_mask(const void *site);

/* Of --fast builds, which have no sites: a place in the source is a number of simcc's, hashed with the places of the
 * calls that led to it. Entering one returns what leaving it sets again; on the host neither does anything. */
unsigned sim_warp_active_mask_at(uint64_t place);
uint64_t sim_place_enter(uint64_t place);
void sim_place_leave(uint64_t before);

/* __threadfence() and __threadfence_block(), for racecheck. */
void sim_note_fence(bool block_only);

/* Ends the launch: __trap() (which has a site) and a failed assert (which has a file and a line). `error` becomes
 * sticky; the message says why. */
void sim_device_abort(cudaError_t error, const void *site, const char *file, unsigned line, const char *format, ...)
	__attribute__((format(printf, 5, 6), noreturn));
/* Output of printf in a kernel; it appears in block order when the launch ends. */
void sim_device_write(const char *text, size_t length);
/* True on a fiber, that is in device code; false on the host. */
bool sim_in_kernel(void);
/* Adds to the launch's count of exponentials. */
void sim_count_exp(void);

#endif
