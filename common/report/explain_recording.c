#include "report/explain_recording.h"

#include "measure/recording.h"
#include "report/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TRACE_BYTES = 6 << 20, MOST_REPORT_BYTES = 4 << 20, MOST_SOURCE_BYTES = 1 << 20, MOST_SOURCES = 16 };

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

void explain_recording(struct json *json, const struct run_result *result)
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
