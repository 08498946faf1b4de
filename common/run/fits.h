/*
 * May this kernel run this problem on this device? Asked before anything is allocated.
 */
#ifndef RUN_FITS_H
#define RUN_FITS_H

#include "chapter.h"

/*
 * Looks at memory for its tensors, the blocks and the shared memory that its closed forms name, and at what `runs` says. If
 * it may not, `reason` says why. *forms becomes its closed forms; all zeros where not even its tensors fit.
 */
bool kernel_fits(
	const struct kernel *kernel, const struct problem *problem, const struct device *device,
	struct closed_forms *forms, char *reason, size_t size);

/* Of --tile-q and --tile-k those that were given and that the kernel does not take, a set of OPTION_BIT. */
uint64_t tiles_not_taken(const struct kernel *kernel, const struct options *options, const struct problem *problem);

/* A line for each of these: the kernel runs all the same, in its own tiles. */
void tell_other_tiles(
	FILE *out, const char *program, const struct kernel *kernel, const struct options *options,
	const struct problem *problem);

/* EXIT_ENVIRONMENT if none of the kernels may run the problem, with the reason of the last one. */
int refuse_what_fits_nowhere(
	const struct kernel *kernels, size_t kernel_count, const struct problem *problem, const struct device *device,
	struct error *error);

#endif
