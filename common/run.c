#include "run.h"

#include "fits.h"

#include "measure/plain_build.h"
#include "problem/load.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Seconds for the timing of all kernels of a chapter unless --repeat says otherwise. */
static const double time_budget_s = 1.5;

/* What lives on the host while a problem runs. */
struct host {
	struct named_values inputs[MAX_TENSORS + 1]; /* ends with a NULL name */
	float *values[MAX_TENSORS];                  /* the same, to be freed */
	size_t input_count;
	struct expectations expectations;
	bool expected;
};

static size_t tensor_elements(const struct problem *problem, const struct tensor *tensor)
{
	size_t shape[MAX_RANK];
	size_t rank = problem_shape(problem, tensor->shape, shape);
	return shape_elements(shape, rank);
}

static void free_host(struct host *host)
{
	for (size_t i = 0; i < host->input_count; i++)
		free(host->values[i]);
	if (host->expected)
		expectations_free(&host->expectations);
}

/* ---- inputs ---- */

static bool has_input(const struct host *host, const char *name)
{
	for (size_t i = 0; i < host->input_count; i++)
		if (strcmp(host->inputs[i].name, name) == 0)
			return true;
	return false;
}

static unsigned dimensions_given(const struct options *options)
{
	static const struct {
		enum option_name option;
		char letter;
	} pairs[] = {{OPTION_BATCH, 'B'}, {OPTION_HEADS, 'H'}, {OPTION_SEQ, 'N'},
	             {OPTION_DIM, 'd'},   {OPTION_ROWS, 'R'},  {OPTION_COLS, 'C'},
	             {OPTION_M, 'm'},     {OPTION_N, 'n'},     {OPTION_K, 'k'}};
	unsigned fixed = 0;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (options->given & OPTION_BIT(pairs[i].option))
			fixed |= dimension_bit(pairs[i].letter);
	return fixed;
}

static int make_input(
	struct run_result *result, const struct tensor *tensor, unsigned *fixed, float **values, struct error *error)
{
	struct problem *problem = &result->problem;
	const struct chapter *chapter = result->chapter;
	if (chapter->provide && chapter->provide(result->options, tensor->name, problem, fixed, values, error) != 0)
		return error->exit_code;
	if (*values)
		return 0;
	bool left_out =
		problem->load && tensor->role == TENSOR_GRADIENT && !tensor_file_exists(problem->load, tensor->name);
	if (left_out)
		result->generated = tensor->name;
	if (problem->load && !left_out) {
		const char *masked = chapter->may_be_minus_infinity;
		bool may_be_minus_infinity = masked && strcmp(masked, tensor->name) == 0;
		return load_tensor(
			problem->load, tensor->name, tensor->shape, may_be_minus_infinity, problem, fixed, values,
			error);
	}
	if (!(*values = malloc(tensor_elements(problem, tensor) * sizeof(float))))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
	chapter->fill(problem, tensor->name, *values);
	return 0;
}

/* Every tensor that some kernel reads, once. */
static int make_inputs(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct host *host,
	struct error *error)
{
	unsigned fixed = dimensions_given(result->options);
	for (size_t i = 0; i < kernel_count; i++)
		for (const struct tensor *tensor = kernels[i].tensors; tensor->name; tensor++) {
			if (!tensor_is_input(tensor) || has_input(host, tensor->name))
				continue;
			float *values = NULL;
			if (make_input(result, tensor, &fixed, &values, error) != 0)
				return error->exit_code;
			host->values[host->input_count] = values;
			host->inputs[host->input_count++] = (struct named_values){tensor->name, values};
		}
	problem_settle(&result->problem);
	return 0;
}

/* ---- device tensors ---- */

static int refuse_what_fits_nowhere(
	const struct run_result *result, const struct kernel *kernels, size_t kernel_count, struct error *error)
{
	struct closed_forms forms;
	char reason[200];
	for (size_t i = 0; i < kernel_count; i++)
		if (kernel_fits(&kernels[i], &result->problem, result->device, &forms, reason, sizeof reason))
			return 0;
	return error_set(error, EXIT_ENVIRONMENT, "%s: %s", kernels[kernel_count - 1].name, reason);
}

