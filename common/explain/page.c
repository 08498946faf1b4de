#include "explain/course.h"
#include "explain/recording.h"
#include "explain/recording_json.h"
#include "explain/replay.h"
#include "explain/tile.h"
#include "explorer/template.h"
#include "report/command.h"
#include "report/json.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROW_VALUES = 4096 }; /* as mostValues of recurrence.js */

/* The call that repeats this run, without its outputs: "./fa1 --seq 64 ...". */
static void write_command(struct json *json, const struct run_result *result)
{
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS + 5];
	const struct options *options = result->options;
	size_t count = options_of_problem(options, &result->problem, result->chapter->options, storage, arguments);
	if (options->kernel) {
		arguments[count++] = "--kernel";
		arguments[count++] = options->kernel;
	}
	if (options->gpu || result->device->simulated) { /* SIM_GPU may be another where it is repeated */
		arguments[count++] = "--gpu";
		arguments[count++] = options->gpu ? options->gpu : result->device->name;
	}
	arguments[count] = NULL;
	char *command = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&command, &bytes);
	if (memory)
		command_print(memory, result->chapter->program, arguments);
	if (memory && fclose(memory) == 0)
		json_string(json, "command", command);
	free(command);
}

static void write_sizes(struct json *json, const char *key, const size_t *sizes, size_t count)
{
	json_open_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_count(json, NULL, sizes[i]);
	json_close_array(json);
}

static void write_tensors(struct json *json, const struct run_result *result, const struct kernel *kernel)
{
	static const char *const roles[] = {
		[TENSOR_INPUT] = "input",     [TENSOR_GRADIENT] = "input", [TENSOR_OUTPUT] = "output",
		[TENSOR_PREPARED] = "output", [TENSOR_STARTS] = "input",   [TENSOR_SCRATCH] = "scratch"};
	_Static_assert(sizeof roles / sizeof *roles == TENSOR_SCRATCH + 1, "each role has a name");
	json_open_array(json, "tensors");
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = tensor_shape(&result->problem, tensor, shape);
		json_open_object(json, NULL);
		json_string(json, "name", tensor->name);
		json_string(json, "role", roles[tensor->role]);
		json_bool(json, "statistic", tensor->statistic);
		write_sizes(json, "shape", shape, rank);
		json_close_object(json);
	}
	json_close_array(json);
}

static void write_window(struct json *json, const char *key, const struct neighbourhood *around)
{
	json_open_object(json, key);
	json_count(json, "row", around->row);
	json_count(json, "column", around->column);
	json_count(json, "first_row", around->first_row);
	json_count(json, "first_column", around->first_column);
	for (int expected = 0; expected < 2; expected++) {
		json_open_array(json, expected ? "expected" : "actual");
		for (size_t r = 0; r < around->rows; r++) {
			json_open_array(json, NULL);
			for (size_t c = 0; c < around->columns; c++)
				json_number(json, NULL, expected ? around->expected[r][c] : around->actual[r][c]);
			json_close_array(json);
		}
		json_close_array(json);
	}
	json_open_array(json, "wrong");
	for (size_t r = 0; r < around->rows; r++) {
		json_open_array(json, NULL);
		for (size_t c = 0; c < around->columns; c++)
			json_bool(json, NULL, around->wrong[r][c]);
		json_close_array(json);
	}
	json_close_array(json);
	json_close_object(json);
}

static void write_map(struct json *json, const struct error_map *map, const char *unwritten)
{
	json_open_object(json, NULL);
	json_string(json, "tensor", map->tensor);
	if (*unwritten)
		json_string(json, "unwritten", unwritten);
	write_sizes(json, "shape", map->shape, map->rank);
	json_count(json, "matrices", map->matrices);
	json_count(json, "rows", map->rows);
	json_count(json, "columns", map->columns);
	json_count(json, "tile_rows", map->tile_rows);
	json_count(json, "tile_columns", map->tile_columns);
	json_count(json, "grid_rows", map->grid_rows);
	json_count(json, "grid_columns", map->grid_columns);
	json_number(json, "worst_error", map->worst_error);
	json_number(json, "worst_tolerance", map->worst_tolerance);
	json_open_array(json, "ratios");
	for (size_t t = 0; t < error_map_tiles(map); t++)
		json_number(json, NULL, (double)map->ratios[t]);
	json_close_array(json);
	if (map->wrong) {
		json_count(json, "first_wrong", map->first_wrong);
		write_window(json, "first", &map->first);
	}
	write_window(json, "worst", &map->around_worst);
	json_close_object(json);
}

/* Numbers of the launches as the trace has them. */
static void write_launch_numbers(struct json *json, const char *key, const struct counts *counts)
{
	json_open_array(json, key);
	for (size_t i = 0; i < counts->launch_count; i++)
		json_count(json, NULL, counts->launches[i].index);
	json_close_array(json);
}

static void write_numbers(struct json *json, const char *key, const double *numbers, size_t count)
{
	json_open_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_number(json, NULL, numbers[i]);
	json_close_array(json);
}

