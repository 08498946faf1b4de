#include "explain/recording_json.h"

#include "explain/recording.h"
#include "report/table.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TRACE_BYTES = 6 << 20, MOST_REPORT_BYTES = 4 << 20, MOST_SOURCE_BYTES = 1 << 20, MOST_SOURCES = 32 };

/* Lines that are JSON objects each, as an array; a last line without its end is left out. */
static void write_lines(struct json *json, const char *key, const char *lines)
{
	json_open_array(json, key);
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1) {
		json_raw(json, NULL);
		fwrite(lines, 1, (size_t)(end - lines), json->out);
	}
	json_close_array(json);
}

static int is_source(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');
	return suffix && (strcmp(suffix, ".cu") == 0 || strcmp(suffix, ".cuh") == 0);
}

static void write_source(struct json *json, const char *directory, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 2];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "r");
	char *text = file ? calloc(1, MOST_SOURCE_BYTES + 1) : NULL;
	if (text && fread(text, 1, MOST_SOURCE_BYTES, file) > 0)
		json_string(json, name, text);
	free(text);
	if (file)
		fclose(file);
}

/* The kernels' files, which lie beside the program; nothing of a program that was moved. */
static void write_sources(struct json *json)
{
	char directory[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
	directory[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(directory, '/');
	struct dirent **entries;
	json_open_object(json, "sources");
	if (slash)
		*slash = '\0';
	int count = slash ? scandir(slash == directory ? "/" : directory, &entries, is_source, alphasort) : -1;
	for (int i = 0; i < count; i++) {
		if (i < MOST_SOURCES)
			write_source(json, directory, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	json_close_object(json);
}

static bool has_launched(const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		if (result->kernels[i].counts.launch_count > 0)
			return true;
	return false;
}

/* Launches and hazards; whether there is a hazard that is more than information. */
static bool write_report(struct json *json, const struct run_result *result)
{
	size_t bytes;
	char *report = recording_report(MOST_REPORT_BYTES, &bytes);
	write_lines(json, "report", report ? report : "");
	if (!(report && (*report || !has_launched(result))) && result->device->simulated && !result->device->plain)
		json_string(
			json, "no_report",
			bytes > 0 ? "there is more of it than a page should hold."
				  : "SIM_REPORT, which is set, sends it elsewhere, from where it could not be read "
				    "back.");
	bool hazards =
		report && (strstr(report, "\"severity\":\"error\"") || strstr(report, "\"severity\":\"warning\""));
	free(report);
	return hazards;
}

bool explain_recording(struct json *json, const struct run_result *result)
{
	size_t bytes;
	char size[32], smaller_case[200];
	snprintf(smaller_case, sizeof smaller_case, "Try ./%s %s", result->chapter->program, result->chapter->small);
	json_string(json, "smaller", smaller_case);
	char *trace = recording_trace(MOST_TRACE_BYTES, &bytes);
	if (trace && (*trace || !has_launched(result))) {
		write_lines(json, "trace", trace);
	} else {
		char why[300];
		if (!result->device->simulated || result->device->plain)
			snprintf(why, sizeof why, "Only the simulated device's counting build sees each access.");
		else if (bytes > 0)
			snprintf(
				why, sizeof why, "This run's trace has %s, more than a page should. %s",
				format_bytes((double)bytes, size), smaller_case);
		else if (recording_traces())
			snprintf(
				why, sizeof why,
				"SIM_TRACE, which is set, sends it elsewhere, from where it could not be read back.");
		else
			snprintf(why, sizeof why, "This problem is too large to trace. %s", smaller_case);
		json_string(json, "no_trace", why);
		fprintf(stderr, "%s: --explain: no picture of the memory traffic: %s\n", result->chapter->program,
		        why);
	}
	free(trace);
	bool hazards = write_report(json, result);
	write_sources(json);
	return hazards;
}