static const float *find_input(const struct host *host, const char *name)
{
	for (size_t i = 0; i < host->input_count; i++)
		if (strcmp(host->inputs[i].name, name) == 0)
			return host->inputs[i].values;
	return NULL;
}

static void allocate_tensors(
	const struct run_result *result, const struct kernel *kernel, const struct host *host,
	struct device_memory *memory)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t bytes = tensor_elements(&result->problem, tensor) * sizeof(float);
		float *pointer = device_allocate(memory, tensor->name, bytes);
		if (tensor_is_input(tensor))
			CUDA_CHECK(
				cudaMemcpy(pointer, find_input(host, tensor->name), bytes, cudaMemcpyHostToDevice));
	}
}

/* ---- verification ---- */

/* Launches once. A fault of the kernel is a failed verification; the device is of no use afterwards. */
static bool launch_once(
	struct run_result *result, struct kernel_result *kernel, struct device_memory *memory, size_t *first_launch)
{
	unsigned long long hazards = device_hazards();
	const struct kernel *described = kernel->kernel;
	cudaError_t status = described->prepare ? described->prepare(&result->problem, memory) : cudaSuccess;
	*first_launch = counts_launches();
	if (status == cudaSuccess)
		status = described->launch(&result->problem, memory);
	bool launched = status == cudaSuccess;
	if (launched)
		status = cudaDeviceSynchronize();
	if (!launched && device_hazards() == hazards)
		device_check(status, kernel->kernel->name, __FILE__, __LINE__);
	if (status != cudaSuccess) {
		snprintf(
			kernel->failure, sizeof kernel->failure, "%s: %s", cudaGetErrorName(status),
			cudaGetErrorString(status));
		return false;
	}
	if (device_hazards() != hazards)
		snprintf(
			kernel->failure, sizeof kernel->failure, "the simulated device reported %llu hazard%s",
			device_hazards() - hazards, device_hazards() - hazards == 1 ? "" : "s");
	return true;
}

/* For the page of --explain: where outputs[output_count] is wrong. Without memory the page has no map. */
static void map_errors(
	const struct run_result *result, struct kernel_result *kernel, const struct expectation *expectation,
	const float *actual, const size_t *shape, size_t rank)
{
	if (!result->options->explain)
		return;
	if (!kernel->maps && !(kernel->maps = calloc(MAX_EXPECTATIONS, sizeof *kernel->maps)))
		return;
	error_map_make(
		&kernel->maps[kernel->output_count], &kernel->outputs[kernel->output_count].check, expectation,
		actual, shape, rank, result->problem.tile_q);
}

static bool check_output(
	const struct run_result *result, struct kernel_result *kernel, const struct tensor *tensor,
	const struct expectation *expectation, const float *actual, FILE *diagnostics)
{
	struct output_result *output = &kernel->outputs[kernel->output_count];
	size_t shape[MAX_RANK], rank = problem_shape(&result->problem, tensor->shape, shape);
	struct check check = check_tensor(expectation, actual);
	if (!check.passed) {
		fprintf(diagnostics, "%s: %s is wrong\n", kernel->kernel->name, tensor->name);
		check_print_worst(diagnostics, &check, expectation, actual, shape, rank);
	}
	*output = (struct output_result){.check = check, .rank = rank};
	check_coordinates(check.worst_row, check.worst_column, expectation->row_length, shape, rank, output->at);
	if (kernel->output_count > 0 && check_is_worse(&check, &kernel->outputs[kernel->worst].check))
		kernel->worst = kernel->output_count;
	map_errors(result, kernel, expectation, actual, shape, rank);
	kernel->output_count++;
	return check.passed;
}

