#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "json.h"
#include "program.h"

static const char *const spaces[] = {"global", "constant", "shared"}, *const ops[] = {"load", "store", "atomic"};

bool is_access(const cJSON *line)
{
	return !cJSON_HasObjectItem(line, "type");
}

static int place_in(const char *const names[3], const char *name)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	cr_assert(0, "\"%s\" is none of %s, %s, %s", name, names[0], names[1], names[2]);
	return -1;
}

static int element(const cJSON *array, int index)
{
	const cJSON *item = cJSON_GetArrayItem(array, index);

	cr_assert(cJSON_IsNumber(item), "element %d is no number", index);
	return item->valueint;
}

/* ---- is every line where it should be? ---- */

static double linear_block(const cJSON *head, const cJSON *line)
{
	const cJSON *grid = json_get(head, "grid"), *block = json_get(line, "block");

	return element(block, 0) +
	       (double)element(grid, 0) * (element(block, 1) + (double)element(grid, 1) * element(block, 2));
}

/* Its place among the launch's tensors; those of one name may be several. */
static int tensor_place(const cJSON *head, const cJSON *line, int from)
{
	const cJSON *tensors = json_get(head, "tensors");

	for (int i = from; i < cJSON_GetArraySize(tensors); i++) {
		const cJSON *tensor = cJSON_GetArrayItem(tensors, i);

		if (strcmp(json_string_of(tensor, "tensor"), json_string_of(line, "tensor")) == 0 &&
		    strcmp(json_string_of(tensor, "space"), json_string_of(line, "space")) == 0)
			return i;
	}
	return -1;
}

static void expect_in_order(const char *path, const cJSON *head, const cJSON *before, const cJSON *line)
{
	double blocks[2] = {linear_block(head, before), linear_block(head, line)};
	double intervals[2] = {json_number_of(before, "interval"), json_number_of(line, "interval")};
	int order = (blocks[0] < blocks[1]) - (blocks[0] > blocks[1]);

	if (order == 0)
		order = (intervals[0] < intervals[1]) - (intervals[0] > intervals[1]);
	if (order == 0) {
		int first = tensor_place(head, before, 0), second = tensor_place(head, line, first);
		int first_op = place_in(ops, json_string_of(before, "op"));

		if (second == first && place_in(ops, json_string_of(line, "op")) <= first_op)
			second = tensor_place(head, line, first + 1);
		order = second < first ? -1 : 1;
	}
	cr_assert(order > 0, "%s: out of order: %s", path, cJSON_PrintUnformatted(line));
}

static void expect_ranges(const char *path, const cJSON *head, const cJSON *line)
{
	const cJSON *tensor = cJSON_GetArrayItem(json_get(head, "tensors"), tensor_place(head, line, 0)), *range;
	double end = -1, covered = 0;

	cJSON_ArrayForEach(range, json_get(line, "ranges"))
	{
		double first = cJSON_GetArrayItem(range, 0)->valuedouble;

		cr_assert(
			cJSON_GetArraySize(range) == 2 && first > end, "%s: ranges that touch: %s", path,
			cJSON_PrintUnformatted(line));
		end = cJSON_GetArrayItem(range, 1)->valuedouble;
		cr_assert(end > first, "%s: an empty range: %s", path, cJSON_PrintUnformatted(line));
		covered += end - first;
	}
	cr_assert(
		covered > 0 && covered <= json_number_of(line, "bytes"), "%s: %.0f bytes in ranges: %s", path,
		covered, cJSON_PrintUnformatted(line));
	if (tensor_place(head, line, tensor_place(head, line, 0) + 1) < 0) /* the only one of that name */
		cr_assert(
			end <= json_number_of(tensor, "bytes"), "%s: past the end: %s", path,
			cJSON_PrintUnformatted(line));
}

