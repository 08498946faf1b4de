#include "problem/dimensions.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/report.h"

#include <math.h>

static void write_metric(struct json *json, const struct kernel_result *kernel, enum metric_name name)
{
	const struct metric *metric = &metrics[name];
	if (metric->unit == UNIT_TEXT)
		json_string(json, metric->json, metric->text(kernel));
	else if (unit_is_whole(metric->unit))
		json_count(json, metric->json, (uint64_t)metric_value(kernel, name));
	else
		json_number(json, metric->json, metric_value(kernel, name));
}

/* Metrics that are all known, up to METRIC_NONE. */
static void write_metrics(struct json *json, const struct kernel_result *kernel, const enum metric_name *names)
{
	for (; *names != METRIC_NONE; names++)
		write_metric(json, kernel, *names);
}

static void write_object(
	struct json *json, const char *key, const struct kernel_result *kernel, const enum metric_name *names)
{
	json_open_object(json, key);
	write_metrics(json, kernel, names);
	json_close_object(json);
}

static void write_problem(struct json *json, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	uint64_t applies = result->chapter->options;
	json_open_object(json, "problem");
	for (const struct dimension *dimension = dimensions; dimension < dimensions + DIMENSIONS; dimension++) {
		bool chosen =
			dimension_value(dimension, problem) || result->options->given & OPTION_BIT(dimension->option);
		if (result_tells(result, dimension->option) && (dimension->shape || chosen))
			json_count(json, dimension->key, dimension_value(dimension, problem));
	}
	if (applies & OPTION_BIT(OPTION_CAUSAL))
		json_bool(json, "causal", problem->causal);
	if (applies & OPTION_BIT(OPTION_SCALE))
		json_number(json, "scale", problem->scale);
	if (problem->softcap > 0.0f)
		json_number(json, "softcap", (double)problem->softcap);
	if (problem->alibi)
		json_bool(json, "alibi", true);
	if (problem->sink)
		json_bool(json, "sink", true);
	if (problem->dropout > 0.0f)
		json_number(json, "dropout", (double)problem->dropout);
	if (problem->packing.count) {
		json_open_array(json, "lengths");
		for (size_t s = 0; s < problem->packing.count; s++)
			json_count(json, NULL, sequence_at(&problem->packing, problem->seq, s).length);
		json_close_array(json);
	}
	if (problem->variant.kind != VARIANT_PLAIN) {
		json_string(json, "variant", variant_names[problem->variant.kind]);
		json_number(json, "variant_value", (double)problem->variant.value);
	}
	if (result->options->values)
		json_string(json, "values", result->options->values);
	if (problem->load)
		json_string(json, "load", problem->load);
	if (!problem->load || problem->dropout > 0.0f)
		json_count(json, "seed", problem->seed);
	if (!problem->load)
		json_string(json, "input", input_kind_names[problem->input]);
	json_close_object(json);
}

static void write_traffic(struct json *json, const char *key, const struct traffic *traffic)
{
	json_open_object(json, key);
	json_count(json, "read_bytes", traffic->read_bytes);
	json_count(json, "write_bytes", traffic->write_bytes);
	json_close_object(json);
}

static void write_requested(struct json *json, const struct traffic *traffic, uint64_t atomic_bytes)
{
	json_open_object(json, "requested");
	json_count(json, "read_bytes", traffic->read_bytes);
	json_count(json, "write_bytes", traffic->write_bytes);
	json_count(json, "atomic_bytes", atomic_bytes);
	json_close_object(json);
}

static void write_tensors(struct json *json, const struct launch_counts *total)
{
	json_open_array(json, "tensors");
	for (size_t t = 0; t < total->tensor_count; t++) {
		const struct tensor_traffic *tensor = &total->tensors[t];
		json_open_object(json, NULL);
		json_string(json, "name", tensor->name);
		write_requested(json, &tensor->requested, tensor->atomic_bytes);
		write_traffic(json, "footprint", &tensor->footprint);
		json_close_object(json);
	}
	json_close_array(json);
}