/* Copies each output back, compares it, and writes it when it is to be saved. */
static int check_outputs(
	struct run_result *result, struct kernel_result *kernel, const struct host *host,
	const struct device_memory *memory, const char *save, FILE *diagnostics, struct error *error)
{
	bool passed = true, judged = false;
	for (const struct tensor *tensor = kernel->kernel->tensors; tensor->name; tensor++) {
		if (!tensor_is_output(tensor))
			continue;
		size_t bytes = tensor_elements(&result->problem, tensor) * sizeof(float);
		float *actual = malloc(bytes);
		if (!actual)
			return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
		CUDA_CHECK(cudaMemcpy(actual, device_find(memory, tensor->name), bytes, cudaMemcpyDeviceToHost));
		const struct expectation *expectation =
			expectations_find_shaped(&host->expectations, tensor->name, tensor->shape);
		if (!expectation) { /* nobody said what it should be: that is no reason to believe it */
			passed = false;
			snprintf(
				kernel->failure, sizeof kernel->failure, "nothing to verify %s against",
				tensor->name);
		} else {
			passed = check_output(result, kernel, tensor, expectation, actual, diagnostics) && passed;
			/* What was prepared for the kernel says nothing of the kernel. */
			judged = judged || (tensor->role == TENSOR_OUTPUT &&
			                    kernel->outputs[kernel->output_count - 1].check.judged);
		}

		size_t shape[MAX_RANK], rank = problem_shape(&result->problem, tensor->shape, shape);
		int written = save ? save_tensor(save, tensor->name, actual, shape, rank, error) : 0;
		free(actual);
		if (written != 0)
			return written;
	}
	if (passed && !judged && !kernel->failure[0])
		snprintf(
			kernel->failure, sizeof kernel->failure,
			"nothing could be judged: with these inputs zeros would pass for every output");
	kernel->verified = passed && judged && !kernel->failure[0];
	return 0;
}

static bool is_statistic(const struct kernel *kernel, const char *name)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
		if (strcmp(tensor->name, name) == 0)
			return tensor->statistic;
	return false;
}

/* Of the statistics, or of everything else that the kernel touched: that is what a model is compared with. */
static struct traffic sum_traffic(const struct kernel_result *kernel, enum model_counts what, bool statistics)
{
	struct traffic sum = {0, 0};
	const struct launch_counts *total = &kernel->counts.total;
	for (size_t t = 0; t < total->tensor_count; t++) {
		const struct tensor_traffic *tensor = &total->tensors[t];
		const struct traffic *traffic = what == MODEL_FOOTPRINT ? &tensor->footprint : &tensor->requested;
		if (is_statistic(kernel->kernel, tensor->name) != statistics)
			continue;
		sum.read_bytes += traffic->read_bytes;
		sum.write_bytes += traffic->write_bytes;
	}
	return sum;
}

static uint64_t sum_atomics(const struct kernel_result *kernel, bool statistics)
{
	uint64_t sum = 0;
	const struct launch_counts *total = &kernel->counts.total;
	for (size_t t = 0; t < total->tensor_count; t++)
		if (is_statistic(kernel->kernel, total->tensors[t].name) == statistics)
			sum += total->tensors[t].atomic_bytes;
	return sum;
}

/* The first reason is the one that is told. */
__attribute__((format(printf, 2, 3))) static void not_verified(struct kernel_result *kernel, const char *format, ...)
{
	va_list arguments;
	kernel->verified = false;
	if (kernel->failure[0])
		return;
	va_start(arguments, format);
	vsnprintf(kernel->failure, sizeof kernel->failure, format, arguments);
	va_end(arguments);
}

static void compare_atomics(struct kernel_result *kernel)
{
	kernel->measured_atomic_bytes = sum_atomics(kernel, false);
	if (kernel->measured_atomic_bytes != 4 * kernel->forms.atomics)
		not_verified(kernel, "the atomics are not as many as expected");
}

/* l, m, LSE, D are small beside the matrices, unless a kernel asks for them again and again. */
static void compare_statistics(struct kernel_result *kernel)
{
	struct traffic requested = sum_traffic(kernel, MODEL_REQUESTED, true);
	uint64_t expected = 4 * kernel->forms.statistics;
	kernel->statistic_bytes = requested.read_bytes + requested.write_bytes + sum_atomics(kernel, true);
	if (kernel->statistic_bytes != expected)
		not_verified(
			kernel, "%llu bytes of statistics were requested, its closed form says %llu",
			(unsigned long long)kernel->statistic_bytes, (unsigned long long)expected);
}

