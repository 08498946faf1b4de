/*
 * How long a kernel takes: CUDA events around each run, after a warm-up; on a GPU with the L2 cache flushed before
 * each run, by filling a buffer of twice its size. Median, 10th and 90th percentile; never a mean.
 *
 * On the simulated device an event is the host's clock, so the same code times the plain build on the CPU.
 */
#ifndef MEASURE_TIMING_H
#define MEASURE_TIMING_H

#include "measure/device.h"
#include "measure/time_summary.h"

struct time_plan {
	size_t warmup;
	size_t repeat;   /* 0: until the standard error of the mean is below 1 % of it, or the budget is spent */
	double budget_s; /* for all runs with repeat == 0, the warm-up included; at least one run is made */
};

/* Runs launch(context) as planned. Any CUDA error ends the program: verify first. */
struct time_summary time_measure(
	const struct device *device, const struct time_plan *plan, cudaError_t (*launch)(void *context),
	void *context);

#endif