static void write_hbm(struct json *json, const struct kernel_result *kernel)
{
	static const enum metric_name requested[] = {
		METRIC_REQUESTED_READ_BYTES, METRIC_REQUESTED_WRITE_BYTES, METRIC_ATOMIC_BYTES, METRIC_NONE};
	static const enum metric_name sectors[] = {METRIC_READ_SECTORS, METRIC_WRITE_SECTORS, METRIC_NONE};
	static const enum metric_name footprint[] = {
		METRIC_FOOTPRINT_READ_BYTES, METRIC_FOOTPRINT_WRITE_BYTES, METRIC_NONE};
	json_open_object(json, "hbm");
	write_object(json, "requested", kernel, requested);
	write_object(json, "sectors", kernel, sectors);
	write_object(json, "footprint", kernel, footprint);
	write_tensors(json, &kernel->counts.total);
	json_close_object(json);
}

static void write_model(
	struct json *json, const char *key, const struct prediction *prediction, uint64_t atomic_elements)
{
	json_open_object(json, key);
	json_string(json, "counts", prediction->counts == PREDICTS_FOOTPRINT ? "footprint" : "requested");
	json_count(json, "read_elements", prediction->read_elements);
	json_count(json, "write_elements", prediction->write_elements);
	json_count(json, "elements", prediction->read_elements + prediction->write_elements);
	if (atomic_elements && prediction->counts == PREDICTS_REQUESTED)
		json_count(json, "atomic_elements", atomic_elements);
	json_string(json, "formula", prediction->formula);
	json_close_object(json);
}

/* The worst output. */
static void write_error(struct json *json, const struct kernel_result *kernel)
{
	static const enum metric_name names[] = {METRIC_ERROR_TENSOR, METRIC_MAX_ABS, METRIC_TOLERANCE, METRIC_NONE};
	const struct output_result *output = &kernel->outputs[kernel->worst];
	json_open_object(json, "error");
	write_metrics(json, kernel, names);
	json_open_array(json, "worst");
	for (size_t axis = 0; axis < output->rank; axis++)
		json_count(json, NULL, output->at[axis]);
	json_close_array(json);
	json_close_object(json);
}

static void write_outputs(struct json *json, const struct kernel_result *kernel)
{
	json_open_array(json, "outputs");
	for (size_t i = 0; i < kernel->output_count; i++) {
		const struct check *check = &kernel->outputs[i].check;
		json_open_object(json, NULL);
		json_string(json, "tensor", check->tensor);
		json_number(json, "max_abs", check->max_abs);
		json_number(json, "tolerance", check->tolerance);
		json_bool(json, "passed", check->passed);
		if (check->row_ratio > 0.0)
			json_number(json, "row_ratio", check->row_ratio);
		if (isfinite(check->power)) /* none where no error is allowed */
			json_number(json, "power", check->power);
		if (check->least_power > 0.0 && isfinite(check->median_power)) {
			json_number(json, "least_power", check->least_power);
			json_number(json, "median_power", check->median_power);
		}
		json_count(json, "rows_not_judged", check->rows_not_judged);
		json_bool(json, "judged", check->judged);
		json_close_object(json);
	}
	json_close_array(json);
}

static void write_launches(struct json *json, const char *key, const struct counts *counts)
{
	json_open_array(json, key);
	for (size_t i = 0; i < counts->launch_count; i++) {
		json_raw(json, NULL);
		counts_write_launch_json(json->out, &counts->launches[i]);
	}
	json_close_array(json);
}

static void write_counted(struct json *json, const struct kernel_result *kernel)
{
	write_metric(json, kernel, METRIC_BLOCKS);
	write_metric(json, kernel, METRIC_SHARED_BYTES);
	write_launches(json, "launches", &kernel->counts);
	if (kernel->prepared.counted)
		write_launches(json, "prepared_launches", &kernel->prepared);
}

