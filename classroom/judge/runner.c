/*
 * The program that runs a submission. It stands in the place of common/main.c and common/run/run.c: the chapter's own
 * chapter.c calls this chapter_main, which puts the inputs of a case (case.h) on the device, launches one kernel and writes its
 * outputs to --save. It verifies nothing. What the outputs should be is not in this process (neither common/verify nor
 * a chapter's reference.c is linked, judge.mk), so there is nothing here for a submission to find.
 *
 *     runner --save OUTPUTS --kernel NAME [options of the problem]
 *
 * It makes OUTPUTS; nothing may be there yet. OUTPUTS/run.txt grows as the run goes: "cannot REASON" for a shape that the
 * kernel does not take, "launched NAME" of the CUDA status, "saved". OUTPUTS/report.jsonl has what the kernel's own launches
 * did, as the simulated device reports it; launches that prepare its inputs are in no report.
 */
#include "case.h"
#include "harness.h"
#include "run/fits.h"
#include "run/tensors.h"
#include "sim.h"

#include <stdio.h>
#include <sys/stat.h>

/* Outputs that may be inputs of the same kernel, as the model calls it. */
static const struct {
	const char *output, *input;
} may_be_the_same[] = {{"rotated", "x"}, {"projected", "residual"}};

/* From here on, each such output of the kernel is at its input. Its own memory stays, and is not used. */
static void put_in_place(struct device_memory *memory)
{
	for (size_t i = 0; i < sizeof may_be_the_same / sizeof may_be_the_same[0]; i++)
		for (size_t j = 0; j < memory->count; j++)
			if (strcmp(memory->allocations[j].name, may_be_the_same[i].output) == 0)
				memory->allocations[j].pointer = device_find(memory, may_be_the_same[i].input);
}

static cudaError_t launch(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *report, struct error *error)
{
	struct closed_forms forms = kernel->forms(problem);
	cudaError_t status = kernel->prepare ? kernel->prepare(problem, memory) : cudaSuccess;
	if (sim_report(report) != 0)
		error_set(error, EXIT_ENVIRONMENT, "%s: cannot be written", report);
	else if (status == cudaSuccess)
		status = kernel_launch(kernel, &forms, problem, memory);
	return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

int chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	struct error error = {0};
	struct options options;
	struct device device;
	bool masked = take_option(&argc, argv, "--masked"), in_place = take_option(&argc, argv, "--in-place");
	if (options_parse(argc, argv, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0)
		return complain("runner", &error);
	struct problem problem = options.problem;
	const struct kernel *kernel = chapter_kernel(chapter, options.kernel);
	if (!kernel || !options.save) {
		error_set(&error, EXIT_USAGE, "expected --kernel NAME --save DIR");
		return complain("runner", &error);
	}

	char path[4096], report[4096];
	snprintf(path, sizeof path, "%s/run.txt", options.save);
	snprintf(report, sizeof report, "%s/report.jsonl", options.save);
	FILE *diary = mkdir(options.save, 0700) == 0 ? fopen(path, "w") : NULL;
	struct inputs inputs;
	if (!diary)
		error_set(&error, EXIT_ENVIRONMENT, "%s: cannot be written", path);
	if (!diary || make_inputs(chapter, kernel, &options, masked, &problem, &inputs, &error) != 0)
		return complain("runner", &error);
	setvbuf(diary, NULL, _IONBF, 0);
	struct closed_forms forms;
	char reason[200];
	if (!kernel_fits(kernel, &problem, &device, &forms, reason, sizeof reason)) {
		fprintf(diary, "cannot %s\n", reason);
		return EXIT_ENVIRONMENT;
	}

	struct device_memory memory = {.count = 0};
	tensors_allocate(kernel, &problem, inputs.list, &memory);
	inputs_free(&inputs);
	if (in_place)
		put_in_place(&memory);
	cudaError_t status = launch(kernel, &problem, &memory, report, &error);
	if (error.exit_code)
		return complain("runner", &error);
	fprintf(diary, "launched %s\n", cudaGetErrorName(status));
	if (status != cudaSuccess)
		return EXIT_VERIFICATION;
	if (tensors_save(kernel, &problem, &memory, options.save, &error) != 0)
		return complain("runner", &error);
	fprintf(diary, "saved\n");
	return 0;
}
