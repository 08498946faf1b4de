/*
 * SIM_TRACE: what each block touches between two barriers. Small kernels whose lines were worked out by hand; the
 * sums of every program's and every chapter's trace, which are the counts; the same trace whoever compiled the
 * program and in whatever order it runs; and how a trace ends that does not end well.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "expect.h"
#include "json.h"
#include "program.h"
#include "suite.h"
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
	run = run_program(argv,
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

/* ---- by hand ---- */

/* The number of the line marked "@place" in tests/sim/programs/FILE. */
static int line_of(const char *file, const char *place)
{
	char *rest = read_text(text("%s/tests/sim/programs/%s", TEST_ROOT, file)), *line;
	char *mark = text("// @%s", place);

	for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
		const char *at = strstr(line, mark);

		if (at != NULL && at[strlen(mark)] == '\0')
			return number;
	}
	cr_assert(0, "%s: no line is marked @%s", file, place);
	return 0;
}

/* "... [0,4] even trace.cuh:twice" with line numbers in the place of places. */
static char *with_line_numbers(const char *line)
{
	char *rest = strdup(line), *word, *result = text("%s", "");
	bool after_ranges = false;

	while ((word = strsep(&rest, " ")) != NULL) {
		char *colon = strchr(word, ':');

		if (colon != NULL)
			result = text("%s %.*s:%d", result, (int)(colon - word), word,
			              line_of(text("%.*s", (int)(colon - word), word), colon + 1));
		else if (after_ranges && isalpha((unsigned char)word[0]))
			result = text("%s %d", result, line_of("trace.cu", word));
		else
			result = text("%s %s", result, word);
		after_ranges |= word[0] == '[';
	}
	return result + 1;
}

/* Takes the accesses of a trace one by one, and compares. */
static void expect_accesses(const char *what, const struct trace *trace, const char *const expected[])
{
	size_t next = 0;

	for (size_t i = 0; i < trace->count; i++) {
		if (!is_access(trace->lines[i]))
			continue;
		cr_assert(expected[next] != NULL, "%s: one more: %s", what, spell_access(trace->lines[i]));
		cr_expect_str_eq(spell_access(trace->lines[i]), with_line_numbers(expected[next]), "%s: %s, not %s",
		                 what, spell_access(trace->lines[i]), with_line_numbers(expected[next]));
		next++;
	}
	cr_expect(expected[next] == NULL, "%s: missing: %s", what, expected[next]);
}

Test(trace, lines_worked_out_by_hand)
{
	char *rest = read_text(TEST_ROOT "/tests/sim/programs/trace.cu"), *line;
	const char *expected[64] = {NULL};
	size_t count = 0;
	struct trace trace;

	while ((line = strsep(&rest, "\n")) != NULL)
		if ((line = strstr(line, "\t//- ")) != NULL && count < 63)
			expected[count++] = line + strlen("\t//- ");
	cr_assert(count > 20, "only %zu lines are expected", count);
	trace_of(TEST_BUILD "/programs/trace", "", NULL, NULL);
	trace = read_trace(trace_path());
	expect_accesses("trace", &trace, expected);
	cr_expect(!trace.truncated);
	free_trace(&trace);
}

Test(trace, the_record_of_a_launch)
{
	struct trace trace;
	const cJSON *head, *tensors;

	trace_of(TEST_BUILD "/programs/trace", "", NULL, NULL);
	trace = read_trace(trace_path());
	head = trace.lines[0];
	tensors = json_get(head, "tensors");
	cr_expect_str_eq(json_string_of(head, "kernel"), "stage");
	cr_expect_str_eq(json_string_of(head, "template"), "");
	cr_expect_str_eq(json_string_of(head, "file"), TEST_ROOT "/tests/sim/programs/trace.cu");
	cr_expect_str_eq(cJSON_PrintUnformatted(json_get(head, "grid")), "[2,1,1]");
	cr_expect_str_eq(cJSON_PrintUnformatted(json_get(head, "block")), "[4,1,1]");
	cr_expect_str_eq(cJSON_PrintUnformatted(tensors),
	                 "[{\"tensor\":\"alloc0\",\"space\":\"global\",\"bytes\":256},"
	                 "{\"tensor\":\"alloc1\",\"space\":\"global\",\"bytes\":256},"
	                 "{\"tensor\":\"tile\",\"space\":\"shared\",\"bytes\":16}]");
	cr_expect(!cJSON_HasObjectItem(head, "error"));
	free_trace(&trace);
}

/* ---- sums ---- */