void report_json_time(struct json *json, const struct kernel_result *kernel)
{
	static const enum metric_name names[] = {METRIC_MEDIAN_MS, METRIC_P10_MS, METRIC_P90_MS,
	                                         METRIC_TIME_KIND, METRIC_RUNS,   METRIC_NONE};
	write_object(json, "time", kernel, names);
}

static void write_floor(struct json *json, const struct kernel_result *kernel)
{
	const struct floor *floor = &kernel->floor, *filled = &kernel->filled;
	json_open_object(json, "floor");
	write_metric(json, kernel, METRIC_FLOOR_MS);
	write_metric(json, kernel, METRIC_BOUND_BY);
	json_number(json, "memory_ms", floor->memory_ms);
	json_number(json, "full_ms", floor->full_ms);
	json_string(json, "full_bound_by", floor->full_bound_by);
	json_count(json, "busy_sms", floor->busy_sms);
	json_count(json, "sms", floor->sms);
	if (kernel->filled_heads) {
		json_open_object(json, "filled");
		json_count(json, "heads", kernel->filled_heads);
		json_number(json, "ms", filled->ms);
		json_string(json, "bound_by", filled->bound_by);
		json_close_object(json);
	}
	json_close_object(json);
}

/* What the floor and the limits are computed from; the rest of the closed forms is compared with what is counted. */
static void write_forms(struct json *json, const struct closed_forms *forms)
{
	json_open_object(json, "forms");
	json_number(json, "flop", forms->flop);
	json_number(json, "exponentials", forms->exponentials);
	json_count(json, "blocks", forms->blocks);
	json_count(json, "shared_bytes", forms->shared_bytes);
	json_count(json, "tile_q", forms->tile_q);
	json_count(json, "tile_k", forms->tile_k);
	json_close_object(json);
}

static void write_kernel(struct json *json, const struct kernel_result *kernel)
{
	json_open_object(json, NULL);
	write_metric(json, kernel, METRIC_NAME);
	json_bool(json, "verified", kernel->verified);
	if (*kernel->skipped)
		write_metric(json, kernel, METRIC_SKIPPED);
	if (*kernel->failure)
		json_string(json, "failure", kernel->failure);
	if (kernel->output_count > 0) {
		write_error(json, kernel);
		write_outputs(json, kernel);
	}
	if (kernel->time.runs)
		report_json_time(json, kernel);
	if (kernel->has_floor)
		write_floor(json, kernel);
	if (kernel->counts.counted)
		write_hbm(json, kernel);
	if (kernel->compared) {
		const struct closed_forms *forms = &kernel->forms;
		bool footprint = forms->predictions[1].counts == PREDICTS_FOOTPRINT;
		write_model(json, "model", &forms->predictions[0], forms->atomics);
		write_model(
			json, footprint ? "model_footprint" : "model_requested", &forms->predictions[1],
			forms->atomics);
	}
	if (!*kernel->skipped)
		write_forms(json, &kernel->forms);
	if (kernel->peak_bytes)
		write_metric(json, kernel, METRIC_PEAK_BYTES);
	if (kernel->counts.counted)
		write_counted(json, kernel);
	json_close_object(json);
}

void report_json_into(struct json *json, const char *key, const struct run_result *result)
{
	json_open_object(json, key);
	json_string(json, "chapter", result->chapter->name);
	json_string(json, "device", result->device->simulated ? "sim" : "cuda");
	json_string(json, "gpu", result->device->name);
	write_problem(json, result);
	if (result->rows_checked < result->rows) {
		json_count(json, "rows_checked", result->rows_checked);
		json_count(json, "rows", result->rows);
	}
	json_open_array(json, "kernels");
	for (size_t i = 0; i < result->kernel_count; i++)
		write_kernel(json, &result->kernels[i]);
	json_close_array(json);
	if (result->chapter->add_json)
		result->chapter->add_json(json, result);
	json_close_object(json);
}

void report_json(FILE *out, const struct run_result *result)
{
	struct json json = json_to(out);
	report_json_into(&json, NULL, result);
	fputc('\n', out);
}