static void expect_places(const char *path, const cJSON *line)
{
	const cJSON *place, *last = NULL;

	cJSON_ArrayForEach(place, json_get(line, "lines"))
	{
		bool sorted = last == NULL || (cJSON_IsNumber(last) && cJSON_IsString(place)) ||
		              (cJSON_IsNumber(last) && place->valueint > last->valueint) ||
		              (cJSON_IsString(last) && cJSON_IsString(place));

		cr_assert(sorted, "%s: source lines out of order: %s", path, cJSON_PrintUnformatted(line));
		last = place;
	}
	cr_assert(last != NULL, "%s: no source line: %s", path, cJSON_PrintUnformatted(line));
}

static void check_line(const char *path, const cJSON *head, const cJSON *before, const cJSON *line)
{
	cr_assert(
		head != NULL && json_number_of(head, "launch") == json_number_of(line, "launch") &&
			strcmp(json_string_of(head, "kernel"), json_string_of(line, "kernel")) == 0,
		"%s: without its launch: %s", path, cJSON_PrintUnformatted(line));
	place_in(spaces, json_string_of(line, "space"));
	place_in(ops, json_string_of(line, "op"));
	cr_assert(
		tensor_place(head, line, 0) >= 0, "%s: a tensor its launch does not name: %s", path,
		cJSON_PrintUnformatted(line));
	expect_ranges(path, head, line);
	expect_places(path, line);
	if (is_access(before))
		expect_in_order(path, head, before, line);
}

struct trace read_trace(const char *path)
{
	char *content = read_text(path), *rest = content, *line;
	struct trace trace = {.count = 0};
	const cJSON *head = NULL;
	size_t capacity = 1;

	cr_assert(content != NULL, "%s: there is no such trace", path);
	cr_assert(content[0] == '\0' || content[strlen(content) - 1] == '\n', "%s: ends within a line", path);
	for (const char *c = content; *c != '\0'; c++)
		capacity += *c == '\n';
	trace.lines = calloc(capacity, sizeof *trace.lines);
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		cJSON *parsed = cJSON_ParseWithOpts(line, NULL, true);

		cr_assert(parsed != NULL, "%s: no JSON: %.200s", path, line);
		cr_assert(!trace.truncated, "%s: lines after its end", path);
		trace.lines[trace.count++] = parsed;
		if (is_access(parsed))
			check_line(path, head, trace.lines[trace.count - 2], parsed);
		else if (strcmp(json_string_of(parsed, "type"), "launch") == 0)
			head = parsed;
		else
			trace.truncated = strcmp(json_string_of(parsed, "type"), "truncated") == 0;
	}
	free(content);
	return trace;
}

void free_trace(struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		cJSON_Delete(trace->lines[i]);
	free(trace->lines);
}

/* ---- sums ---- */

static bool is_of(const cJSON *line, int launch, const char *space, const char *tensor, const char *op)
{
	return is_access(line) && (launch < 0 || json_number_of(line, "launch") == launch) &&
	       strcmp(json_string_of(line, "space"), space) == 0 && strcmp(json_string_of(line, "op"), op) == 0 &&
	       (tensor == NULL || strcmp(json_string_of(line, "tensor"), tensor) == 0);
}

uint64_t traced_bytes(const struct trace *trace, int launch, const char *space, const char *tensor, const char *op)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < trace->count; i++)
		if (is_of(trace->lines[i], launch, space, tensor, op))
			bytes += (uint64_t)json_number_of(trace->lines[i], "bytes");
	return bytes;
}

/* Distinct bytes that lines of this kind or of atomics touch. */
static uint64_t traced_footprint(const struct trace *trace, int launch, const char *tensor, const char *op)
{
	static unsigned char touched[1 << 22];
	uint64_t bytes = 0;
	size_t most = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const cJSON *range;

		if (!is_of(trace->lines[i], launch, "global", tensor, op) &&
		    !is_of(trace->lines[i], launch, "global", tensor, "atomic"))
			continue;
		cJSON_ArrayForEach(range, json_get(trace->lines[i], "ranges"))
		{
			size_t first = (size_t)element(range, 0), end = (size_t)element(range, 1);

			cr_assert(end <= sizeof touched, "%s: larger than this test holds", tensor);
			memset(touched + first, 1, end - first);
			most = end > most ? end : most;
		}
	}
	for (size_t i = 0; i < most; i++)
		bytes += touched[i];
	memset(touched, 0, most);
	return bytes;
}