Test(trace, sums_are_the_counts_of_every_program)
{
	char **names = list_programs("programs");
	size_t lines = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		struct trace trace;
		struct report report;

		trace_of(text("%s/programs/%s", TEST_BUILD, names[i]), "", NULL, NULL);
		trace = read_trace(trace_path());
		report = read_report(report_path());
		expect_trace_of(names[i], &trace, &report);
		lines += trace.count;
		free_trace(&trace);
		free_report(&report);
	}
	cr_expect(lines > 1000, "only %zu lines in all", lines);
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

Test(trace, sums_are_the_counts_of_every_chapter)
{
	for (size_t i = 0; i < CHAPTERS; i++) {
		struct trace trace;
		struct report report;

		trace_of(text("%s/chapters/%s", TEST_BUILD, chapters[i].program),
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
Test(trace, sums_are_the_requested_bytes_of_the_json)
{
	static const char *const runs[][2] = {{"naive", "naive"},
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

		trace_of(text("%s/chapters/%s", TEST_BUILD, run[0]),
		         text("--kernel %s --seq 45 --dim 40%s --quiet --json %s", run[1], i % 2 ? " --causal" : "",
		              json_path),
		         NULL, NULL);
		json = cJSON_Parse(read_text(json_path));
		cr_assert(json != NULL);
		requested = json_get(json_get(json_named(json_get(json, "kernels"), run[1]), "hbm"), "requested");
		trace = read_trace(trace_path());
		cr_expect(traced_bytes(&trace, -1, "global", NULL, "load") ==
		                  (uint64_t)json_number_of(requested, "read_bytes"),
		          "%s: bytes read", run[1]);
		cr_expect(traced_bytes(&trace, -1, "global", NULL, "store") ==
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

/* Which block is last, or how often a thread tries, is a question of order in some of the programs. */
static bool depends_on_order(const char *name)
{
	return strcmp(name, "reductions") == 0 /* the last block adds up */ ||
	       read_expectations(text("%s/tests/sim/programs/%s", TEST_ROOT, name)).depends_on_order != NULL;
}

Test(trace, whatever_the_order_the_threads_and_the_checks)
{
	static const char *const ways[][2] = {{"SIM_THREADS=1", "SIM_ORDER=forward"},
	                                      {"SIM_THREADS=2", "SIM_ORDER=reverse"},
	                                      {"SIM_THREADS=3", "SIM_ORDER=shuffle:7"},
	                                      {"SIM_THREADS=1", "SIM_CHECK=none"},
	                                      {"SIM_THREADS=2", "SIM_CHECK=all"}};
	char **names = list_programs("programs");
	size_t compared = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		char *program = text("%s/programs/%s", TEST_BUILD, names[i]), *first;

		if (depends_on_order(names[i]))
			continue;
		first = trace_of(program, "", NULL, NULL);
		/* leakcheck finds what these programs leave to the end of the process */
		for (size_t w = 0; w + 1 < sizeof ways / sizeof ways[0]; w++)
			expect_same(names[i], text("with %s %s", ways[w][0], ways[w][1]), first,
			            trace_of(program, "", ways[w][0], ways[w][1]));
		compared++;
	}
	cr_expect(compared >= 15, "only %zu programs were compared", compared);
	for (size_t i = 1; i < CHAPTERS; i += 2) {
		char *program = text("%s/chapters/%s", TEST_BUILD, chapters[i].program);
		char *options = text("%s --quiet", chapters[i].options), *first;

		first = trace_of(program, options, NULL, NULL);
		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
			expect_same(chapters[i].program, text("with %s %s", ways[w][0], ways[w][1]), first,
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

Test(trace, whatever_the_compiler)
{
	char **names = list_programs("programs");

	if (TEST_OTHER_BUILD[0] == '\0')
		skip_test("gcc and clang are not both installed: their traces were not compared");
	for (size_t i = 0; names[i] != NULL; i++)
		expect_same(names[i], "between " TEST_CXX " and " TEST_OTHER_CXX,
		            trace_of(text("%s/programs/%s", TEST_BUILD, names[i]), "", "SIM_THREADS=1", NULL),
		            trace_of(text("%s/programs/%s", TEST_OTHER_BUILD, names[i]), "", "SIM_THREADS=1", NULL));
	for (size_t i = 0; i < CHAPTERS; i++) {
		char *options = text("%s --quiet", chapters[i].options);
		char *ours = trace_of(text("%s/chapters/%s", TEST_BUILD, chapters[i].program), options, NULL, NULL);
		char *theirs =
			trace_of(text("%s/chapters/%s", TEST_OTHER_BUILD, chapters[i].program), options, NULL, NULL);

		/* There gcc gives the copy of a struct in a template the line before (common/sim/README.md). */
		if (strcmp(chapters[i].program, "backward") == 0) {
			without_places(ours);
			without_places(theirs);
		}
		expect_same(chapters[i].program, "between " TEST_CXX " and " TEST_OTHER_CXX, ours, theirs);
	}
}

/* ---- ends ---- */

static struct outcome run_end(const char *how, const char *first, const char *second)
{
	return run_program(LIST(TEST_BUILD "/programs/trace", how),
	                   LIST(text("SIM_TRACE=%s", trace_path()), first, second ? second : "SIM_ORDER=forward"),
	                   30);
}

static const char *error_of(const struct trace *trace)
{
	return cJSON_HasObjectItem(trace->lines[0], "error") ? json_string_of(trace->lines[0], "error") : "none";
}

/* All of the blocks before the one that fails, and of that one all it did; the launch after it never ran. */
Test(trace, an_error_in_the_kernel)
{
	static const char *const threads[] = {"SIM_THREADS=1", "SIM_THREADS=3"};

	for (size_t i = 0; i < 2; i++) {
		struct outcome run = run_end("stray", threads[i], NULL);
		struct trace trace = read_trace(trace_path());

		cr_expect(run.status == 1 && strstr(run.err, "Invalid __global__ write") != NULL, "%s", run.err);
		cr_expect_str_eq(error_of(&trace), "cudaErrorIllegalAddress");
		expect_accesses("stray", &trace,
		                LIST("stray 0,0,0 0 global alloc0 store 16 [0,16] before",
		                     "stray 0,0,0 1 global alloc0 store 16 [0,16] after",
		                     "stray 0,0,0 2 global alloc0 store 16 [0,16] last",
		                     "stray 1,0,0 0 global alloc0 store 16 [16,32] before",
		                     "stray 1,0,0 1 global alloc0 store 4 [16,20] after"));
		free_trace(&trace);
		free_outcome(&run);
	}
}

/* An interval is the number of barriers the thread has passed: those that have left passed none. */
Test(trace, threads_that_leave_before_a_barrier)
{
	struct outcome run = run_end("leave", "SIM_CHECK=memcheck", NULL);
	struct trace trace = read_trace(trace_path());

	cr_expect(run.status == 0, "%s", run.err);
	expect_accesses("leave", &trace,
	                LIST("leave 0,0,0 0 global alloc0 store 16 [0,16] all",
	                     "leave 0,0,0 1 global alloc0 store 8 [0,8] left",
	                     "grid 0,0,0 0 global alloc0 store 4 [0,4] grid"));
	free_trace(&trace);
	free_outcome(&run);
}

Test(trace, an_endless_loop)
{
	struct outcome run = run_end("spin", "SIM_TIMEOUT=0.3", NULL);
	struct trace trace = read_trace(trace_path());

	cr_expect(run.status == 1, "exit %d: %s", run.status, run.err);
	cr_expect_str_eq(error_of(&trace), "cudaErrorLaunchTimeout");
	cr_assert(trace.count == 3, "%zu lines", trace.count);
	cr_expect_str_eq(spell_access(trace.lines[1]),
	                 with_line_numbers("spin 0,0,0 0 global alloc0 store 8 [0,8] spin"));
	cr_expect(json_number_of(trace.lines[2], "interval") == 1 && json_number_of(trace.lines[2], "bytes") > 1000);
	free_trace(&trace);
	free_outcome(&run);
}

/* What was complete is in the file, whatever ends the program. */
Test(trace, a_killed_program)
{
	struct outcome run = run_end("killed", "SIM_THREADS=1", NULL);
	struct trace trace = read_trace(trace_path());

	cr_expect(run.status == 128 + 9, "exit %d", run.status);
	expect_accesses("killed", &trace, LIST("grid 0,0,0 0 global alloc0 store 4 [0,4] grid"));
	free_trace(&trace);
	free_outcome(&run);
}

/* The first lines that fit, the same ones however the blocks were run, and a last one that says so. */
Test(trace, the_limit)
{
	static const char *const orders[] = {"SIM_ORDER=forward", "SIM_ORDER=reverse", "SIM_ORDER=shuffle:3"};
	char *first = NULL, *whole;

	for (size_t i = 0; i < 3; i++) {
		struct outcome run = run_end("crowd", "SIM_TRACE_LIMIT=1", orders[i]);
		char *content = read_text(trace_path());
		struct trace trace = read_trace(trace_path());
		const cJSON *last = trace.lines[trace.count - 1];

		cr_expect(run.status == 0 && trace.truncated, "%s: exit %d", orders[i], run.status);
		cr_expect_str_eq(run.err, text("SIM_TRACE=%s: ended after %zu lines, at its limit of 1 MB "
		                               "(SIM_TRACE_LIMIT)\n",
		                               trace_path(), trace.count - 1));
		cr_expect(json_number_of(last, "lines") == trace.count - 1 && json_number_of(last, "launch") == 0 &&
		          json_number_of(last, "limit_bytes") == 1 << 20);
		cr_expect(strlen(content) > (1 << 20) - 2000 && strlen(content) < (1 << 20) + 200, "%zu bytes",
		          strlen(content));
		if (first == NULL)
			first = content;
		expect_same("crowd", orders[i], first, content);
		free_trace(&trace);
		free_outcome(&run);
	}
	run_end("crowd", "SIM_TRACE_LIMIT=64", NULL);
	whole = read_text(trace_path());
	cr_expect(strlen(whole) > 3 << 20 && strncmp(first, whole, (1 << 20) - 2000) == 0);
	cr_expect(strstr(whole, "\"type\":\"truncated\"") == NULL && strstr(whole, "\"kernel\":\"grid\"") != NULL);
}

/* ---- the variable ---- */

static void expect_refused(const char *setting, int status, const char *message)
{
	struct outcome run = run_program(LIST(TEST_BUILD "/programs/trace"), LIST(setting), 30);

	cr_expect(run.status == status, "%s: exit %d", setting, run.status);
	cr_expect_str_eq(run.err, message, "%s: %s", setting, run.err);
	cr_expect_str_empty(run.out);
	free_outcome(&run);
}

Test(trace, what_cannot_be_written_is_refused)
{
	expect_refused("SIM_TRACE=/nonexistent/trace", 3,
	               "SIM_TRACE=/nonexistent/trace: cannot be written: No such file or directory\n");
	expect_refused("SIM_TRACE=/dev/full", 3, "SIM_TRACE=/dev/full: cannot be written: No space left on device\n");
	expect_refused("SIM_TRACE=", 2, "SIM_TRACE=: expected a file name, or - for standard output\n");
	expect_refused("SIM_TRACE_LIMIT=0", 2, "SIM_TRACE_LIMIT=0: expected a number of megabytes from 1 to 65536\n");
}

Test(trace, a_fast_program_says_once_that_it_traces_nothing)
{
	struct outcome run =
		run_program(LIST(TEST_BUILD "/programs/trace.fast"), LIST(text("SIM_TRACE=%s", trace_path())), 30);

	cr_expect(run.status == 0, "exit %d", run.status);
	cr_expect_str_eq(run.err, text("SIM_TRACE=%s: ignored: a --fast program counts nothing\n", trace_path()));
	cr_expect(read_text(trace_path()) == NULL, "it wrote a file");
	free_outcome(&run);
}

/* A program may ask for a trace of some of its launches, with no variable set: sim.h. */
Test(trace, from_the_program)
{
	char *source = text("%s/calls.cu", scratch_directory()), *program = text("%s/calls", scratch_directory());
	struct outcome run;
	struct trace trace;

	write_text(source, "#include <cuda_runtime.h>\n#include <sim.h>\n"
	                   "__global__ void one(int *y) { y[threadIdx.x] = 1; }\n"
	                   "int main(int, char **argv)\n{\n\tint *y;\n\tcudaMalloc(&y, 64);\n"
	                   "\tsim_name_allocation(y, \"y \\\"quoted\\\"\");\n"
	                   "\tone<<<1, 1>>>(y);\n\tif (sim_trace(argv[1]) != 0)\n\t\treturn 3;\n"
	                   "\tone<<<1, 2>>>(y);\n\tsim_trace(NULL);\n\tone<<<1, 3>>>(y);\n"
	                   "\treturn sim_trace(\"/nonexistent/trace\") == 0;\n}\n");
	run = run_program(LIST(TEST_ROOT "/common/sim/simcc", "-I", TEST_ROOT "/common/sim", source, "-o", program),
	                  LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
	cr_assert(run.status == 0, "%s", run.err);
	run = run_program(LIST(program, trace_path()), NOTHING, 30);
	cr_assert(run.status == 0, "exit %d: %s", run.status, run.err);
	trace = read_trace(trace_path());
	cr_assert(trace.count == 2, "%zu lines", trace.count);
	cr_expect_str_eq(spell_access(trace.lines[1]), "one 0,0,0 0 global y_\"quoted\" store 8 [0,8] 3");
	cr_expect(json_number_of(trace.lines[0], "launch") == 1);
	free_trace(&trace);
}
