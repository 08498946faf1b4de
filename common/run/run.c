#include "run/run.h"

#include "measure/plain_build.h"
#include "measure/timing.h"
#include "problem/attention.h"
#include "run/compare.h"
#include "run/details.h"
#include "run/estimate.h"
#include "run/fits.h"
#include "run/host_code.h"
#include "run/tensors.h"
#include "verify/range.h"

/* ---- launching ---- */

/* What is the machine's, whatever is launched on it; all else that a launch can return is the kernel's or its launcher's. */
static bool is_of_the_machine(cudaError_t status)
{
	return status == cudaErrorNoDevice || status == cudaErrorNoKernelImageForDevice;
}

/* Launches once. A launch that the device refuses and a fault are failed verifications, of a kernel that fits (fits.h). */
static bool launch_once(
	const struct run_result *result, struct kernel_result *kernel, const struct device_memory *memory,
	size_t *first_launch)
{
	unsigned long long hazards = device_hazards();
	const struct kernel *described = kernel->kernel;
	(void)cudaGetLastError(); /* an error of the kernel before is none of this one's */
	host_code_of(described->name);
	cudaError_t status = described->prepare ? described->prepare(&result->problem, memory) : cudaSuccess;
	*first_launch = counts_launches();
	if (status == cudaSuccess)
		status = kernel_launch(described, &kernel->forms, &result->problem, memory);
	bool launched = status == cudaSuccess;
	if (launched)
		status = cudaDeviceSynchronize();
	host_code_of(NULL);
	if (is_of_the_machine(status))
		device_check(status, described->name, __FILE__, __LINE__);
	if (status != cudaSuccess) {
		const char *why = launched ? NULL : device_refusal();
		snprintf(
			kernel->failure, sizeof kernel->failure, "%s%s: %s%s%s",
			launched ? "" : "not launched: ", cudaGetErrorName(status), cudaGetErrorString(status),
			why ? ": " : "", why ? why : "");
		return false;
	}
	if (device_hazards() != hazards)
		snprintf(
			kernel->failure, sizeof kernel->failure, "the simulated device reported %llu error%s",
			device_hazards() - hazards, device_hazards() - hazards == 1 ? "" : "s");
	return true;
}

/* ---- how long it takes, and at least ---- */

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

static int time_kernel(
	const struct run_result *result, struct kernel_result *kernel, const struct device_memory *memory,
	struct error *error)
{
	struct launch_context context = {kernel->kernel, &kernel->forms, &result->problem, memory};
	double budget_s = time_budget_s / (double)result->chapter->kernel_count;
	struct time_plan plan = {result->options->warmup, result->options->repeat, budget_s};
	if (kernel->counts.counted)
		return time_in_plain_build(result, kernel, error);
	host_code_of(kernel->kernel->name);
	kernel->time = time_measure(result->device, &plan, launch_again, &context);
	host_code_of(NULL);
	return 0;
}

