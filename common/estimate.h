/*
 * How long will the simulated device take? Said before a run that would take an hour and more.
 *
 * The work of a kernel follows from its closed forms: its FLOP, its exponentials and the elements it requests, of which
 * the simulated device does so many a second. How many is measured, on this machine and with the environment of this run
 * (checks, threads): the same kernel runs a part of the problem, in a process of its own, for some tenths of a second. The
 * time of the whole is the CPU time of the part, times the ratio of their work, over the cores that the blocks can keep busy.
 * CPU time, because how busy the machine is now says nothing of the hours to come. It is a guess, right to a factor of two
 * or so.
 */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "chapter.h"

/* Work of one run of a kernel; the unit is an operation. */
double estimate_work(const struct closed_forms *forms);

/*
 * A part of the problem whose work is at most `most_work`, or as small as it can be made: the largest of its sizes is
 * halved until then. The head dimension, tiles, mask and heads that share keys stay.
 */
struct problem estimate_part(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem, double most_work);

/*
 * Seconds for all of the kernels that fit the problem (fits.h). 0 where it is little work, which is not worth a measurement,
 * and on a GPU: there nothing is simulated.
 */
double estimate_seconds(
	const struct chapter *chapter, const struct kernel *kernels, size_t kernel_count,
	const struct options *options, const struct problem *problem, const struct device *device);

/* EXIT_USAGE for an hour and more without --yes: `what` ("--seq 100000") would take so long, and what to do. */
int estimate_refuse(double seconds, const char *what, const struct options *options, struct error *error);

/* "--seq 100000" in `text`: the largest size of the problem, as the command line has it. Returns text. */
enum { ESTIMATE_TEXT_SIZE = 64 };
const char *estimate_what(
	const struct chapter *chapter, const struct problem *problem, char text[ESTIMATE_TEXT_SIZE]);

/* "about 3 hours". Returns text. */
const char *estimate_format(double seconds, char text[ESTIMATE_TEXT_SIZE]);

#endif
