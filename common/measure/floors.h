/*
 * The floor: a time a GPU cannot beat. A bound, never a timing.
 *
 * The largest of four times, each of which alone would be needed if everything else were free:
 *
 *   hbm     inputs read once + outputs written once + what of an intermediate tensor cannot stay in L2, / bandwidth
 *   fp32    the kernel's own FLOP / peak
 *   exp     its exponentials / the rate of the special function units (MUFU)
 *   shared  distinct bytes of its shared-memory instructions / shared bandwidth
 *
 * Caches are empty at the start. The last three have no more SMs than there are blocks: min(blocks, SMs) / SMs.
 */
#ifndef MEASURE_FLOORS_H
#define MEASURE_FLOORS_H

#include "sim/gpus.h"

#include <stdint.h>

struct floor_work {
	double hbm_bytes;
	double flop;
	double exponentials;
	double shared_bytes; /* distinct: floor_shared_bytes */
	uint64_t blocks;     /* 0: not known, so no limit on the SMs */
};

struct floor {
	double ms;
	const char *bound_by; /* "hbm", "fp32", "exp" or "shared" */
};

struct floor floor_compute(const struct floor_work *work, const struct gpu *gpu);

/*
 * What an intermediate tensor costs HBM at least. Its producer leaves at most an L2 full of it behind; the rest is
 * written to HBM and read again: 2 (bytes - L2), and nothing when it fits.
 */
double floor_intermediate_bytes(double bytes, const struct gpu *gpu);

/*
 * A lower bound on the distinct bytes of shared-memory instructions that request this many bytes in all: a byte is
 * asked for by at most the 32 lanes of a warp. The ideal wavefronts of the source would be a tighter bound for the
 * source, but not for the GPU: nvcc may turn four broadcasts of 4 bytes into one of 16.
 */
double floor_shared_bytes(double requested_bytes);

#endif
