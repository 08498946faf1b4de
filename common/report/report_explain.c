#include "explorer/template.h"
#include "measure/recording.h"
#include "report/json.h"
#include "report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TRACE_BYTES = 6 << 20, MOST_REPORT_BYTES = 4 << 20, MOST_SOURCE_BYTES = 1 << 20, MOST_SOURCES = 16 };
enum { MOST_ROW_VALUES = 4096 }; /* as mostValues of recurrence.js */

/* The call that repeats this run, without its outputs: "./fa1 --seq 64 ...". */
static void write_command(struct json *json, const struct run_result *result)
{
	char storage[PROBLEM_ARGUMENTS][32], command[2048];
	const char *arguments[PROBLEM_ARGUMENTS + 2];
	size_t count =
		options_of_problem(result->options, &result->problem, result->chapter->options, storage, arguments);
	if (result->options->kernel) {
		arguments[count++] = "--kernel";
		arguments[count++] = result->options->kernel;
	}
	size_t used = (size_t)snprintf(command, sizeof command, "./%s", result->chapter->program);
	for (size_t i = 0; i < count && used < sizeof command; i++)
		used += (size_t)snprintf(command + used, sizeof command - used, " %s", arguments[i]);
	json_string(json, "command", command);
}

static void write_shape(struct json *json, const size_t *shape, size_t rank)
{
	json_open_array(json, "shape");
	for (size_t axis = 0; axis < rank; axis++)
		json_count(json, NULL, shape[axis]);
	json_close_array(json);
}

