#include "problem/options.h"
#include "report/command.h"
#include "report/json.h"
#include "report/report.h"

#include <stdlib.h>

enum { MOST_ROW_VALUES = 4096 }; /* as mostValues of recurrence.js */

/* What another run of the program needs for the same problem, without --gpu and --kernel; ends with NULL. */
static void write_arguments(struct json *json, const struct run_result *result, const char *const *arguments)
{
	json_open_array(json, "arguments");
	for (; *arguments; arguments++)
		json_string(json, NULL, *arguments);
	json_close_array(json);
	json_string(json, "gpu", result->options->gpu ? result->options->gpu : "");
}

/* The call that repeats this run, without its outputs: "./fa1 --seq 64 ...". */
static void write_command(struct json *json, const struct run_result *result)
{
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS + 5];
	const struct options *options = result->options;
	size_t count = options_of_problem(options, &result->problem, result->chapter->options, storage, arguments);
	arguments[count] = NULL;
	write_arguments(json, result, arguments);
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
		command_print(memory, result->program, arguments);
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
		[TENSOR_PREPARED] = "output", [TENSOR_STARTS] = "input",   [TENSOR_FILLED] = "scratch",
		[TENSOR_SCRATCH] = "scratch"};
	_Static_assert(sizeof roles / sizeof *roles == TENSOR_SCRATCH + 1, "each role has a name");
	json_open_array(json, "tensors");
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = tensor_shape(&result->problem, tensor, shape);
		json_open_object(json, NULL);
		json_string(json, "name", tensor->name);
		json_string(json, "role", roles[tensor->role]);
		json_bool(json, "statistic", tensor->statistic);
		json_string(json, "letters", tensor->shape);
		write_sizes(json, "shape", shape, rank);
		json_close_object(json);
	}
	json_close_array(json);
}

/* What explorer/error_map.py maps: the arrays of details.h. */
static void write_output(struct json *json, const struct output_result *output)
{
	const struct check *check = &output->check;
	json_open_object(json, NULL);
	json_string(json, "tensor", check->tensor);
	json_bool(json, "passed", check->passed);
	if (*output->unwritten)
		json_string(json, "unwritten", output->unwritten);
	write_sizes(json, "shape", output->shape, output->rank);
	json_count(json, "row_length", output->row_length);
	json_number(json, "max_abs", check->max_abs);
	json_number(json, "tolerance", check->tolerance);
	json_count(json, "worst_row", check->worst_row);
	json_count(json, "worst_column", check->worst_column);
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
	json_open_array(json, "outputs");
	for (size_t i = 0; i < kernel->output_count; i++)
		write_output(json, &kernel->outputs[i]);
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

void report_details(FILE *out, const struct run_result *result, bool prints)
{
	const struct problem *problem = &result->problem;
	struct json json = json_to(out);
	json.infinities = true;
	json_open_object(&json, NULL);
	write_command(&json, result);
	json_string(&json, "program", result->chapter->program);
	json_string(&json, "title", result->chapter->title);
	json_string(&json, "device", result->device->title);
	json_string(&json, "small", result->chapter->small);
	json_bool(&json, "prints", prints);
	json_bool(&json, "counts", result->device->simulated && !result->device->plain);
	json_bool(&json, "traced", result->traced);
	json_count(&json, "hazards", device_hazards());
	json_bool(&json, "causal", problem->causal);
	json_number(&json, "scale", (double)problem->scale);
	json_bool(&json, "plain_softmax", problem->variant.kind == VARIANT_PLAIN);
	/* The tiles that were asked for, where a kernel took them: its own may be as large as the output. */
	json_count(&json, "tile_q", problem->tile_q);
	write_result(&json, result);
	json_open_array(&json, "kernels");
	for (size_t i = 0; i < result->kernel_count; i++)
		write_kernel(&json, result, &result->kernels[i]);
	json_close_array(&json);
	json_close_object(&json);
	fputc('\n', out);
}
