/*
 * How long a verified kernel takes, and the floor: how long it takes at least.
 */
#ifndef RUN_TIME_H
#define RUN_TIME_H

#include "result.h"

/* Fills in kernel->time, by launching it again or, in a build that counts, by the plain build; where that finds it wrong
 * the kernel is not verified. EXIT_ENVIRONMENT where the plain build is broken. */
int time_kernel(
	const struct run_result *result, struct kernel_result *kernel, const struct device_memory *memory,
	struct error *error);

/*
 * The floor of a kernel for a problem, from its closed forms and tensors; `shared_requested_bytes` is what it asks of shared
 * memory, 0 where that is not known.
 */
struct floor floor_of(
	const struct kernel *kernel, const struct problem *problem, double shared_requested_bytes,
	const struct gpu *gpu);

/* Fills in kernel->floor, and kernel->filled where the problem has heads and they are fewer than SMs, for a GPU whose roofs are known. Uses kernel->counts. */
void find_floor(const struct run_result *result, struct kernel_result *kernel);

#endif
