/*
 * May this kernel run this problem on this device? Asked before anything is allocated.
 */
#ifndef FITS_H
#define FITS_H

#include "chapter.h"

/*
 * Looks at memory for its tensors, the blocks and the shared memory that its closed forms name, and at what `runs` says. If
 * it may not, `reason` says why. *forms becomes its closed forms; all zeros where not even its tensors fit.
 */
bool kernel_fits(
	const struct kernel *kernel, const struct problem *problem, const struct device *device,
	struct closed_forms *forms, char *reason, size_t size);

/* EXIT_USAGE if --tile-q or --tile-k is given and the kernel works in other tiles, whatever it says. */
int refuse_other_tiles(
	const struct kernel *kernel, const struct options *options, const struct problem *problem,
	struct error *error);

/* EXIT_ENVIRONMENT if none of the kernels may run the problem, with the reason of the last one. */
int refuse_what_fits_nowhere(
	const struct kernel *kernels, size_t kernel_count, const struct problem *problem, const struct device *device,
	struct error *error);

#endif
