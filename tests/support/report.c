#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "json.h"
#include "program.h"
#include "report.h"

static uint64_t number(const cJSON *object, const char *key)
{
	const double value = json_number_of(object, key);

	cr_assert(value >= 0, "\"%s\" is no count", key);
	return (uint64_t)value;
}

static void copy_string(char *to, size_t size, const cJSON *object, const char *key)
{
	snprintf(to, size, "%s", json_string_of(object, key));
}

static void copy_optional(char *to, size_t size, const cJSON *object, const char *key)
{
	if (cJSON_HasObjectItem(object, key))
		copy_string(to, size, object, key);
}

static void copy_triple(int to[3], const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	for (int i = 0; i < 3; i++)
		to[i] = item == NULL ? -1 : cJSON_GetArrayItem(item, i)->valueint;
}

static struct count read_count(const cJSON *space, const char *op, const char *parts)
{
	const cJSON *object = json_get(space, op);
	struct count count = {.bytes = number(object, "bytes"), .requests = number(object, "requests")};

	if (parts != NULL)
		count.parts = number(object, parts);
	if (parts != NULL && strcmp(parts, "wavefronts") == 0) {
		count.ideal = number(object, "ideal_wavefronts");
		count.conflicts = number(object, "conflicts");
	}
	return count;
}

static void read_tensors(struct launch *launch, const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		struct tensor *tensor = &launch->tensors[launch->tensor_count++];
		const cJSON *requested = json_get(item, "requested"), *footprint = json_get(item, "footprint");

		cr_assert(launch->tensor_count < MAX_TENSORS, "more tensors than this test holds");
		copy_string(tensor->name, sizeof tensor->name, item, "name");
		tensor->read = number(requested, "read_bytes");
		tensor->write = number(requested, "write_bytes");
		if (cJSON_HasObjectItem(requested, "atomic_bytes"))
			tensor->atomic = number(requested, "atomic_bytes");
		tensor->read_bytes = number(footprint, "read_bytes");
		tensor->write_bytes = number(footprint, "write_bytes");
	}
}

static void read_counters(struct launch *launch, const cJSON *record)
{
	const cJSON *global = json_get(record, "global"), *shared = json_get(record, "shared");

	launch->counted = true;
	launch->load = read_count(global, "load", "sectors");
	launch->store = read_count(global, "store", "sectors");
	launch->atomic = read_count(global, "atomic", "sectors");
	launch->shared_load = read_count(shared, "load", "wavefronts");
	launch->shared_store = read_count(shared, "store", "wavefronts");
	launch->shared_atomic = read_count(shared, "atomic", "wavefronts");
	launch->constant = read_count(json_get(record, "constant"), "load", NULL);
	launch->read_bytes = number(json_get(record, "footprint"), "read_bytes");
	launch->write_bytes = number(json_get(record, "footprint"), "write_bytes");
	launch->barriers = number(record, "barriers");
	launch->exp = number(record, "exp");
	read_tensors(launch, json_get(record, "tensors"));
}

static struct launch read_launch(const cJSON *record)
{
	struct launch launch = {.counted = false};
	const cJSON *tool;
	int grid[3], block[3];

	copy_string(launch.kernel, sizeof launch.kernel, record, "kernel");
	copy_string(launch.arguments, sizeof launch.arguments, record, "template");
	copy_triple(grid, record, "grid");
	copy_triple(block, record, "block");
	for (int i = 0; i < 3; i++) {
		launch.grid[i] = (unsigned)grid[i];
		launch.block[i] = (unsigned)block[i];
	}
	launch.dynamic_shared = number(record, "dynamic_shared_bytes");
	launch.static_shared = number(record, "static_shared_bytes");
	if (cJSON_HasObjectItem(record, "global"))
		read_counters(&launch, record);
	cJSON_ArrayForEach(tool, json_get(record, "hazards")) launch.hazards += (uint64_t)tool->valuedouble;
	return launch;
}

static struct hazard read_hazard(const cJSON *record)
{
	struct hazard hazard = {.line = 0};

	copy_string(hazard.tool, sizeof hazard.tool, record, "tool");
	copy_string(hazard.kind, sizeof hazard.kind, record, "kind");
	copy_string(hazard.severity, sizeof hazard.severity, record, "severity");
	copy_string(hazard.kernel, sizeof hazard.kernel, record, "kernel");
	copy_optional(hazard.file, sizeof hazard.file, record, "file");
	copy_optional(hazard.space, sizeof hazard.space, record, "space");
	copy_optional(hazard.array, sizeof hazard.array, record, "array");
	copy_triple(hazard.block, record, "block");
	copy_triple(hazard.thread, record, "thread");
	hazard.count = number(record, "count");
	if (cJSON_HasObjectItem(record, "line"))
		hazard.line = (unsigned)number(record, "line");
	if (cJSON_HasObjectItem(record, "bytes"))
		hazard.bytes = (unsigned)number(record, "bytes");
	if (cJSON_HasObjectItem(record, "index")) {
		hazard.has_index = true;
		hazard.index = (int64_t)json_number_of(record, "index");
	}
	if (cJSON_HasObjectItem(record, "other")) {
		const cJSON *other = json_get(record, "other");

		hazard.has_other = true;
		copy_triple(hazard.other_thread, other, "thread");
		if (cJSON_HasObjectItem(other, "line"))
			hazard.other_line = (unsigned)number(other, "line");
	}
	return hazard;
}

static void add_record(struct report *report, const cJSON *record)
{
	const char *type = json_string_of(record, "type");

	if (strcmp(type, "launch") == 0) {
		report->launches = realloc(report->launches, (report->launch_count + 1) * sizeof *report->launches);
		cr_assert(report->launches != NULL, "out of memory");
		report->launches[report->launch_count++] = read_launch(record);
	} else {
		cr_assert_str_eq(type, "hazard", "a record of type \"%s\"", type);
		report->hazards = realloc(report->hazards, (report->hazard_count + 1) * sizeof *report->hazards);
		cr_assert(report->hazards != NULL, "out of memory");
		report->hazards[report->hazard_count++] = read_hazard(record);
	}
}

struct report read_report(const char *path)
{
	struct report report = {.launch_count = 0};
	char *all = read_text(path), *rest = all, *line;

	cr_assert(all != NULL, "%s: no report was written", path);
	cr_assert(all[0] == '\0' || all[strlen(all) - 1] == '\n', "%s: the last line is not complete", path);
	while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
		cJSON *record = cJSON_ParseWithOpts(line, NULL, true);

		cr_assert(record != NULL, "%s: a line that is no JSON object: %s", path, line);
		add_record(&report, record);
		cJSON_Delete(record);
	}
	free(all);
	return report;
}

void free_report(struct report *report)
{
	free(report->launches);
	free(report->hazards);
	*report = (struct report){.launch_count = 0};
}