static void write_replay(struct json *json, const struct replay *replay)
{
	json_open_object(json, NULL);
	json_count(json, "keys", replay->keys);
	json_bool(json, "wrong", replay->run.wrong);
	json_open_array(json, "outputs");
	for (size_t i = 0; i < replay->run.output_count; i++) {
		const struct rerun_output *output = &replay->run.outputs[i];
		json_open_object(json, NULL);
		json_string(json, "tensor", output->tensor);
		json_bool(json, "wrong", output->wrong);
		write_sizes(json, "at", output->at, output->rank);
		json_number(json, "got", output->got);
		json_number(json, "expected", output->expected);
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

/* From which tile of keys on a wrong kernel is wrong, and what its first wrong row is made of. */
static int write_replays(
	struct json *json, const struct run_result *result, const struct kernel_result *kernel, struct error *error)
{
	struct replays replays;
	int status = replay_wrong(result, kernel, &replays, error);
	json_open_object(json, NULL);
	json_count(json, "tile", replays.tile);
	json_open_array(json, "steps");
	for (size_t i = 0; status == 0 && i < replays.count; i++)
		write_replay(json, &replays.list[i]);
	json_close_array(json);
	if (status == 0 && replays.row.keys) {
		const struct wrong_row *row = &replays.row;
		json_count(json, "row", row->row);
		json_count(json, "column", row->column);
		json_count(json, "visible", row->visible);
		write_numbers(json, "scores", row->scores, row->keys);
		write_numbers(json, "values", row->values, row->keys);
	}
	json_close_object(json);
	replays_free(&replays);
	return status;
}

static void write_kernel(struct json *json, const struct run_result *result, const struct kernel_result *kernel)
{
	json_open_object(json, NULL);
	json_string(json, "name", kernel->kernel->name);
	json_string(json, "summary", kernel->kernel->summary);
	write_tensors(json, result, kernel->kernel);
	if (kernel->forms.tile_q)
		write_sizes(json, "tile", (const size_t[]){kernel->forms.tile_q, kernel->forms.tile_k}, 2);
	write_launch_numbers(json, "launches", &kernel->counts);
	write_launch_numbers(json, "prepared", &kernel->prepared);
	json_open_array(json, "measured"); /* what models[] are compared with */
	for (size_t i = 0; i < PREDICTIONS && kernel->counts.counted; i++) {
		json_open_object(json, NULL);
		json_count(json, "read_elements", kernel->compared_traffic[i].read_bytes / sizeof(float));
		json_count(json, "write_elements", kernel->compared_traffic[i].write_bytes / sizeof(float));
		json_close_object(json);
	}
	json_close_array(json);
	json_open_array(json, "maps");
	for (size_t c = 0; kernel->maps && c < kernel->output_count; c++)
		if (kernel->maps[c].ratios)
			write_map(json, &kernel->maps[c], kernel->outputs[c].unwritten);
	json_close_array(json);
	json_close_object(json);
}

/* What --json prints. A row that the page could not step through is left out, and why is said. */
static void write_result(struct json *json, const struct run_result *result)
{
	struct chapter chapter = *result->chapter;
	static struct run_result shown; /* too large for a small stack */
	shown = *result;
	char why[200] = "";
	if (result->options->trace && result->problem.cols > MOST_ROW_VALUES)
		snprintf(
			why, sizeof why, "A row of %zu values is too long for it, %d at most.", result->problem.cols,
			MOST_ROW_VALUES);
	else if (result->options->trace && result->problem.variant.kind != VARIANT_PLAIN)
		snprintf(
			why, sizeof why, "This class's softmax has a variant; the page steps through the plain one.");
	if (*why) {
		chapter.add_json = NULL;
		shown.chapter = &chapter;
		json_string(json, "no_steps", why);
	}
	report_json_into(json, "result", &shown);
}

static int write_run(struct json *json, const struct run_result *result, struct error *error)
{
	int status = 0;
	json_open_object(json, NULL);
	write_command(json, result);
	json_string(json, "program", result->chapter->program);
	json_string(json, "title", result->chapter->title);
	json_string(json, "device", result->device->title);
	write_result(json, result);
	json_open_array(json, "kernels");
	for (size_t i = 0; i < result->kernel_count; i++)
		write_kernel(json, result, &result->kernels[i]);
	json_close_array(json);
	bool hazards = explain_recording(json, result);
	recording_end(); /* it has been read: what is launched from here on is no part of the run */
	status = explain_tile(json, result, error);
	json_open_array(json, "replays");
	for (size_t i = 0; status == 0 && !hazards && i < result->kernel_count; i++)
		status = write_replays(json, result, &result->kernels[i], error);
	json_close_array(json);
	json_close_object(json);
	return status;
}

int report_explain(FILE *out, const struct run_result *result, struct error *error)
{
	char *data = NULL;
	size_t bytes = 0;
	int status = 0;
	FILE *memory = open_memstream(&data, &bytes);
	if (memory) {
		struct json json = json_to(memory);
		json.infinities = true;
		json_open_object(&json, NULL);
		explain_course(&json, result->options->explain);
		json_open_array(&json, "runs");
		status = write_run(&json, result, error);
		json_close_array(&json);
		json_close_object(&json);
	}
	if (!memory || fclose(memory) != 0) {
		free(data);
		return error_set(error, EXIT_ENVIRONMENT, "--explain: out of memory for the page");
	}
	if (status != 0) {
		free(data);
		return status;
	}
	const char *before = explorer_template, *marker = explorer_template_data;
	fwrite(before, 1, (size_t)(marker - before), out);
	for (const char *c = data; *c; c++) {
		if (*c == '<') /* only strings hold one; no browser then takes it for the end of the script */
			fputs("\\u003c", out);
		else
			fputc(*c, out);
	}
	fwrite(marker, 1, (size_t)(explorer_template_end - marker), out);
	free(data);
	return 0;
}
