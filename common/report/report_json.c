#include "report/json.h"
#include "report/report.h"

#include <math.h>

const char *report_time_kind(const struct run_result *result)
{
	return result->device->simulated ? "measured-cpu" : "measured-gpu";
}

static void write_problem(struct json *json, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	struct problem copy = *problem;
	uint64_t applies = result->chapter->options;
	static const struct {
		enum option_name option;
		char letter;
	} dimensions[] = {{OPTION_BATCH, 'B'}, {OPTION_HEADS, 'H'}, {OPTION_SEQ, 'N'},
	                  {OPTION_DIM, 'd'},   {OPTION_ROWS, 'R'},  {OPTION_COLS, 'C'},
	                  {OPTION_M, 'm'},     {OPTION_N, 'n'},     {OPTION_K, 'k'}};
	json_open_object(json, "problem");
	for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++)
		if (applies & OPTION_BIT(dimensions[i].option))
			json_count(
				json, problem_dimension_option(dimensions[i].letter),
				*problem_dimension(&copy, dimensions[i].letter));
	if (applies & OPTION_BIT(OPTION_CAUSAL))
		json_bool(json, "causal", problem->causal);
	if (applies & OPTION_BIT(OPTION_SCALE))
		json_number(json, "scale", problem->scale);
	if (problem->variant.kind != VARIANT_PLAIN) {
		json_string(json, "variant", variant_names[problem->variant.kind]);
		json_number(json, "variant_value", (double)problem->variant.value);
	}
	if (problem->tile_q)
		json_count(json, "tile_q", problem->tile_q);
	if (problem->tile_k)
		json_count(json, "tile_k", problem->tile_k);
	if (problem->block)
		json_count(json, "block", problem->block);
	if (result->options->given & OPTION_BIT(OPTION_ROW))
		json_count(json, "row", problem->row);
	if (result->options->values)
		json_string(json, "values", result->options->values);
	if (problem->load) {
		json_string(json, "load", problem->load);
	} else {
		json_count(json, "seed", problem->seed);
		json_string(json, "input", input_kind_names[problem->input]);
	}
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

static void write_hbm(struct json *json, const struct launch_counts *total)
{
	json_open_object(json, "hbm");
	write_requested(json, &total->requested, total->atomic_bytes);
	json_open_object(json, "sectors");
	json_count(json, "read", total->sectors.read_bytes);
	json_count(json, "write", total->sectors.write_bytes);
	json_close_object(json);
	write_traffic(json, "footprint", &total->footprint);
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
	json_close_object(json);
}

static void write_model(struct json *json, const char *key, const struct model *model, uint64_t atomic_elements)
{
	json_open_object(json, key);
	json_string(json, "counts", model->counts == MODEL_FOOTPRINT ? "footprint" : "requested");
	json_count(json, "read_elements", model->read_elements);
	json_count(json, "write_elements", model->write_elements);
	json_count(json, "elements", model->read_elements + model->write_elements);
	if (atomic_elements && model->counts == MODEL_REQUESTED)
		json_count(json, "atomic_elements", atomic_elements);
	json_string(json, "formula", model->formula);
	json_close_object(json);
}

/* The worst output. */
static void write_error(struct json *json, const struct output_result *output)
{
	json_open_object(json, "error");
	json_string(json, "tensor", output->check.tensor);
	json_number(json, "max_abs", output->check.max_abs);
	json_number(json, "tolerance", output->check.tolerance);
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
		if (isfinite(check->power)) /* none where no error is allowed */
			json_number(json, "power", check->power);
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
	json_count(json, "blocks", kernel->counts.blocks);
	json_count(json, "shared_bytes", kernel->counts.shared_bytes);
	write_launches(json, "launches", &kernel->counts);
	if (kernel->prepared.counted)
		write_launches(json, "prepared_launches", &kernel->prepared);
}

static void write_kernel(struct json *json, const struct run_result *result, const struct kernel_result *kernel)
{
	json_open_object(json, NULL);
	json_string(json, "name", kernel->kernel->name);
	json_bool(json, "verified", kernel->verified);
	if (kernel->skipped[0])
		json_string(json, "skipped", kernel->skipped);
	if (kernel->failure[0])
		json_string(json, "failure", kernel->failure);
	if (kernel->output_count > 0) {
		write_error(json, &kernel->outputs[kernel->worst]);
		write_outputs(json, kernel);
	}
	if (kernel->time.runs) {
		json_open_object(json, "time");
		json_number(json, "median_ms", kernel->time.median_ms);
		json_number(json, "p10_ms", kernel->time.p10_ms);
		json_number(json, "p90_ms", kernel->time.p90_ms);
		json_string(json, "kind", report_time_kind(result));
		json_count(json, "runs", kernel->time.runs);
		json_close_object(json);
	}
	if (kernel->has_floor) {
		json_open_object(json, "floor");
		json_number(json, "ms", kernel->floor.ms);
		json_string(json, "bound_by", kernel->floor.bound_by);
		json_close_object(json);
	}
	if (kernel->counts.counted)
		write_hbm(json, &kernel->counts.total);
	if (kernel->compared) {
		const struct closed_forms *forms = &kernel->forms;
		bool footprint = forms->models[1].counts == MODEL_FOOTPRINT;
		write_model(json, "model", &forms->models[0], forms->atomics);
		write_model(
			json, footprint ? "model_footprint" : "model_requested", &forms->models[1], forms->atomics);
	}
	if (kernel->peak_bytes)
		json_count(json, "peak_bytes", kernel->peak_bytes);
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
		write_kernel(json, result, &result->kernels[i]);
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