static void write_tensors(struct json *json, const struct run_result *result, const struct kernel *kernel)
{
	static const char *const roles[] = {"input", "input", "output", "output", "scratch"};
	json_open_array(json, "tensors");
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = problem_shape(&result->problem, tensor->shape, shape);
		json_open_object(json, NULL);
		json_string(json, "name", tensor->name);
		json_string(json, "role", roles[tensor->role]);
		json_bool(json, "statistic", tensor->statistic);
		write_shape(json, shape, rank);
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

static void write_map(struct json *json, const struct error_map *map)
{
	json_open_object(json, NULL);
	json_string(json, "tensor", map->tensor);
	write_shape(json, map->shape, map->rank);
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

static void write_kernel(struct json *json, const struct run_result *result, const struct kernel_result *kernel)
{
	json_open_object(json, NULL);
	json_string(json, "name", kernel->kernel->name);
	json_string(json, "summary", kernel->kernel->summary);
	write_tensors(json, result, kernel->kernel);
	write_launch_numbers(json, "launches", &kernel->counts);
	write_launch_numbers(json, "prepared", &kernel->prepared);
	json_open_array(json, "measured"); /* what models[] are compared with */
	for (size_t i = 0; i < MODELS && kernel->counts.counted; i++) {
		json_open_object(json, NULL);
		json_count(json, "read_elements", kernel->measured[i].read_bytes / sizeof(float));
		json_count(json, "write_elements", kernel->measured[i].write_bytes / sizeof(float));
		json_close_object(json);
	}
	json_close_array(json);
	json_open_array(json, "maps");
	for (size_t c = 0; kernel->maps && c < kernel->output_count; c++)
		if (kernel->maps[c].ratios)
			write_map(json, &kernel->maps[c]);
	json_close_array(json);
	json_close_object(json);
}

/* Lines that are JSON objects each, as an array. */
static void write_lines(struct json *json, const char *key, const char *lines, const char *only)
{
	json_open_array(json, key);
	for (const char *line = lines; *line;) {
		size_t length = strcspn(line, "\n");
		bool wanted = !only || strncmp(line, only, strlen(only)) == 0;
		if (length > 0 && line[length] == '\n' && wanted) {
			json_raw(json, NULL);
			fwrite(line, 1, length, json->out);
		}
		line += length + (line[length] == '\n');
	}
	json_close_array(json);
}

struct sources {
	char directory[PATH_MAX - 300];
	char names[MOST_SOURCES][256];
	size_t count;
};

/* A file of kernels that lies beside the program, once; nothing where there is none. */
static void write_source(struct json *json, struct sources *sources, const char *name, int length)
{
	char path[PATH_MAX];
	const char *slash = memrchr(name, '/', (size_t)length);
	if (slash) {
		length -= (int)(slash + 1 - name);
		name = slash + 1;
	}
	char *own = sources->names[sources->count];
	if (sources->count + 1 == MOST_SOURCES || length >= (int)sizeof sources->names[0])
		return;
	snprintf(own, sizeof sources->names[0], "%.*s", length, name);
	for (size_t i = 0; i < sources->count; i++)
		if (strcmp(sources->names[i], own) == 0)
			return;
	sources->count++;
	snprintf(path, sizeof path, "%s/%s", sources->directory, own);
	FILE *file = fopen(path, "r");
	char *text = file ? calloc(1, MOST_SOURCE_BYTES + 1) : NULL;
	if (text && fread(text, 1, MOST_SOURCE_BYTES, file) > 0)
		json_string(json, own, text);
	free(text);
	if (file)
		fclose(file);
}

/* Every file that a recording names: of a kernel or a hazard ("file":"row.cu"), or of an access in another file than
 * its kernel's ("lines":[42,"row.cuh:42"]). */
static void write_named_sources(struct json *json, struct sources *sources, const char *lines)
{
	static const char file[] = "\"file\":\"", places[] = "\"lines\":[";
	for (const char *at = strstr(lines, file); at; at = strstr(at, file)) {
		at += sizeof file - 1;
		write_source(json, sources, at, (int)strcspn(at, "\""));
	}
	for (const char *at = strstr(lines, places); at; at = strstr(at, places)) {
		at += sizeof places - 1;
		for (at += strcspn(at, "\"]"); *at == '"'; at += strcspn(at, "\"]")) {
			at++;
			write_source(json, sources, at, (int)strcspn(at, ":\""));
			at += strcspn(at, "\"");
			at += *at == '"';
		}
	}
}

static void write_sources(struct json *json, const char *trace, const char *report)
{
	struct sources sources = {.count = 0};
	ssize_t length = readlink("/proc/self/exe", sources.directory, sizeof sources.directory - 1);
	sources.directory[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(sources.directory, '/');
	if (slash)
		*slash = '\0';
	json_open_object(json, "sources");
	write_named_sources(json, &sources, trace ? trace : "");
	write_named_sources(json, &sources, report ? report : "");
	json_close_object(json);
}

static bool has_launched(const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		if (result->kernels[i].counts.launch_count > 0)
			return true;
	return false;
}

static void write_recording(struct json *json, const struct run_result *result)
{
	size_t bytes;
	char size[32];
	char *trace = recording_trace(MOST_TRACE_BYTES, &bytes);
	bool cut = trace && strstr(trace, "{\"type\":\"truncated\"");
	if (trace && !cut && (*trace || !has_launched(result))) {
		write_lines(json, "trace", trace, NULL);
	} else {
		char why[300];
		if (!result->device->simulated || result->device->plain)
			snprintf(why, sizeof why, "Only the simulated device's counting build sees each access.");
		else if (bytes > 0)
			snprintf(
				why, sizeof why, "This run's trace has %s%s, more than a page should. Try ./%s %s",
				cut ? "over " : "", format_bytes((double)bytes, size), result->chapter->program,
				result->chapter->small);
		else if (recording_traces())
			snprintf(why, sizeof why, "SIM_TRACE names a file that could not be read back.");
		else
			snprintf(
				why, sizeof why, "This problem is too large to trace. Try ./%s %s",
				result->chapter->program, result->chapter->small);
		json_string(json, "no_trace", why);
	}
	char *report = recording_report(MOST_REPORT_BYTES, &bytes);
	write_lines(json, "hazards", report ? report : "", "{\"type\":\"hazard\"");
	write_sources(json, trace, report);
	free(trace);
	free(report);
}

/* What --json prints. A row that the page could not step through is left out, and why is said. */
static void write_result(struct json *json, const struct run_result *result)
{
	struct chapter chapter = *result->chapter;
	struct run_result shown = *result;
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

static void write_run(struct json *json, const struct run_result *result)
{
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
	write_recording(json, result);
	json_close_object(json);
}

int report_explain(FILE *out, const struct run_result *result, struct error *error)
{
	char *data = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&data, &bytes);
	if (memory) {
		struct json json = json_to(memory);
		json.infinities = true;
		json_open_object(&json, NULL);
		json_open_array(&json, "runs");
		write_run(&json, result);
		json_close_array(&json);
		json_close_object(&json);
	}
	if (!memory || fclose(memory) != 0) {
		free(data);
		return error_set(error, EXIT_ENVIRONMENT, "--explain: out of memory for the page");
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
