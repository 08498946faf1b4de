#include "estimate.h"

#include "fits.h"
#include "measure/child.h"
#include "problem/dimensions.h"
#include "support/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The fastest machines do some 1e10 a second: less work is over soon on any, and nobody waits for a measurement. */
static const double little_work = 2e10, part_of_work = 4e7;
/* A kernel with less of the work is not run for the estimate: a part with as much work of it may be a lot for the reference
 * of all kernels. Below one over MAX_ESTIMATED, so some kernel has more. */
static const double worth_measuring = 0.05;

enum { MAX_ESTIMATED = 16 };

static const double most_unasked_s = 3600.0, most_part_s = 60.0;

double estimate_work(const struct closed_forms *forms)
{
	double requested = 0.0;
	for (size_t i = 0; i < PREDICTIONS; i++)
		if (forms->predictions[i].counts == PREDICTS_REQUESTED)
			requested =
				(double)(forms->predictions[i].read_elements + forms->predictions[i].write_elements);
	return forms->flop + forms->exponentials + requested;
}

static size_t *size_of(const struct dimension *dimension, struct problem *problem)
{
	return (size_t *)((char *)problem + dimension->offset);
}

/* One of the sizes that may be halved: not the width of a head, and no heads of queries that share heads of keys. */
static bool may_be_halved(
	const struct chapter *chapter, const struct dimension *dimension, const struct problem *problem)
{
	if (!dimension->shape || !(chapter->options & OPTION_BIT(dimension->option)) ||
	    dimension->option == OPTION_DIM)
		return false;
	bool grouped = chapter->options & OPTION_BIT(OPTION_KV_HEADS) && problem->kv_heads != problem->heads;
	return dimension->option != OPTION_KV_HEADS && !(dimension->option == OPTION_HEADS && grouped);
}

/* The first of the largest. Tokens come before keys, so there are never more of them than of keys. */
static const struct dimension *largest(const struct chapter *chapter, const struct problem *problem)
{
	const struct dimension *found = NULL;
	for (const struct dimension *dimension = dimensions; dimension < dimensions + DIMENSIONS; dimension++)
		if (may_be_halved(chapter, dimension, problem) &&
		    (!found || dimension_value(dimension, problem) > dimension_value(found, problem)))
			found = dimension;
	return found;
}

struct problem estimate_part(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem, double most_work)
{
	struct problem part = *problem;
	if (part.packing.count) { /* the longest of packed sequences: the others are like it, but shorter */
		part.seq = part.keys = packing_longest(&part.packing, part.seq);
		part.packing = (struct packing){0};
		problem_fill_defaults(&part);
	}
	bool alike = part.kv_heads == part.heads;
	for (;;) {
		struct closed_forms forms = kernel->forms(&part);
		const struct dimension *dimension = largest(chapter, &part);
		if (estimate_work(&forms) <= most_work || !dimension || dimension_value(dimension, &part) < 2)
			return part;
		*size_of(dimension, &part) /= 2;
		if (alike)
			part.kv_heads = part.heads;
		if (!(chapter->options & OPTION_BIT(OPTION_KEYS)))
			part.keys = part.seq;
		problem_fill_defaults(&part);
	}
}

/* Blocks are spread over so many threads, as the simulated device does it. */
static double threads(void)
{
	const char *wanted = getenv("SIM_THREADS");
	uint64_t count;
	if (wanted && read_whole(wanted, 1, 1 << 20, &count))
		return (double)count;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores > 0 ? (double)cores : 1.0;
}

/* CPU seconds of this program for one kernel on a part of the problem. */
static double measure(
	const struct chapter *chapter, const struct kernel *kernel, const struct options *options,
	const struct problem *part, const struct device *device)
{
	char path[PATH_MAX], storage[PROBLEM_ARGUMENTS][32], *arguments[PROBLEM_ARGUMENTS + 8];
	const char *written[PROBLEM_ARGUMENTS];
	const char *const more[] = {"--kernel", kernel->name, "--gpu", device->name, "--quiet", "--yes"};
	struct options generated = *options;
	struct problem problem = *part;
	if (!child_program("", path))
		return 0.0;
	/* Of a part there are neither files nor a row to trace. */
	generated.values = problem.load = NULL;
	generated.trace = false;
	problem.row = 0;
	generated.given &= ~OPTION_BIT(OPTION_ROW);
	size_t count = 0, given = options_of_problem(&generated, &problem, chapter->options, storage, written);
	arguments[count++] = path;
	for (size_t i = 0; i < given; i++)
		arguments[count++] = (char *)(uintptr_t)written[i]; /* posix_spawn writes to none of them */
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		arguments[count++] = (char *)(uintptr_t)more[i];
	arguments[count] = NULL;
	return child_cpu_seconds(path, arguments, most_part_s);
}

double estimate_seconds(
	const struct chapter *chapter, const struct kernel *kernels, size_t kernel_count,
	const struct options *options, const struct problem *problem, const struct device *device)
{
	double work[MAX_ESTIMATED], all = 0.0, measured = 0.0, seconds = 0.0;
	char reason[200];
	if (!device->simulated || kernel_count > MAX_ESTIMATED)
		return 0.0;
	for (size_t i = 0; i < kernel_count; i++) {
		struct closed_forms forms;
		bool fits = kernel_fits(&kernels[i], problem, device, &forms, reason, sizeof reason);
		work[i] = fits ? estimate_work(&forms) : 0.0;
		all += work[i];
	}
	if (all <= little_work)
		return 0.0;
	for (size_t i = 0; i < kernel_count; i++) {
		if (work[i] < worth_measuring * all)
			continue;
		struct problem part = estimate_part(chapter, &kernels[i], problem, part_of_work);
		struct closed_forms forms = kernels[i].forms(&part);
		double cpu_s =
			measure(chapter, &kernels[i], options, &part, device) * work[i] / estimate_work(&forms);
		seconds += cpu_s / fmin(threads(), fmax(1.0, (double)kernels[i].forms(problem).blocks));
		measured += work[i];
	}
	return seconds * all / measured;
}

int estimate_refuse(double seconds, const char *what, const struct options *options, struct error *error)
{
	char text[ESTIMATE_TEXT_SIZE];
	if (options->yes || seconds < most_unasked_s)
		return 0;
	return error_set(
		error, EXIT_USAGE, "%s: would take %s on this machine, expected --yes to run it anyway, or less work",
		what, estimate_format(seconds, text));
}

const char *estimate_what(const struct chapter *chapter, const struct problem *problem, char text[ESTIMATE_TEXT_SIZE])
{
	const struct dimension *dimension = largest(chapter, problem);
	if (problem->packing.count)
		snprintf(text, ESTIMATE_TEXT_SIZE, "--lengths %.24s", problem->packing.text);
	else
		snprintf(
			text, ESTIMATE_TEXT_SIZE, "--%s %zu", dimension ? dimension->name : "dim",
			dimension ? dimension_value(dimension, problem) : problem->dim);
	return text;
}

const char *estimate_format(double seconds, char text[ESTIMATE_TEXT_SIZE])
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}};
	size_t unit = 0;
	while (unit + 1 < sizeof units / sizeof units[0] && seconds < 2 * units[unit].seconds)
		unit++;
	double count = seconds / units[unit].seconds;
	snprintf(text, ESTIMATE_TEXT_SIZE, count < 1e6 ? "about %.0f %s" : "about %.0e %s", count, units[unit].name);
	return text;
}