/* The floor of a GPU run rests on this number, and only a counting run can check it. */
static void compare_blocks(struct kernel_result *kernel)
{
	uint64_t expected = kernel->forms.blocks;
	if (kernel->counts.blocks != expected)
		not_verified(
			kernel, "%llu blocks were launched, its description says %llu",
			(unsigned long long)kernel->counts.blocks, (unsigned long long)expected);
}

static void compare_forms(struct kernel_result *kernel)
{
	kernel->compared = true;
	if (!kernel->counts.counted)
		return;
	for (size_t i = 0; i < MODELS; i++) {
		const struct model *model = &kernel->forms.models[i];
		struct traffic measured = sum_traffic(kernel, model->counts, false);
		kernel->measured[i] = measured;
		if (measured.read_bytes != 4 * model->read_elements ||
		    measured.write_bytes != 4 * model->write_elements)
			not_verified(
				kernel, "the %s count is not its closed form, %s",
				model->counts == MODEL_FOOTPRINT ? "footprint" : "requested", model->formula);
	}
	compare_atomics(kernel);
	compare_statistics(kernel);
	compare_blocks(kernel);
}

/* ---- time ---- */

struct launch_context {
	const struct kernel *kernel;
	const struct problem *problem;
	const struct device_memory *memory;
};

static cudaError_t launch_again(void *context)
{
	const struct launch_context *launch = context;
	return launch->kernel->launch(launch->problem, launch->memory);
}

/* The instrumented build asks its plain twin for the time. */
static void time_in_plain_build(const struct run_result *result, struct kernel_result *kernel)
{
	char storage[PROBLEM_ARGUMENTS][32], repeat[32], warmup[32];
	const char *arguments[PROBLEM_ARGUMENTS + 9];
	const struct options *options = result->options;
	size_t count = options_of_problem(options, &result->problem, result->chapter->options, storage, arguments);
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
	arguments[count] = NULL;
	if (plain_build_time(arguments, &kernel->time) == PLAIN_BUILD_FAILED) {
		kernel->verified = false;
		snprintf(
			kernel->failure, sizeof kernel->failure, "%s.fast, the plain build, did not verify",
			result->chapter->program);
	}
}

static void time_kernel(const struct run_result *result, struct kernel_result *kernel, struct device_memory *memory)
{
	struct launch_context context = {kernel->kernel, &result->problem, memory};
	double budget_s = time_budget_s / (double)result->chapter->kernel_count;
	struct time_plan plan = {result->options->warmup, result->options->repeat, budget_s};
	if (kernel->counts.counted)
		time_in_plain_build(result, kernel);
	else
		kernel->time = time_measure(result->device, &plan, launch_again, &context);
}

