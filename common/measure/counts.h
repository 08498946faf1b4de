/*
 * What the simulated device counted for one kernel of a chapter, all its launches together.
 *
 * requested: bytes asked for by all threads. sectors: distinct 32-byte sectors of each warp instruction, summed.
 * footprint: distinct bytes a launch touched, summed over the launches. Elements are fp32: bytes / 4.
 */
#ifndef MEASURE_COUNTS_H
#define MEASURE_COUNTS_H

#include "support/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct traffic {
	uint64_t read_bytes, write_bytes;
};

struct tensor_traffic {
	char name[32];
	struct traffic requested;
	uint64_t atomic_bytes; /* requested by atomics; these are in no other count of requested bytes */
	struct traffic footprint;
};

/* Shared memory: warp-level instructions, and how often they go to the 32 banks (simcc/include/sim.h defines the last
 * four). */
struct shared_traffic {
	uint64_t load_bytes, load_requests, load_wavefronts;
	uint64_t store_bytes, store_requests, store_wavefronts;
	uint64_t ideal_wavefronts, conflicts; /* of loads and stores */
};

struct launch_counts {
	char kernel[64];
	size_t index;                                 /* of the launch, for counts_write_launch_json */
	struct traffic requested, sectors, footprint; /* sectors: numbers of sectors, not bytes */
	uint64_t requests;                            /* warp-level loads and stores of global memory */
	struct shared_traffic shared;
	uint64_t atomic_bytes;
	struct tensor_traffic *tensors;
	size_t tensor_count;
	uint64_t blocks;
};

struct counts {
	bool counted; /* false on a GPU and in the plain build: nothing below is known then */
	struct launch_counts *launches;
	size_t launch_count;
	struct launch_counts total; /* sums over the launches; tensors in order of first appearance */
	uint64_t blocks;            /* of the launch that has most */
	size_t shared_bytes;        /* static and dynamic, of the launch that has most, a block */
	uint64_t exponentials;
	uint64_t barriers;               /* block-wide ones passed, summed over blocks */
	uint64_t shared_requested_bytes; /* loads, stores and atomics of shared memory */
};

/* Launches recorded so far: 0 on a GPU. */
size_t counts_launches(void);

/* Drops all records, before a new problem. */
void counts_forget(void);

/* Sums launches first ... end-1. The caller frees with counts_free. */
int counts_collect(size_t first, size_t end, struct counts *counts, struct error *error);

void counts_free(struct counts *counts);

/* Writes one launch record, with the keys it has in SIM_REPORT (simcc/README.md), without a newline. */
void counts_write_launch_json(FILE *out, const struct launch_counts *launch);

#endif
