/*
 * Is a run so large that the simulated device works for hours? By its closed forms: FLOP, exponentials, requested elements
 * and blocks, of which the device does some 2e8 a second and thread, the plain build thirty times as many. A guess, right
 * to a factor of a few: where it says hours, the run needs --yes.
 */
#ifndef RUN_ESTIMATE_H
#define RUN_ESTIMATE_H

#include "result.h"

/* Work of one run of a kernel; the unit is an operation. */
double estimate_work(const struct closed_forms *forms);

/* Work of those of the kernels that fit the problem (fits.h). 0 on a GPU: there nothing is simulated. */
double estimate_run(
	const struct kernel *kernels, size_t kernel_count, const struct problem *problem,
	const struct device *device);

/* EXIT_USAGE for hours of work without --yes: that `what` ("--seq 100000") is so many times the chapter's default run. */
int estimate_refuse_large(
	const struct run_result *result, const struct kernel *kernels, size_t kernel_count, double work,
	const char *what, struct error *error);

/* The same for a run whose time is known better: an hour and more. */
int estimate_refuse(double seconds, const char *what, const struct options *options, struct error *error);

/* "--seq 100000" in `text`: the largest size of the problem, as the command line has it. Returns text. */
enum { ESTIMATE_TEXT_SIZE = 64 };
const char *estimate_what(
	const struct chapter *chapter, const struct problem *problem, char text[ESTIMATE_TEXT_SIZE]);

#endif
