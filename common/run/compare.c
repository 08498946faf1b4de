#include "run/compare.h"

#include "run/details.h"
#include "support/number.h"
#include "verify/unwritten.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- outputs ---- */

/* Elements of an output that no launch can have written, because even the launch that wrote most of it left as many. */
static size_t count_left(const struct kernel_result *kernel, const char *name, size_t elements)
{
	const struct counts *both[] = {&kernel->prepared, &kernel->counts};
	uint64_t written = 0;
	for (size_t i = 0; i < 2; i++)
		for (size_t l = 0; l < both[i]->launch_count; l++)
			for (size_t t = 0; t < both[i]->launches[l].tensor_count; t++) {
				const struct tensor_traffic *tensor = &both[i]->launches[l].tensors[t];
				if (strcmp(tensor->name, name) == 0 && tensor->footprint.write_bytes > written)
					written = tensor->footprint.write_bytes;
			}
	return elements - smaller(written / sizeof(float), elements);
}

/* The first reason is the one that is told. */
__attribute__((format(printf, 2, 3))) static void not_verified(struct kernel_result *kernel, const char *format, ...)
{
	va_list arguments;
	kernel->verified = false;
	if (*kernel->failure)
		return;
	va_start(arguments, format);
	vsnprintf(kernel->failure, sizeof kernel->failure, format, arguments);
	va_end(arguments);
}

/* Did launches write all of it, and nobody else after them? What launched nothing is told with the counts. */
static bool is_of_launches(
	const struct run_result *result, struct kernel_result *kernel, const struct tensor *tensor,
	const struct device_memory *memory)
{
	uint64_t bytes = tensor_elements(&result->problem, tensor) * sizeof(float);
	uint64_t written = device_written_bytes(memory, tensor->name);
	if (!kernel->counts.counted || kernel->counts.launch_count == 0)
		return true;
	if (written < bytes)
		not_verified(
			kernel, "its launches wrote %llu of the %llu bytes of %s", (unsigned long long)written,
			(unsigned long long)bytes, tensor->name);
	else if (!device_is_as_left(memory, tensor->name))
		not_verified(
			kernel,
			"%s was changed after the last launch that wrote it, by host code, a copy or a memset",
			tensor->name);
	else
		return true;
	return false;
}

/* Of rows that nobody drew: no value is known of them, but that they are numbers. Statistics may be infinite. */
static size_t count_non_finite(const struct tensor *tensor, const float *actual, size_t elements)
{
	size_t count = 0;
	for (size_t i = 0; i < elements; i++)
		count += tensor->statistic ? isnan(actual[i]) : !isfinite(actual[i]);
	return count;
}

static bool check_output(
	const struct run_result *result, struct kernel_result *kernel, const struct tensor *tensor,
	const struct expectation *expectation, const float *actual, FILE *diagnostics)
{
	struct output_result *output = &kernel->outputs[kernel->output_count];
	size_t shape[MAX_RANK], rank = tensor_shape(&result->problem, tensor, shape);
	struct check check = check_tensor(expectation, actual);
	size_t broken =
		expectation->rows && check.passed ? count_non_finite(tensor, actual, shape_elements(shape, rank)) : 0;
	if (broken)
		not_verified(
			kernel, "%zu elements of %s are NaN or Inf, in rows that are not compared", broken,
			tensor->name);
	*output = (struct output_result){
		.check = check,
		.rank = rank,
		.row_length = expectation->row_length,
		.prepared = tensor->role == TENSOR_PREPARED};
	memcpy(output->shape, shape, sizeof shape);
	if (!check.passed) {
		size_t left = kernel->counts.counted ? count_left(kernel, tensor->name, shape_elements(shape, rank))
		                                     : SIZE_MAX;
		unwritten_tell(
			tensor->name, actual, shape, rank, expectation->row_length, left, output->unwritten,
			sizeof output->unwritten);
		fprintf(diagnostics, "%s: %s is wrong\n", kernel->kernel->name, tensor->name);
		if (*output->unwritten)
			fprintf(diagnostics, "  %s\n", output->unwritten);
		check_print_worst(diagnostics, &check, expectation, actual, shape, rank);
	}
	check_coordinates(check.worst_row, check.worst_column, expectation->row_length, shape, rank, output->at);
	if (kernel->output_count > 0 && check_is_worse(&check, &kernel->outputs[kernel->worst].check))
		kernel->worst = kernel->output_count;
	kernel->output_count++;
	return check.passed && !broken;
}

int compare_outputs(
	const struct run_result *result, struct kernel_result *kernel, const struct expectations *expectations,
	const struct device_memory *memory, FILE *diagnostics, struct error *error)
{
	bool passed = true, judged = false;
	for (const struct tensor *tensor = kernel->kernel->tensors; tensor->name; tensor++) {
		const struct expectation *expectation =
			expectations_find_shaped(expectations, tensor->name, tensor->shape);
		float *actual;
		if (!tensor_is_output(tensor))
			continue;
		if (!expectation) { /* nobody said what it should be: that is no reason to believe it */
			passed = false;
			not_verified(kernel, "nothing to verify %s against", tensor->name);
			continue;
		}
		if (tensor_fetch(tensor, &result->problem, memory, &actual, error) == EXIT_VERIFICATION) {
			passed = false;
			not_verified(kernel, "%s", error->message);
			continue;
		}
		if (!actual)
			return error->exit_code;
		passed = check_output(result, kernel, tensor, expectation, actual, diagnostics) && passed;
		if (passed)
			passed = is_of_launches(result, kernel, tensor, memory);
		int status = result->options->details
		                     ? details_output(
					       result->options->details, (size_t)(kernel - result->kernels),
					       kernel->output_count - 1, expectation, actual,
					       tensor_elements(&result->problem, tensor), error)
		                     : 0;
		free(actual);
		if (status != 0)
			return status;
		/* What was prepared for the kernel says nothing of the kernel. */
		judged = judged ||
		         (tensor->role == TENSOR_OUTPUT && kernel->outputs[kernel->output_count - 1].check.judged);
	}
	if (passed && !judged)
		not_verified(kernel, "nothing could be judged: with these inputs zeros would pass for every output");
	kernel->verified = passed && judged && !*kernel->failure;
	kernel->right_by_luck = passed && judged && *kernel->failure; /* only a hazard fails a kernel before this */
	return 0;
}