static void expect_bytes(
	const char *what, int launch, const char *tensor, const char *kind, uint64_t traced, uint64_t counted)
{
	cr_expect(
		traced == counted, "%s: launch %d: %s of %s: %zu bytes traced, %zu counted", what, launch, kind,
		tensor, (size_t)traced, (size_t)counted);
}

static void expect_launch(const char *what, const struct trace *trace, int number, const struct launch *launch)
{
	const uint64_t shared[] = {
		launch->shared_load.bytes, launch->shared_store.bytes, launch->shared_atomic.bytes};

	for (size_t t = 0; t < launch->tensor_count; t++) {
		const struct tensor *tensor = &launch->tensors[t];
		uint64_t counted[3] = {0};
		bool alone = true;

		for (size_t u = 0; u < launch->tensor_count; u++) { /* several may have one name */
			if (strcmp(launch->tensors[u].name, tensor->name) != 0)
				continue;
			counted[0] += launch->tensors[u].read;
			counted[1] += launch->tensors[u].write;
			counted[2] += launch->tensors[u].atomic;
			alone &= u == t;
		}
		for (int op = 0; op < 3; op++)
			expect_bytes(
				what, number, tensor->name, ops[op],
				traced_bytes(trace, number, "global", tensor->name, ops[op]), counted[op]);
		if (!alone)
			continue;
		expect_bytes(
			what, number, tensor->name, "footprint read",
			traced_footprint(trace, number, tensor->name, "load"), tensor->read_bytes);
		expect_bytes(
			what, number, tensor->name, "footprint written",
			traced_footprint(trace, number, tensor->name, "store"), tensor->write_bytes);
	}
	for (int op = 0; op < 3; op++)
		expect_bytes(
			what, number, "shared memory", ops[op], traced_bytes(trace, number, "shared", NULL, ops[op]),
			shared[op]);
	expect_bytes(
		what, number, "all tensors", "load", traced_bytes(trace, number, "global", NULL, "load"),
		launch->load.bytes);
	expect_bytes(
		what, number, "constants", "load", traced_bytes(trace, number, "constant", NULL, "load"),
		launch->constant.bytes);
}

void expect_trace_of(const char *what, const struct trace *trace, const struct report *report)
{
	size_t heads = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const cJSON *head = trace->lines[i];

		if (is_access(head) || strcmp(json_string_of(head, "type"), "launch") != 0)
			continue;
		cr_assert(
			heads < report->launch_count && (size_t)json_number_of(head, "launch") == heads &&
				strcmp(json_string_of(head, "kernel"), report->launches[heads].kernel) == 0 &&
				strcmp(json_string_of(head, "template"), report->launches[heads].arguments) == 0,
			"%s: trace and report disagree on launch %zu", what, heads);
		expect_launch(what, trace, (int)heads, &report->launches[heads]);
		heads++;
	}
	cr_expect(
		heads == report->launch_count, "%s: %zu launches traced, %zu reported", what, heads,
		report->launch_count);
}

/* ---- spelling ---- */

char *spell_access(const cJSON *line)
{
	const cJSON *block = json_get(line, "block"), *item;
	char *tensor = text("%s", json_string_of(line, "tensor"));
	char *spelled;

	for (char *c = tensor; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c;
	spelled = text(
		"%s %d,%d,%d %d %s %s %s %.0f", json_string_of(line, "kernel"), element(block, 0), element(block, 1),
		element(block, 2), (int)json_number_of(line, "interval"), json_string_of(line, "space"), tensor,
		json_string_of(line, "op"), json_number_of(line, "bytes"));
	cJSON_ArrayForEach(item, json_get(line, "ranges")) spelled =
		text("%s [%d,%d]", spelled, element(item, 0), element(item, 1));
	cJSON_ArrayForEach(item, json_get(line, "lines")) spelled =
		cJSON_IsNumber(item) ? text("%s %d", spelled, item->valueint)
				     : text("%s %s", spelled,
	                                    strrchr(item->valuestring, '/') ? strrchr(item->valuestring, '/') + 1
	                                                                    : item->valuestring);
	return spelled;
}