static void find_floor(const struct run_result *result, struct kernel_result *kernel)
{
	const struct gpu *gpu = result->device->gpu;
	const struct kernel *described = kernel->kernel;
	if (!gpu)
		return;
	struct floor_work work = {
		.flop = kernel->forms.flop,
		.exponentials = kernel->forms.exponentials,
		.shared_bytes = floor_shared_bytes((double)kernel->counts.shared_requested_bytes),
		.blocks = kernel->forms.blocks,
	};
	for (const struct tensor *tensor = described->tensors; tensor->name; tensor++) {
		double bytes = tensor_bytes(&result->problem, tensor);
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
	kernel->floor = floor_compute(&work, gpu);
	kernel->has_floor = true;
}

/* ---- the run ---- */

/* Verify, then time: a kernel that failed has no time. Returns 0 or a code with *error. */
static int run_kernel(
	struct run_result *result, struct kernel_result *kernel, const struct host *host, const char *save,
	struct progress *progress, FILE *diagnostics, bool *faulted, struct error *error)
{
	struct device_memory memory = {.count = 0};
	size_t prepared = counts_launches(), first = prepared;
	const char *name = kernel->kernel->name;

	progress_show(progress, true, "%s: %s", name, result->device->simulated ? "running and counting" : "running");
	allocate_tensors(result, kernel->kernel, host, &memory);
	kernel->peak_bytes = memory.peak_bytes;
	if (!launch_once(result, kernel, &memory, &first)) {
		*faulted = true; /* its memory cannot be freed either */
		return 0;
	}
	progress_clear(progress);
	int status = counts_collect(prepared, first, &kernel->prepared, error);
	if (status == 0)
		status = counts_collect(first, counts_launches(), &kernel->counts, error);
	if (status == 0)
		status = check_outputs(result, kernel, host, &memory, save, diagnostics, error);
	if (status == 0) {
		compare_forms(kernel);
		find_floor(result, kernel);
	}
	if (status == 0 && kernel->verified) {
		progress_show(progress, true, "%s: timing", name);
		time_kernel(result, kernel, &memory);
	}
	progress_clear(progress);
	device_free_all(&memory);
	return status;
}

static int run_kernels(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, bool named,
	const struct host *host, struct progress *progress, FILE *diagnostics, struct error *error)
{
	bool all_verified = true, faulted = false;
	size_t last_run = kernel_count;
	for (size_t i = 0; i < kernel_count; i++) {
		struct kernel_result *kernel = &result->kernels[i];
		*kernel = (struct kernel_result){.kernel = &kernels[i], .problem = &result->problem};
		if (!kernel_fits(
			    &kernels[i], &result->problem, result->device, &kernel->forms, kernel->skipped,
			    sizeof kernel->skipped)) {
			if (named)
				return error_set(error, EXIT_ENVIRONMENT, "%s: %s", kernels[i].name, kernel->skipped);
			continue;
		}
		last_run = i;
	}
	result->kernel_count = kernel_count;
	for (size_t i = 0; i < kernel_count; i++) {
		struct kernel_result *kernel = &result->kernels[i];
		if (kernel->skipped[0])
			continue;
		if (faulted) {
			snprintf(kernel->skipped, sizeof kernel->skipped, "not run: the kernel before it faulted");
			continue;
		}
		const char *save = i == last_run ? result->options->save : NULL;
		int status = run_kernel(result, kernel, host, save, progress, diagnostics, &faulted, error);
		if (status != 0)
			return status;
		all_verified = all_verified && kernel->verified;
	}
	return all_verified ? EXIT_ALL_VERIFIED : EXIT_VERIFICATION;
}

int run_problem(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, bool named,
	struct progress *progress, FILE *diagnostics, struct error *error)
{
	struct host host = {.input_count = 0};
	counts_forget();
	/* A problem that no kernel can run is refused before its inputs and its reference take memory and minutes. */
	bool sized_by_input = result->problem.load || result->options->values;
	int status = sized_by_input ? 0 : refuse_what_fits_nowhere(result, kernels, kernel_count, error);
	progress_show(progress, true, "%s: inputs and reference", result->chapter->program);
	if (status == 0)
		status = make_inputs(result, kernels, kernel_count, &host, error);
	if (status == 0 && sized_by_input)
		status = refuse_what_fits_nowhere(result, kernels, kernel_count, error);
	if (status == 0) {
		status = result->chapter->expect(&result->problem, host.inputs, &host.expectations, error);
		host.expected = status == 0;
		result->rows_checked = host.expectations.row_count;
		result->rows = host.expectations.all_rows;
	}
	if (status == 0)
		status = run_kernels(result, kernels, kernel_count, named, &host, progress, diagnostics, error);
	/* Also where a kernel is wrong, but not where it took the device with it. */
	if (status <= EXIT_VERIFICATION && result->chapter->examine && cudaDeviceSynchronize() == cudaSuccess &&
	    result->chapter->examine(result, host.inputs, error) != 0)
		status = error->exit_code;
	progress_clear(progress);
	free_host(&host);
	return status;
}

void run_result_free(struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++) {
		counts_free(&result->kernels[i].prepared);
		counts_free(&result->kernels[i].counts);
		for (size_t c = 0; result->kernels[i].maps && c < result->kernels[i].output_count; c++)
			error_map_free(&result->kernels[i].maps[c]);
		free(result->kernels[i].maps);
	}
	result->kernel_count = 0;
	free(result->findings);
	result->findings = NULL;
}
