/*
 * SIM_TRACE of the chapters' programs: the sums of each trace are the counts, and it is the same whoever compiled the
 * kernels and in whatever order they run. The device's own tests of it are in simcc/tests.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "json.h"
#include "program.h"
#include "trace.h"

static char *trace_path(void)
{
	return text("%s/trace.jsonl", scratch_directory());
}

static char *report_path(void)
{
	return text("%s/report.jsonl", scratch_directory());
}

/* Runs `program`, with further words in `line`; `settings`: up to two more variables, or NULL. Returns the trace. */
static char *trace_of(const char *program, const char *line, const char *first, const char *second)
{
	const char *argv[40] = {program};
	char *words = strdup(line), *rest = words, *trace;
	size_t count = 1;
	struct outcome run;

	for (char *word; (word = strsep(&rest, " ")) != NULL && count < 39;)
		if (*word != '\0')
			argv[count++] = word;
	run = run_program(
		argv,
		LIST(text("SIM_TRACE=%s", trace_path()), text("SIM_REPORT=%s", report_path()),
	             first ? first : "SIM_THREADS=2", second ? second : "SIM_ORDER=forward"),
		60);
	trace = read_text(trace_path());
	cr_expect(run.status == 0, "%s %s: exit %d: %s", program, line, run.status, run.err);
	cr_expect_str_empty(run.err, "%s %s: not silent: %s", program, line, run.err);
	cr_assert(trace != NULL, "%s %s wrote no trace", program, line);
	free_outcome(&run);
	free(words);
	return trace;
}

static const struct {
	const char *program, *options;
} chapters[] = {
	{"naive", "--seq 17 --dim 59"},
	{"naive", "--batch 2 --heads 2 --seq 33 --dim 40 --causal"},
	{"online_softmax", "--rows 5 --cols 77"},
	{"tiled_matmul", "--m 33 --n 40 --k 17"},
	{"fa1", "--seq 37 --dim 59 --tile-q 16 --tile-k 8"},
	{"fa1", "--batch 2 --heads 2 --seq 65 --dim 40 --causal"},
	{"fa2", "--seq 37 --dim 59 --tile-q 16 --tile-k 8"},
	{"fa2", "--batch 2 --heads 2 --seq 65 --dim 40 --causal"},
	{"backward", "--seq 17 --dim 59"},
	{"backward", "--heads 2 --seq 33 --dim 40 --causal"},
};
enum { CHAPTERS = sizeof chapters / sizeof chapters[0] };

Test(device_trace, sums_are_the_counts_of_every_chapter)
{
	for (size_t i = 0; i < CHAPTERS; i++) {
		struct trace trace;
		struct report report;

		trace_of(
			text("%s/chapters/%s", TEST_BUILD, chapters[i].program),
			text("%s --quiet", chapters[i].options), NULL, NULL);
		trace = read_trace(trace_path());
		report = read_report(report_path());
		cr_expect(report.launch_count > 0);
		expect_trace_of(text("%s %s", chapters[i].program, chapters[i].options), &trace, &report);
		free_trace(&trace);
		free_report(&report);
	}
}

/* What the page about a run counts up to: the trace of one kernel is the hbm.requested of its JSON. */
Test(device_trace, sums_are_the_requested_bytes_of_the_json)
{
	static const char *const runs[][2] = {
		{"naive", "naive"},
		{"fa1", "fa1_paper"},
		{"fa1", "fa1_row"},
		{"fa2", "fa2_row"},
		{"fa2", "fa2_split_q"}};

	for (size_t i = 0; i < 2 * sizeof runs / sizeof runs[0]; i++) {
		const char *const *run = runs[i / 2];
		char *json_path = text("%s/run.json", scratch_directory());
		struct trace trace;
		const cJSON *requested;
		cJSON *json;

		trace_of(
			text("%s/chapters/%s", TEST_BUILD, run[0]),
			text("--kernel %s --seq 45 --dim 40%s --quiet --json %s", run[1], i % 2 ? " --causal" : "",
		             json_path),
			NULL, NULL);
		json = cJSON_Parse(read_text(json_path));
		cr_assert(json != NULL);
		requested = json_get(json_get(json_named(json_get(json, "kernels"), run[1]), "hbm"), "requested");
		trace = read_trace(trace_path());
		cr_expect(
			traced_bytes(&trace, -1, "global", NULL, "load") ==
				(uint64_t)json_number_of(requested, "read_bytes"),
			"%s: bytes read", run[1]);
		cr_expect(
			traced_bytes(&trace, -1, "global", NULL, "store") ==
				(uint64_t)json_number_of(requested, "write_bytes"),
			"%s: bytes written", run[1]);
		cr_expect(traced_bytes(&trace, -1, "global", NULL, "load") > 3 * 4 * 45 * 40);
		free_trace(&trace);
		cJSON_Delete(json);
	}
}

/* ---- always the same ---- */

static void expect_same(const char *name, const char *how, const char *trace, const char *other)
{
	size_t same = 0, start = 0;

	if (strcmp(trace, other) == 0)
		return;
	for (; trace[same] == other[same]; same++)
		start = trace[same] == '\n' ? same + 1 : start;
	cr_expect(0, "%s differs %s:\n%.300s\n%.300s", name, how, trace + start, other + start);
}

Test(device_trace, whatever_the_order_the_threads_and_the_checks)
{
	static const char *const ways[][2] = {
		{"SIM_THREADS=1", "SIM_ORDER=forward"},
		{"SIM_THREADS=2", "SIM_ORDER=reverse"},
		{"SIM_THREADS=3", "SIM_ORDER=shuffle:7"},
		{"SIM_THREADS=1", "SIM_CHECK=none"},
		{"SIM_THREADS=2", "SIM_CHECK=all"}};

	for (size_t i = 1; i < CHAPTERS; i += 2) {
		char *program = text("%s/chapters/%s", TEST_BUILD, chapters[i].program);
		char *options = text("%s --quiet", chapters[i].options), *first;

		first = trace_of(program, options, NULL, NULL);
		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
			expect_same(
				chapters[i].program, text("with %s %s", ways[w][0], ways[w][1]), first,
				trace_of(program, options, ways[w][0], ways[w][1]));
	}
}

/* In place, the trace without its lines' "lines". */
static char *without_places(char *trace)
{
	char *to = trace;

	for (const char *from = trace; *from != '\0';) {
		if (strncmp(from, ",\"lines\":[", 10) == 0)
			from = strchr(from, ']') + 1;
		*to++ = *from++;
	}
	*to = '\0';
	return trace;
}

Test(device_trace, whatever_the_compiler)
{
	if (TEST_OTHER_BUILD[0] == '\0')
		skip_test("gcc and clang are not both installed: their traces were not compared");
	for (size_t i = 0; i < CHAPTERS; i++) {
		char *options = text("%s --quiet", chapters[i].options);
		char *ours = trace_of(text("%s/chapters/%s", TEST_BUILD, chapters[i].program), options, NULL, NULL);
		char *theirs =
			trace_of(text("%s/chapters/%s", TEST_OTHER_BUILD, chapters[i].program), options, NULL, NULL);

		/* There gcc gives the copy of a struct in a template the line before (simcc/README.md). */
		if (strcmp(chapters[i].program, "backward") == 0) {
			without_places(ours);
			without_places(theirs);
		}
		expect_same(chapters[i].program, "between " TEST_CXX " and " TEST_OTHER_CXX, ours, theirs);
	}
}
