/*
 * The program that runs a submission. It stands in the place of common/main.c and common/run.c: the chapter's own
 * chapter.c calls this chapter_main, which puts the inputs of --load on the device, launches one kernel and writes its
 * outputs to --save. It verifies nothing. What the outputs should be is not in this process (common/verify is not
 * linked, judge.mk), so there is nothing here for a submission to find.
 *
 *     runner --load INPUTS --save OUTPUTS --kernel NAME [options of the problem]
 *
 * OUTPUTS/run.txt grows as the run goes: "cannot REASON" for a shape that the kernel does not take, "launched NAME" of the
 * CUDA status, "saved". OUTPUTS/report.jsonl has what the kernel's own launches did, as the simulated device reports it;
 * launches that prepare its inputs are in no report.
 */
#include "fits.h"
#include "harness.h"
#include "run_inputs.h"
#include "run_tensors.h"
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>

static __attribute__((format(printf, 2, 3))) void note(FILE *diary, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(diary, format, arguments);
	va_end(arguments);
	fflush(diary);
}

static int complain(const struct error *error)
{
	fprintf(stderr, "runner: %s\n", error->message);
	return error->exit_code;
}

static cudaError_t launch(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *report, struct error *error)
{
	cudaError_t status = kernel->prepare ? kernel->prepare(problem, memory) : cudaSuccess;
	if (sim_report(report) != 0)
		error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written", report);
	else if (status == cudaSuccess)
		status = kernel->launch(problem, memory);
	return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

int chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	struct error error = {0};
	struct options options;
	struct device device;
	if (options_parse(argc, argv, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0)
		return complain(&error);
	struct problem problem = options.problem;
	const struct kernel *kernel = chapter_kernel(chapter, options.kernel);
	if (!kernel || !problem.load || !options.save) {
		error_set(&error, EXIT_USAGE, "expected --kernel NAME --load DIR --save DIR");
		return complain(&error);
	}

	char path[4096], report[4096];
	snprintf(path, sizeof path, "%s/run.txt", options.save);
	snprintf(report, sizeof report, "%s/report.jsonl", options.save);
	FILE *diary = fopen(path, "w");
	struct inputs inputs; /* read before anything is allocated: the files decide the shape */
	if (!diary)
		error_set(&error, EXIT_ENVIRONMENT, "%s: cannot be written", path);
	if (!diary || inputs_make(chapter, kernel, 1, &options, &problem, &inputs, &error) != 0)
		return complain(&error);
	struct closed_forms forms;
	char reason[200];
	if (!kernel_fits(kernel, &problem, &device, &forms, reason, sizeof reason)) {
		note(diary, "cannot %s\n", reason);
		return EXIT_ENVIRONMENT;
	}

	struct device_memory memory = {.count = 0};
	tensors_allocate(kernel, &problem, inputs.list, &memory);
	inputs_free(&inputs);
	cudaError_t status = launch(kernel, &problem, &memory, report, &error);
	if (error.exit_code)
		return complain(&error);
	note(diary, "launched %s\n", cudaGetErrorName(status));
	if (status != cudaSuccess)
		return EXIT_VERIFICATION;
	if (tensors_save(kernel, &problem, &memory, options.save, &error) != 0)
		return complain(&error);
	note(diary, "saved\n");
	return 0;
}
