/*
 * The simulated device, seen from a host program: what it counted and what it found.
 *
 * A CUDA program needs nothing of this; it includes <cuda_runtime.h>. The harness uses it to name tensors and
 * to read the counters of each launch. All sizes are bytes. Functions are for the host thread that launches.
 */
#ifndef SIM_H
#define SIM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* bytes asked for by all threads; warp-level instructions; distinct 32-byte sectors of each, summed: of an atomic, of each
 * of the turns that lanes with the same address take */
struct sim_global_count {
	uint64_t bytes, requests, sectors;
};

/*
 * wavefronts: how often each warp-level instruction goes to the 32 banks. ideal: 1, 2 or 4 by its width, for each of
 * its phases of 32, 16 or 8 lanes that has an active lane. conflicts: wavefronts less its passes, of which a load of
 * 8 or 16 bytes has half as many as phases when pairs of lanes share an address; wavefronts may then be below the
 * ideal.
 */
struct sim_shared_count {
	uint64_t bytes, requests, wavefronts, ideal_wavefronts, conflicts;
};

/* Those of one line of the source and one kind of access. The parts of a kernel's launch: they sum up to its counts. */
struct sim_line_count {
	const char *file; /* as the compiler was given it */
	unsigned line;
	int op; /* 0 load, 1 store, 2 atomic */
	struct sim_shared_count count;
};

struct sim_constant_count {
	uint64_t bytes, requests;
};

struct sim_footprint {
	uint64_t read_bytes, write_bytes; /* distinct bytes touched; an atomic touches both */
};

struct sim_tensor_count {
	const char *name;                               /* owned by the engine, valid until sim_forget_launches */
	uint64_t read_bytes, write_bytes, atomic_bytes; /* requested */
	struct sim_footprint footprint;
};

enum sim_tool { SIM_MEMCHECK, SIM_RACECHECK, SIM_INITCHECK, SIM_SYNCCHECK, SIM_LEAKCHECK, SIM_TOOLS };

struct sim_launch {
	const char *kernel;        /* without template arguments */
	const char *template_args; /* "64, true", or "" */
	unsigned grid[3], block[3];
	size_t dynamic_shared_bytes, static_shared_bytes;
	struct sim_global_count global_load, global_store, global_atomic;
	struct sim_shared_count shared_load, shared_store, shared_atomic;
	const struct sim_line_count *shared_lines; /* by file, line and op; valid until sim_forget_launches */
	size_t shared_line_count;
	struct sim_constant_count constant_load;
	struct sim_footprint footprint;
	const struct sim_tensor_count *tensors; /* allocations touched, in order of allocation */
	size_t tensor_count;
	uint64_t barriers; /* block-wide barriers passed, summed over blocks */
	uint64_t exp;      /* exponentials of any spelling */
	uint64_t hazards[SIM_TOOLS];
	/* racecheck: 1: flags or locks (fences) ordered accesses, so it knows what this order of them shows; 1: it could
	 * not compare all accesses, for want of memory or because of the limits in README.md */
	int races_of_this_order, races_incomplete;
	int error;   /* cudaError_t the launch ended with */
	int counted; /* 0: plain (--fast) build, nothing above from global_load on was counted */
};

/* Names the allocation that starts at device_pointer in every report; the name is copied. */
void sim_name_allocation(const void *device_pointer, const char *name);

/* From now on a checksum is kept of what each launch that writes to the allocation leaves there. */
void sim_watch(const void *device_pointer);

/* Of a watched allocation: 1 if it holds what the last launch that wrote to it left there; 0 if the host, a copy or a
 * memset has changed it since, or no launch has written to it. 1 also of one that is not watched, and in a --fast program. */
int sim_is_as_left(const void *device_pointer);

/* Of a watched allocation: how many of its bytes launches have written since, each counted once. 0 in a --fast program. */
uint64_t sim_bytes_of_launches(const void *device_pointer);

/* Launches since the last sim_forget_launches; index < sim_launch_count(). The first call of sim_forget_launches
 * begins the keeping of records: a program that never asks for them does not pay for them. */
size_t sim_launch_count(void);
const struct sim_launch *sim_launch_at(size_t index);
void sim_forget_launches(void);

/* Writes one launch record as the JSON object of SIM_REPORT, without a newline. */
void sim_write_launch_json(FILE *out, const struct sim_launch *launch);

/* Device memory held now, and the most held at once since the start or the last reset of the peak. */
size_t sim_allocated_bytes(void);
size_t sim_peak_bytes(void);
void sim_reset_peak(void);

/* Writes what kernels touch from now on to `path`, in place of SIM_TRACE (README.md has the format); "-" is standard
 * output, NULL ends the trace. At the limit of SIM_TRACE_LIMIT its last line says so, and nothing else does. Returns 0, or
 * -1 with errno: ENOTSUP in a --fast program. */
int sim_trace(const char *path);

/* Writes the records of launches and hazards from now on to `path`, in place of SIM_REPORT, which is closed and keeps
 * what it has; "-" is standard output, NULL ends the report. The path is not kept. A file that is there is emptied;
 * so each path gives a report of its own, and naming the same one twice begins it anew. Each record is in the file
 * when the launch returns. Returns 0, or -1 with errno: `path` cannot be opened, and nothing is written from now on;
 * or, of NULL, a record could not be written (a full disk). Works in a --fast program, too. */
int sim_report(const char *path);

/* Why the last launch was refused: "scale<<<(1,1,1), (2000,1,1)>>> was refused: 2000 threads in a block, which may
 * have 1024 (launched at scale.cu:12)". NULL if it was not. */
const char *sim_refusal(void);

/* 0 in a --fast program, which counts and checks nothing. */
int sim_is_counting(void);

/* Error-level hazards so far, all tools. */
uint64_t sim_error_count(void);

/* For who watches the host code of a program (the addresses a CUDA host must not touch): 1 while the calling thread
 * runs a thread of a kernel, else 0; and the range of addresses in which cudaMalloc's memory lies, allocations and
 * the space between them, which never changes. `first` and `bytes` may not be NULL. */
int sim_in_device_code(void);
void sim_device_memory(uintptr_t *first, size_t *bytes);

/* Chooses the GPU whose limits hold, before the first CUDA call; beats SIM_GPU. Returns 0, or -1 for an unknown name.
 */
int sim_set_gpu(const char *name);

#ifdef __cplusplus
}
#endif
#endif
