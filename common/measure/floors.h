/*
 * The floor: a time a GPU cannot beat without its tensor cores. A bound, never a timing.
 *
 * The largest of four times, each of which alone would be needed if everything else were free:
 *
 *   hbm     inputs read once + what L2 cannot hold of what is written, and of what is handed on, / bandwidth
 *   fp32    the kernel's own FLOP / peak of the CUDA cores
 *   exp     its exponentials / the rate of the special function units (MUFU); a polynomial on the fp32 units, which no kernel
 *           here has, could take a share
 *   shared  distinct bytes of its shared-memory instructions / shared bandwidth
 *
 * The last three have no more SMs than there are blocks: min(blocks, SMs) / SMs. So of a problem with few blocks the floor
 * says how many SMs have one, and not what the kernel costs: FlashAttention-1 has one block for each head, and at one head
 * the other SMs idle. Therefore the floor with every SM busy stands beside it, and kernels are compared at a problem that
 * fills the device.
 *
 * HBM. Caches are empty at the start, so every byte of an input is read once. L2 writes back: a written byte goes to
 * HBM when its line is evicted, and at the end the lines of at most one L2 full of bytes, of all outputs and
 * intermediates together, are still waiting. So max(0, written - L2) bytes are written at least; small outputs cost
 * nothing. An intermediate is complete at the end of the launch that makes it, and no SM keeps anything from one
 * launch to the next: the launch that reads it finds at most an L2 full of it there, and reads max(0, bytes - L2)
 * from HBM at least. These are reads, at another time, so they add to the writes.
 */
#ifndef MEASURE_FLOORS_H
#define MEASURE_FLOORS_H

#include "gpus.h"

#include <stdint.h>

struct floor_work {
	double input_bytes;   /* distinct, read */
	double written_bytes; /* distinct, of all outputs and intermediates */
	double handed_bytes;  /* read again because L2 could not hand them on: floor_handed_bytes, summed */
	double flop;
	double exponentials;
	double shared_bytes; /* distinct: floor_shared_bytes */
	uint64_t blocks;     /* 0: not known, so no limit on the SMs */
};

struct floor {
	double ms;            /* with the SMs that have a block */
	const char *bound_by; /* "hbm", "fp32", "exp" or "shared" */
	double full_ms;       /* the same if every SM had a share of the work */
	const char *full_bound_by;
	double memory_ms; /* of HBM alone; the whole GPU's bandwidth serves one block, too */
	uint64_t busy_sms, sms;
};

struct floor floor_compute(const struct floor_work *work, const struct gpu *gpu);

/* What is read from HBM at least of an intermediate that one launch makes and a later one reads. Not of what a launch
 * reads piece by piece after it has written it itself: no piece need ever leave L2. */
double floor_handed_bytes(double bytes, const struct gpu *gpu);

/*
 * A lower bound on the distinct bytes of shared-memory instructions that request this many bytes in all: a byte is
 * asked for by at most the 32 lanes of a warp. A wavefront brings at most 128 distinct bytes, merged passes included,
 * so distinct bytes / bandwidth bounds the time. The wavefronts of the source would be a tighter bound for the
 * source, but not for the GPU: nvcc may turn four broadcasts of 4 bytes, 4 wavefronts, into one of 16, which takes 2.
 */
double floor_shared_bytes(double requested_bytes);

#endif
