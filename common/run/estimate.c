#include "run/estimate.h"

#include "problem/dimensions.h"
#include "run/fits.h"

#include <math.h>
#include <stdio.h>

/* Hours on two threads: `./fa2 --kernel fa2_row --seq 4096 --heads 1`, 4.3e9 operations, takes 26 CPU seconds of an AMD EPYC. */
static const double much_work = 4e12, plain_build_is_faster = 30.0, most_unasked_s = 3600.0;
/* A block alone takes 1 to 2 ms: `./fa2 --kernel fa2_row --seq 1 --dim 128 --heads 4000`. */
static const double work_of_block = 3e5;

double estimate_work(const struct closed_forms *forms)
{
	double requested = 0.0;
	for (size_t i = 0; i < PREDICTIONS; i++)
		if (forms->predictions[i].counts == PREDICTS_REQUESTED)
			requested =
				(double)(forms->predictions[i].read_elements + forms->predictions[i].write_elements);
	return forms->flop + forms->exponentials + requested + work_of_block * (double)forms->blocks;
}

double estimate_run(
	const struct kernel *kernels, size_t kernel_count, const struct problem *problem, const struct device *device)
{
	double work = 0.0;
	char reason[200];
	for (size_t i = 0; device->simulated && i < kernel_count; i++) {
		struct closed_forms forms;
		if (kernel_fits(&kernels[i], problem, device, &forms, reason, sizeof reason))
			work += estimate_work(&forms);
	}
	return work;
}

/* To one digit. */
static double rounded(double x)
{
	double unit = pow(10.0, floor(log10(x)));
	return round(x / unit) * unit;
}

int estimate_refuse_large(
	const struct run_result *result, const struct kernel *kernels, size_t kernel_count, double work,
	const char *what, struct error *error)
{
	const struct options *options = result->options;
	const struct device *device = result->device;
	if (options->yes || work < much_work * (device->plain ? plain_build_is_faster : 1.0))
		return 0;
	struct problem usual = result->chapter->defaults;
	usual.variant = options->problem.variant;
	problem_fill_defaults(&usual);
	return error_set(
		error, EXIT_USAGE,
		"%s: is about %.0f times the default run, which takes hours, expected --yes to run it "
		"anyway, or less work",
		what, rounded(work / estimate_run(kernels, kernel_count, &usual, device)));
}

int estimate_refuse(double seconds, const char *what, const struct options *options, struct error *error)
{
	if (options->yes || seconds < most_unasked_s)
		return 0;
	return error_set(
		error, EXIT_USAGE, "%s: would take about %.0f hours, expected --yes to run it anyway, or less work",
		what, seconds / 3600.0);
}

const char *estimate_what(const struct chapter *chapter, const struct problem *problem, char text[ESTIMATE_TEXT_SIZE])
{
	const struct dimension *largest = NULL;
	for (const struct dimension *dimension = dimensions; dimension < dimensions + DIMENSIONS; dimension++)
		if (dimension->shape && chapter->options & OPTION_BIT(dimension->option) &&
		    (!largest || dimension_value(dimension, problem) > dimension_value(largest, problem)))
			largest = dimension;
	if (problem->packing.count)
		snprintf(text, ESTIMATE_TEXT_SIZE, "--lengths %.24s", problem->packing.text);
	else
		snprintf(
			text, ESTIMATE_TEXT_SIZE, "--%s %zu", largest ? largest->name : "dim",
			largest ? dimension_value(largest, problem) : problem->dim);
	return text;
}
