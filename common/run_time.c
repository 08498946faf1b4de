#include "run_time.h"

#include "fits.h"
#include "measure/plain_build.h"
#include "measure/timing.h"
#include "problem/attention.h"

/* Seconds for the timing of all kernels of a chapter unless --repeat says otherwise. */
static const double time_budget_s = 1.5;

struct launch_context {
	const struct kernel *kernel;
	const struct closed_forms *forms;
	const struct problem *problem;
	const struct device_memory *memory;
};

static cudaError_t launch_again(void *context)
{
	const struct launch_context *launch = context;
	return kernel_launch(launch->kernel, launch->forms, launch->problem, launch->memory);
}

/* The counting build has the plain one take the time. */
static int time_in_plain_build(const struct run_result *result, struct kernel_result *kernel, struct error *error)
{
	char storage[PROBLEM_ARGUMENTS][32], repeat[32], warmup[32];
	const char *arguments[PROBLEM_ARGUMENTS + 10];
	const struct options *options = result->options;
	/* Where all kernels are run, the tiles are for those that take them. */
	uint64_t taken = result->chapter->options & ~tiles_not_taken(kernel->kernel, options, &result->problem);
	size_t count = options_of_problem(options, &result->problem, taken, storage, arguments);
	arguments[count++] = "--kernel";
	arguments[count++] = kernel->kernel->name;
	arguments[count++] = "--gpu";
	arguments[count++] = result->device->name;
	if (options->repeat) {
		snprintf(repeat, sizeof repeat, "%zu", options->repeat);
		arguments[count++] = "--repeat";
		arguments[count++] = repeat;
	}
	snprintf(warmup, sizeof warmup, "%zu", options->warmup);
	arguments[count++] = "--warmup";
	arguments[count++] = warmup;
	arguments[count++] = "--yes"; /* who asked for this run asked for its times */
	arguments[count] = NULL;
	int status = plain_build_time(arguments, &kernel->time, error);
	if (status != EXIT_VERIFICATION)
		return status;
	kernel->verified = false;
	snprintf(
		kernel->failure, sizeof kernel->failure, "%s.fast, the plain build, did not verify",
		result->chapter->program);
	return 0;
}

int time_kernel(
	const struct run_result *result, struct kernel_result *kernel, const struct device_memory *memory,
	struct error *error)
{
	struct launch_context context = {kernel->kernel, &kernel->forms, &result->problem, memory};
	double budget_s = time_budget_s / (double)result->chapter->kernel_count;
	struct time_plan plan = {result->options->warmup, result->options->repeat, budget_s};
	if (kernel->counts.counted)
		return time_in_plain_build(result, kernel, error);
	kernel->time = time_measure(result->device, &plan, launch_again, &context);
	return 0;
}

struct floor floor_of(
	const struct kernel *kernel, const struct problem *problem, double shared_requested_bytes,
	const struct gpu *gpu)
{
	struct closed_forms forms = kernel->forms(problem);
	struct floor_work work = {
		.input_bytes = -(double)(forms.unread * sizeof(float)),
		.flop = forms.flop,
		.exponentials = forms.exponentials,
		.shared_bytes = floor_shared_bytes(shared_requested_bytes),
		.blocks = forms.blocks,
	};
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		double bytes = tensor_bytes(problem, tensor);
		if (tensor->role == TENSOR_PREPARED)
			continue;
		if (tensor_is_input(tensor))
			work.input_bytes += bytes;
		else
			work.written_bytes += bytes;
		/* Statistics may be read by the launch that writes them, as l and m of FlashAttention-1 are. */
		if (tensor->role == TENSOR_SCRATCH && !tensor->statistic)
			work.handed_bytes += floor_handed_bytes(bytes, gpu);
	}
	return floor_compute(&work, gpu);
}

void find_floor(const struct run_result *result, struct kernel_result *kernel)
{
	const struct gpu *gpu = result->device->gpu;
	if (!gpu)
		return;
	double shared_bytes = (double)kernel->counts.shared_requested_bytes;
	size_t heads = attention_heads(&result->problem);
	kernel->floor = floor_of(kernel->kernel, &result->problem, shared_bytes, gpu);
	kernel->has_floor = true;
	if (!(result->chapter->options & OPTION_BIT(OPTION_BATCH)) || heads >= (size_t)gpu->sms)
		return;
	struct problem filled = problem_with_heads(&result->problem, (size_t)gpu->sms);
	double share = (double)gpu->sms / (double)heads;
	kernel->filled = floor_of(kernel->kernel, &filled, share * shared_bytes, gpu);
	kernel->filled_heads = (size_t)gpu->sms;
}