/* From its closed forms and tensors; `shared_requested_bytes` is what it asks of shared memory. */
static struct floor floor_of(
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
		if (tensor->role == TENSOR_PREPARED || tensor->role == TENSOR_FILLED)
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

/* Where the problem has fewer heads than there are SMs, also that of as many heads as SMs. */
static void find_floor(const struct run_result *result, struct kernel_result *kernel)
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

/* ---- the run ---- */

struct run {
	struct run_result *result;
	const struct kernel *kernels;
	size_t kernel_count;
	struct inputs inputs;
	struct expectations expectations;
	bool faulted; /* a kernel took the device with it */
	struct progress *progress;
	FILE *diagnostics;
};

/* Verify, then time: a kernel that failed has no time. `held`: bytes that were held before its tensors. Returns 0 or a code with *error. */
static int run_on_device(
	struct run *run, struct kernel_result *kernel, struct device_memory *memory, size_t held, const char *save,
	struct error *error)
{
	struct run_result *result = run->result;
	size_t prepared = counts_launches(), first = prepared;
	bool launched = launch_once(result, kernel, memory, &first);
	kernel->peak_bytes = device_peak_bytes(memory) - held;
	if (!launched) {
		run->faulted = cudaDeviceSynchronize() != cudaSuccess;
		return 0;
	}
	progress_clear(run->progress);
	if (counts_collect(prepared, first, &kernel->prepared, error) != 0 ||
	    counts_collect(first, counts_launches(), &kernel->counts, error) != 0 ||
	    compare_outputs(result, kernel, &run->expectations, memory, run->diagnostics, error) != 0)
		return error->exit_code;
	if (save && tensors_save(kernel->kernel, &result->problem, memory, save, error) != 0)
		return error->exit_code;
	compare_memory(kernel, memory->held_bytes);
	compare_forms(kernel);
	find_floor(result, kernel);
	if (kernel->verified && result->options->time) {
		progress_show(run->progress, "%s: timing", kernel->kernel->name);
		return time_kernel(result, kernel, memory, error);
	}
	return 0;
}

static int run_kernel(struct run *run, struct kernel_result *kernel, const char *save, struct error *error)
{
	const struct run_result *result = run->result;
	struct device_memory memory = {.count = 0};
	progress_show(
		run->progress, "%s: %s", kernel->kernel->name,
		result->device->simulated ? "running and counting" : "running");
	size_t held = device_start_peak();
	tensors_allocate(kernel->kernel, &result->problem, run->inputs.list, &memory);
	int status = run_on_device(run, kernel, &memory, held, save, error);
	if (run->faulted) /* after a fault memory cannot be freed either */
		return status;
	cudaError_t freed = device_free_all(&memory);
	if (freed != cudaSuccess && kernel->verified) {
		kernel->verified = false;
		snprintf(
			kernel->failure, sizeof kernel->failure, "its tensors cannot be freed: %s: %s",
			cudaGetErrorName(freed), cudaGetErrorString(freed));
	}
	return status;
}

/* Says of each kernel that cannot run the problem why; of one that was named that is an error. */
static int skip_what_does_not_fit(struct run *run, bool named, struct error *error)
{
	struct run_result *result = run->result;
	for (size_t i = 0; i < run->kernel_count; i++) {
		struct kernel_result *kernel = &result->kernels[i];
		*kernel = (struct kernel_result){.kernel = &run->kernels[i], .problem = &result->problem};
		bool fits = kernel_fits(
			kernel->kernel, &result->problem, result->device, &kernel->forms, kernel->skipped,
			sizeof kernel->skipped);
		if (!fits && named)
			return error_set(error, EXIT_ENVIRONMENT, "%s: %s", kernel->kernel->name, kernel->skipped);
	}
	result->kernel_count = run->kernel_count;
	return 0;
}

/* The last kernel that is run is the one that --save is for; kernel_count: there is none. */
static size_t last_to_run(const struct run_result *result)
{
	size_t last = result->kernel_count;
	for (size_t i = 0; i < result->kernel_count; i++)
		if (!*result->kernels[i].skipped)
			last = i;
	return last;
}

static int run_kernels(struct run *run, struct error *error)
{
	struct run_result *result = run->result;
	bool all_verified = true;
	size_t last = last_to_run(result);
	for (size_t i = 0; i < result->kernel_count; i++) {
		struct kernel_result *kernel = &result->kernels[i];
		if (*kernel->skipped)
			continue;
		if (run->faulted) {
			snprintf(kernel->skipped, sizeof kernel->skipped, "not run: the kernel before it faulted");
			continue;
		}
		if (run_kernel(run, kernel, i == last ? result->options->save : NULL, error) != 0)
			return error->exit_code;
		all_verified = all_verified && kernel->verified;
	}
	return all_verified ? EXIT_ALL_VERIFIED : EXIT_VERIFICATION;
}

/* What fits nowhere; and, of one problem, what would take hours. A sweep is looked at as a whole, before it begins. */
static int refuse_too_much(struct run *run, struct error *error)
{
	const struct run_result *result = run->result;
	const struct problem *problem = &result->problem;
	char what[ESTIMATE_TEXT_SIZE];
	if (refuse_what_fits_nowhere(run->kernels, run->kernel_count, problem, result->device, error) != 0)
		return error->exit_code;
	if (result->options->sweep)
		return 0;
	double work = estimate_run(run->kernels, run->kernel_count, problem, result->device);
	return estimate_refuse_large(
		result, run->kernels, run->kernel_count, work, estimate_what(result->chapter, problem, what), error);
}

/* A problem that no kernel can run is refused before its inputs and its reference take memory and minutes. */
static int make_inputs_and_reference(struct run *run, struct error *error)
{
	struct run_result *result = run->result;
	const struct chapter *chapter = result->chapter;
	struct problem *problem = &result->problem;
	bool sized_by_input = problem->load || result->options->values;
	if (!sized_by_input && refuse_too_much(run, error) != 0)
		return error->exit_code;
	progress_show(run->progress, "%s: inputs and reference", chapter->program);
	if (inputs_make(chapter, run->kernels, run->kernel_count, result->options, problem, &run->inputs, error) != 0)
		return error->exit_code;
	result->generated = run->inputs.generated;
	if (result->options->details &&
	    details_inputs(result->options->details, run->kernels, run->kernel_count, problem, &run->inputs, error) !=
	            0)
		return error->exit_code;
	if (sized_by_input && refuse_too_much(run, error) != 0)
		return error->exit_code;
	for (size_t k = 0; k < run->kernel_count; k++)
		if (range_check(run->kernels[k].tensors, problem, run->inputs.list, error) != 0)
			return error->exit_code;
	if (chapter->expect(problem, run->inputs.list, &run->expectations, error) != 0)
		return error->exit_code;
	result->rows_checked = run->expectations.row_count;
	result->rows = run->expectations.all_rows;
	return 0;
}

static int run_all(struct run *run, bool named, struct error *error)
{
	struct run_result *result = run->result;
	if (make_inputs_and_reference(run, error) != 0 || skip_what_does_not_fit(run, named, error) != 0)
		return error->exit_code;
	progress_clear(run->progress);
	if (named && !result->options->sweep)
		tell_other_tiles(
			run->diagnostics, result->chapter->program, run->kernels, result->options, &result->problem);
	int status = run_kernels(run, error);
	/* Also where a kernel is wrong, but not where it took the device with it. */
	if (status <= EXIT_VERIFICATION && result->chapter->examine && cudaDeviceSynchronize() == cudaSuccess &&
	    result->chapter->examine(result, run->inputs.list, error) != 0)
		return error->exit_code;
	return status;
}

int run_problem(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, bool named,
	struct progress *progress, FILE *diagnostics, struct error *error)
{
	struct run run = {
		.result = result,
		.kernels = kernels,
		.kernel_count = kernel_count,
		.progress = progress,
		.diagnostics = diagnostics};
	counts_forget();
	int status = run_all(&run, named, error);
	progress_clear(progress);
	expectations_free(&run.expectations);
	inputs_free(&run.inputs);
	return status;
}
