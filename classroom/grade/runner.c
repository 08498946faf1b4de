/*
 * The program that runs a submission. It stands in the place of common/main.c and common/run.c: the chapter's own
 * chapter.c calls this chapter_main, which puts the inputs of --load on the device, launches one kernel and writes its
 * outputs to --save. It verifies nothing. What the outputs should be is not in this process (common/verify is not
 * linked, judge.mk), so there is nothing here for a submission to find.
 *
 *     runner --load INPUTS --save OUTPUTS --kernel NAME [options of the problem]
 *
 * OUTPUTS/run.txt grows as the run goes: "prepared N" launches that are not the kernel's own, then "launched NAME" of
 * the CUDA status, then "saved". What was counted goes to SIM_REPORT, written by the simulated device.
 */
#include "fits.h"
#include "guard.h"

#include "problem/load.h"
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct diary {
	FILE *file;
};

static __attribute__((format(printf, 2, 3))) void note(struct diary *diary, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(diary->file, format, arguments);
	va_end(arguments);
	fflush(diary->file);
}

static int complain(const struct error *error)
{
	fprintf(stderr, "runner: %s\n", error->message);
	return error->exit_code;
}

static const struct kernel *find_kernel(const struct chapter *chapter, const char *name)
{
	for (size_t i = 0; name && i < chapter->kernel_count; i++)
		if (strcmp(chapter->kernels[i].name, name) == 0)
			return &chapter->kernels[i];
	return NULL;
}

/* Reads every input before anything is allocated: the files decide the shape. */
static int read_inputs(
	const struct chapter *chapter, const struct kernel *kernel, struct problem *problem,
	float *values[MAX_TENSORS], struct error *error)
{
	unsigned fixed = 0;
	for (size_t i = 0; kernel->tensors[i].name; i++) {
		const struct tensor *tensor = &kernel->tensors[i];
		const char *masked = chapter->may_be_minus_infinity;
		if (tensor_is_input(tensor) &&
		    load_tensor(
			    problem->load, tensor->name, tensor->shape, masked && strcmp(masked, tensor->name) == 0,
			    problem, &fixed, &values[i], error) != 0)
			return error->exit_code;
	}
	problem_settle(problem);
	return 0;
}

static void allocate(
	const struct kernel *kernel, const struct problem *problem, float *values[MAX_TENSORS],
	struct device_memory *memory)
{
	for (size_t i = 0; kernel->tensors[i].name; i++) {
		size_t bytes = (size_t)tensor_bytes(problem, &kernel->tensors[i]);
		float *pointer = device_allocate(memory, kernel->tensors[i].name, bytes);
		if (values[i])
			CUDA_CHECK(cudaMemcpy(pointer, values[i], bytes, cudaMemcpyHostToDevice));
		free(values[i]);
		values[i] = NULL;
	}
}

static int save_outputs(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	const char *directory, struct error *error)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		if (!tensor_is_output(tensor))
			continue;
		size_t bytes = (size_t)tensor_bytes(problem, tensor), shape[MAX_RANK];
		size_t rank = problem_shape(problem, tensor->shape, shape);
		float *values = malloc(bytes);
		if (!values)
			return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
		CUDA_CHECK(cudaMemcpy(values, device_find(memory, tensor->name), bytes, cudaMemcpyDeviceToHost));
		int status = save_tensor(directory, tensor->name, values, shape, rank, error);
		free(values);
		if (status != 0)
			return status;
	}
	return 0;
}

/* The only place where code of the submission runs on the host: between guard_close and guard_open. */
static __attribute__((noinline)) cudaError_t launch(
	const struct kernel *kernel, const struct problem *problem, const struct device_memory *memory,
	struct diary *diary)
{
	cudaError_t status = cudaSuccess;
	guard_close(__builtin_frame_address(0));
	if (kernel->prepare)
		status = kernel->prepare(problem, memory);
	guard_open();
	note(diary, "prepared %zu\n", sim_launch_count());
	if (status != cudaSuccess)
		return status;
	guard_close(__builtin_frame_address(0));
	status = kernel->launch(problem, memory);
	guard_open();
	return status;
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
	problem.variant = variant_of_chapter(chapter->name);
	const struct kernel *kernel = find_kernel(chapter, options.kernel);
	if (!kernel || !problem.load || !options.save) {
		error_set(&error, EXIT_USAGE, "expected --kernel NAME --load DIR --save DIR");
		return complain(&error);
	}

	char path[4096];
	snprintf(path, sizeof path, "%s/run.txt", options.save);
	struct diary diary = {fopen(path, "w")};
	float *values[MAX_TENSORS] = {0};
	if (!diary.file)
		error_set(&error, EXIT_ENVIRONMENT, "%s: cannot be written", path);
	if (!diary.file || guard_prepare(options.save, &error) != 0 ||
	    read_inputs(chapter, kernel, &problem, values, &error) != 0)
		return complain(&error);
	struct closed_forms forms;
	char reason[200];
	if (!kernel_fits(kernel, &problem, &device, &forms, reason, sizeof reason)) {
		note(&diary, "cannot %s\n", reason);
		return EXIT_ENVIRONMENT;
	}

	struct device_memory memory = {.count = 0};
	allocate(kernel, &problem, values, &memory);
	sim_forget_launches(); /* from here on the engine keeps its records */
	cudaError_t status = launch(kernel, &problem, &memory, &diary);
	if (status == cudaSuccess)
		status = cudaDeviceSynchronize();
	note(&diary, "launched %s\n", cudaGetErrorName(status));
	if (status != cudaSuccess)
		return EXIT_VERIFICATION;
	if (save_outputs(kernel, &problem, &memory, options.save, &error) != 0)
		return complain(&error);
	note(&diary, "saved\n");
	return 0;
}