/* ---- counts ---- */

static bool is_statistic(const struct kernel *kernel, const char *name)
{
	const struct tensor *tensor = tensor_find(kernel->tensors, name);
	return tensor && tensor->statistic;
}

/* Of the statistics, or of everything else that the kernel touched: that is what a prediction is compared with. */
static struct traffic sum_traffic(const struct kernel_result *kernel, enum predicted_counts what, bool statistics)
{
	struct traffic sum = {0, 0};
	const struct launch_counts *total = &kernel->counts.total;
	for (size_t t = 0; t < total->tensor_count; t++) {
		const struct tensor_traffic *tensor = &total->tensors[t];
		const struct traffic *traffic = what == PREDICTS_FOOTPRINT ? &tensor->footprint : &tensor->requested;
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

static void compare_atomics(struct kernel_result *kernel)
{
	kernel->compared_atomic_bytes = sum_atomics(kernel, false);
	if (kernel->compared_atomic_bytes != 4 * kernel->forms.atomics)
		not_verified(kernel, "the atomics are not as many as expected");
}

/* l, m, LSE, D are small beside the matrices, unless a kernel asks for them again and again. */
static void compare_statistics(struct kernel_result *kernel)
{
	struct traffic requested = sum_traffic(kernel, PREDICTS_REQUESTED, true);
	uint64_t expected = 4 * kernel->forms.statistics;
	kernel->statistic_bytes = requested.read_bytes + requested.write_bytes + sum_atomics(kernel, true);
	if (kernel->statistic_bytes != expected)
		not_verified(
			kernel, "%llu bytes of statistics were requested, its closed form says %llu",
			(unsigned long long)kernel->statistic_bytes, (unsigned long long)expected);
}

/* The floor of a GPU run rests on the blocks, and whether it fits there on the bytes; only a counting run can check them. */
static void compare_blocks(struct kernel_result *kernel)
{
	uint64_t expected = kernel->forms.blocks;
	if (kernel->counts.blocks != expected)
		not_verified(
			kernel, "%llu blocks were launched, its description says %llu",
			(unsigned long long)kernel->counts.blocks, (unsigned long long)expected);
	size_t shared = kernel->counts.shared_bytes, prepared = kernel->prepared.shared_bytes;
	shared = prepared > shared ? prepared : shared;
	if (kernel->forms.shared_bytes && kernel->forms.shared_bytes != shared)
		not_verified(
			kernel, "a block has %zu bytes of shared memory, its description says %zu", shared,
			kernel->forms.shared_bytes);
}

static void compare_wavefronts(struct kernel_result *kernel)
{
	const struct closed_forms *forms = &kernel->forms;
	const struct launch_counts *total = &kernel->counts.total;
	uint64_t wavefronts = total->shared.load_wavefronts + total->shared.store_wavefronts;
	if (!forms->tells_wavefronts)
		return;
	if (total->shared.conflicts != forms->conflicts)
		not_verified(
			kernel, "%llu bank conflicts were counted, its closed form says %llu",
			(unsigned long long)total->shared.conflicts, (unsigned long long)forms->conflicts);
	if (wavefronts != forms->wavefronts)
		not_verified(
			kernel, "%llu wavefronts of shared memory were counted, its closed form says %llu",
			(unsigned long long)wavefronts, (unsigned long long)forms->wavefronts);
}

void compare_memory(struct kernel_result *kernel, size_t declared_bytes)
{
	if (kernel->counts.counted && kernel->peak_bytes > declared_bytes)
		not_verified(
			kernel,
			"%zu bytes of device memory were held beside its tensors: its description has no such "
			"scratch",
			kernel->peak_bytes - declared_bytes);
}

void compare_forms(struct kernel_result *kernel)
{
	kernel->compared = true;
	if (!kernel->counts.counted)
		return;
	if (kernel->counts.launch_count == 0) {
		not_verified(kernel, "it launched nothing: what it wrote was not computed on the device");
		return;
	}
	for (size_t i = 0; i < PREDICTIONS; i++) {
		const struct prediction *prediction = &kernel->forms.predictions[i];
		struct traffic measured = sum_traffic(kernel, prediction->counts, false);
		kernel->compared_traffic[i] = measured;
		const bool writes = measured.read_bytes == 4 * prediction->read_elements;
		const uint64_t bytes = writes ? measured.write_bytes : measured.read_bytes,
			       expected = writes ? prediction->write_elements : prediction->read_elements,
			       wanted = 4 * expected;
		char count[32], form[32], difference[32];
		if (bytes != wanted)
			not_verified(
				kernel, "the %s count is not its closed form, %s: %s elements are %s, not %s: %s%s",
				prediction->counts == PREDICTS_FOOTPRINT ? "footprint" : "requested",
				prediction->formula, format_count(bytes / 4, count), writes ? "written" : "read",
				format_count(expected, form), bytes < wanted ? "-" : "+",
				format_count((bytes < wanted ? wanted - bytes : bytes - wanted) / 4, difference));
	}
	compare_atomics(kernel);
	compare_statistics(kernel);
	compare_blocks(kernel);
	compare_wavefronts(kernel);
}
