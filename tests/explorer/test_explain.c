/*
 * --explain on every chapter: a page on the run, right or wrong. The first wrong tile is compared with one found
 * here, from what the broken program and the right one saved.
 */
#include "browser.h"
#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FA2       TEST_ROOT "/05_fa2/fa2"
#define BROKEN(f) TEST_BUILD "/explorer/faults/" f "/program"

static struct outcome run_in(const char *directory, const char *program, const char *line)
{
	char *copy = strdup(line);
	const char *argv[48] = {program};
	size_t count = 1;
	for (char *word = strtok(copy, " "); word && count < 47; word = strtok(NULL, " "))
		argv[count++] = word;
	argv[count] = NULL;
	struct outcome o = run_program_in(directory, argv, NOTHING, 120);
	free(copy);
	return o;
}

static void expect_status(const char *program, const char *line, int status, const char *says)
{
	struct outcome o = run_in(scratch_directory(), program, line);
	cr_expect_eq(o.status, status, "%s: exit %d, expected %d: %s", line, o.status, status, o.err);
	cr_expect(strstr(o.err, says), "%s: '%s' lacks '%s'", line, o.err, says);
	free_outcome(&o);
}

static size_t count_files(const char *directory)
{
	size_t count = 0;
	DIR *open = opendir(directory);
	for (struct dirent *entry; open && (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	if (open)
		closedir(open);
	return count;
}

/* The JSON inside a page. */
static cJSON *data_of(const char *path)
{
	char *page = read_text(path);
	cr_assert(page, "%s is not there", path);
	char *data = strstr(page, "id=\"data\">"), *end = data ? strstr(data, "</script>") : NULL;
	cr_assert(end, "%s holds no data", path);
	*end = '\0';
	cJSON *json = cJSON_Parse(data + strlen("id=\"data\">"));
	cr_assert(json, "%s: its data is no JSON", path);
	free(page);
	return json;
}

Test(explain, refusals_leave_nothing_behind)
{
	const char *directory = scratch_directory();
	expect_status(FA2, "--explain", 2, "--explain: expected a value FILE");
	expect_status(FA2, "--sweep --explain x.html", 2, "--explain: not with --sweep");
	expect_status(FA2, "--json - --explain -", 2, "--json -, --explain -: only one of them");
	expect_status(FA2, "--json x --explain x", 2, "--json, --explain: x: each needs a file of its own");
	expect_status(FA2, "--seq 8 --explain nowhere/x.html", 3, "nowhere/x.html: cannot be written");
	expect_status(FA2, "--seq 8 --quiet --explain /dev/full", 3, "cannot be written");
	expect_status(FA2, "--seq 0 --explain x.html", 2, "--seq");
	expect_status(FA2, "--kernel fa2_row --tile-k 65536 --seq 65536 --explain x.html", 3, "shared memory");
	cr_expect_eq(count_files(directory), 0, "something was left behind");
	struct outcome o = run_in(directory, FA2, "--help");
	cr_expect(strstr(o.out, "--explain FILE"), "--help does not name it");
	free_outcome(&o);
}

Test(explain, to_standard_output_the_page_is_alone)
{
	struct outcome o = run_in(scratch_directory(), FA2, "--seq 8 --dim 8 --repeat 1 --explain -");
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strncmp(o.out, "<!doctype html>", 15) == 0, "%.100s", o.out);
	size_t length = strlen(o.out);
	cr_expect(length > 20 && strcmp(o.out + length - 8, "</html>\n") == 0);
	free_outcome(&o);
}

Test(explain, every_chapter_has_a_page, .timeout = 180)
{
	static const struct {
		const char *program, *options, *views;
	} chapters[] = {
		{"01_naive/naive", "--seq 40 --dim 8", "This run|Memory traffic"},
		{"02_online_softmax/online_softmax", "--trace --values 1,-inf,3,6,2,1 --block 2",
	         "This run|Memory traffic|Online softmax"},
		{"03_tiled_matmul/tiled_matmul", "--m 33 --n 40 --k 17", "This run|Memory traffic"},
		{"04_fa1/fa1", "--heads 2 --seq 40 --dim 8 --causal", "This run|Memory traffic"},
		{"05_fa2/fa2", "--batch 2 --seq 40 --dim 8", "This run|Memory traffic"},
		{"06_backward/backward", "--seq 40 --dim 8", "This run|Memory traffic"},
	};
	for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; i++) {
		const char *page = text("%s/%zu.html", scratch_directory(), i);
		const char *program = text("%s/%s", TEST_ROOT, chapters[i].program);
		struct outcome o =
			run_in(scratch_directory(), program,
		               text("%s --repeat 1 --quiet --explain %s", chapters[i].options, page));
		cr_assert_eq(o.status, 0, "%s: %s", program, o.err);
		cr_expect_str_empty(o.err, "%s: %s", program, o.err);
		free_outcome(&o);
		cJSON *results =
			browse("--size 375x800", page,
		               LIST("eval:[...document.querySelectorAll('[role=tab]')].map((tab) => "
		                    "tab.textContent).join('|')",
		                    "eval:document.querySelectorAll('[data-wrong=true], [data-equal=false]').length",
		                    "eval:document.querySelectorAll('[data-wrong=false]').length",
		                    "eval:document.documentElement.scrollWidth", "hash:view=traffic", "key:End",
		                    "eval:document.querySelector('.race .count .done') !== null",
		                    "eval:[...document.querySelectorAll('.race .row')].every((row, i) => { const r = "
		                    "tracedKernels()[i].result.hbm.requested; return Number(row.dataset.read) === "
		                    "r.read_bytes && "
		                    "Number(row.dataset.written) === r.write_bytes + r.atomic_bytes; })",
		                    "eval:document.documentElement.scrollWidth"));
		cr_expect_str_eq(result_string(results, 0), chapters[i].views);
		cr_expect_eq(result_number(results, 1), 0, "%s: something is marked wrong", program);
		cr_expect_gt(result_number(results, 2), 0, "%s: no tile is shown", program);
		cr_expect(result_number(results, 3) <= 375, "%s: %g wide", program, result_number(results, 3));
		cr_expect(cJSON_IsTrue(cJSON_GetArrayItem(results, 4)), "%s never ends", program);
		cr_expect(cJSON_IsTrue(cJSON_GetArrayItem(results, 5)), "%s: not the bytes it counted", program);
		cr_expect(
			result_number(results, 6) <= 375, "%s: traffic is %g wide", program,
			result_number(results, 6));
		cJSON_Delete(results);
	}
}

enum { HEADS = 2, ROWS = 100, COLUMNS = 40, TILE_ROWS = 32, TILE_COLUMNS = 16 };
enum { DOWN = (ROWS + TILE_ROWS - 1) / TILE_ROWS, ACROSS = (COLUMNS + TILE_COLUMNS - 1) / TILE_COLUMNS };

/* The numbers of a saved .npy of [1, HEADS, ROWS, COLUMNS]. */
static float *saved(const char *directory)
{
	static const size_t count = (size_t)HEADS * ROWS * COLUMNS;
	char *path = text("%s/o.npy", directory);
	FILE *file = fopen(path, "rb");
	cr_assert(file, "%s is not there", path);
	float *values = malloc(count * sizeof *values);
	cr_assert(fseek(file, -(long)(count * sizeof *values), SEEK_END) == 0);
	cr_assert(values && fread(values, sizeof *values, count, file) == count);
	fclose(file);
	return values;
}

Test(explain, marks_the_first_wrong_tile, .timeout = 120)
{
	const char *directory = scratch_directory(), *page = text("%s/wrong.html", directory);
	const char *problem =
		"--kernel fa2_row --heads 2 --seq 100 --dim 40 --causal --tile-q 32 --tile-k 16 --repeat 1 --quiet";
	struct outcome o = run_in(directory, FA2, text("%s --save %s/right", problem, directory));
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	o = run_in(
		directory, BROKEN("short_tiles"),
		text("%s --save %s/wrong --json %s/wrong.json --explain %s", problem, directory, directory, page));
	cr_assert_eq(o.status, 1, "%s", o.err);
	free_outcome(&o);

	float *right = saved(text("%s/right", directory)), *wrong = saved(text("%s/wrong", directory));
	int first_tile = -1, first = -1;
	bool is_wrong[HEADS * DOWN * ACROSS] = {false};
	for (int i = 0; i < HEADS * ROWS * COLUMNS; i++) {
		int head = i / COLUMNS / ROWS, row = i / COLUMNS % ROWS, column = i % COLUMNS;
		int tile = (head * DOWN + row / TILE_ROWS) * ACROSS + column / TILE_COLUMNS;
		if (fabsf(right[i] - wrong[i]) <= 1e-4f)
			continue;
		is_wrong[tile] = true;
		if (first < 0)
			first = i, first_tile = tile;
	}
	cr_assert_geq(first, 0, "the fault shows nowhere");

#define OUTPUT "document.querySelector('[data-kernel=fa2_row] [data-output=O]')"
	cJSON *results = browse(
		"", page,
		LIST("eval:Number(" OUTPUT ".querySelector('[data-first]').dataset.tile)",
	             "eval:[..." OUTPUT ".querySelectorAll('[data-tile]')].map((t) => t.dataset.wrong === 'true')",
	             "eval:" OUTPUT ".innerText", "eval:document.querySelectorAll('.ring').length",
	             "eval:document.querySelectorAll('[data-equal=false]').length",
	             "eval:document.querySelector('.badge').textContent",
	             "eval:" OUTPUT ".querySelector('[data-tile]').focus()", "key:ArrowDown",
	             "eval:" OUTPUT ".querySelector('[aria-live]').textContent"));
	cr_expect_eq(
		result_number(results, 0), first_tile, "tile %g is marked, %d is the first wrong one",
		result_number(results, 0), first_tile);
	const cJSON *tiles = cJSON_GetArrayItem(results, 1);
	cr_assert_eq(cJSON_GetArraySize(tiles), HEADS * DOWN * ACROSS);
	for (int t = 0; t < HEADS * DOWN * ACROSS; t++)
		cr_expect_eq(cJSON_IsTrue(cJSON_GetArrayItem(tiles, t)), is_wrong[t], "tile %d", t);
	char *at = text("O[0, %d, %d, %d] is ", first / COLUMNS / ROWS, first / COLUMNS % ROWS, first % COLUMNS);
	const char *told = strstr(result_string(results, 2), at);
	cr_assert(told, "'%s' lacks '%s'", result_string(results, 2), at);
	const char *number = told + strlen(at);
	bool negative = strncmp(number, "\u2212", 3) == 0;
	double shown = strtod(number + (negative ? 3 : 0), NULL);
	cr_expect_float_eq(negative ? -shown : shown, (double)wrong[first], 1e-5);
	cr_expect_gt(result_number(results, 3), 0, "no ring");
	cr_expect_gt(result_number(results, 4), 0, "the counts are not their closed form, and it is not said");
	cr_expect(strstr(result_string(results, 5), "FAILED"));
	cr_expect(strstr(result_string(results, 7), "rows 32"), "%s", result_string(results, 7));
	cJSON_Delete(results);
	free(right), free(wrong);
}

Test(explain, marks_what_is_not_a_number, .timeout = 120)
{
	const char *page = text("%s/nan.html", scratch_directory());
	struct outcome o =
		run_in(scratch_directory(), BROKEN("nan_tail"),
	               text("--kernel fa2_row --heads 1 --seq 64 --dim 32 --repeat 1 --quiet --explain %s", page));
	cr_assert_eq(o.status, 1, "%s", o.err);
	free_outcome(&o);
	cJSON *results =
		browse("", page,
	               LIST("eval:document.querySelector('[data-output=O]').innerText",
	                    "eval:[...document.querySelectorAll('[data-output=O] "
	                    "[data-wrong=true]')].map((t) => t.dataset.tile).join()"));
	cr_expect(strstr(result_string(results, 0), "O[0, 0, 40, 20] is NaN"), "%s", result_string(results, 0));
	cr_expect_str_eq(result_string(results, 1), "5", "tiles %s", result_string(results, 1));
	cJSON_Delete(results);
}

Test(explain, lists_hazards_with_their_lines, .timeout = 120)
{
	const char *page = text("%s/race.html", scratch_directory());
	struct outcome o =
		run_in(scratch_directory(), BROKEN("no_barrier"),
	               text("--kernel fa2_row --seq 100 --repeat 1 --quiet --explain %s", page));
	cr_assert_eq(o.status, 1, "%s", o.err);
	cr_expect(strstr(o.err, "Race reported"), "the terminal does not say it: %s", o.err);
	free_outcome(&o);
	cJSON *results =
		browse("--size 375x800 --dark", page,
	               LIST("eval:document.querySelectorAll('[data-tool=racecheck]').length",
	                    "eval:document.querySelector('.hazards pre').textContent",
	                    "eval:document.documentElement.scrollWidth"));
	cr_expect_gt(result_number(results, 0), 0, "no hazard");
	cr_expect(strstr(result_string(results, 1), "row.cuh:"), "%s", result_string(results, 1));
	cr_expect(strchr(result_string(results, 1), '['), "the line is not shown: %s", result_string(results, 1));
	cr_expect(result_number(results, 2) <= 375, "%g wide", result_number(results, 2));
	cJSON_Delete(results);
}

/* The template is inside the program; only lines of source need the source beside it. */
Test(explain, a_program_that_was_moved_still_explains, .timeout = 120)
{
	const char *directory = scratch_directory();
	struct outcome o = run_program(LIST("cp", FA2, text("%s/moved", directory)), NOTHING, 20);
	cr_assert_eq(o.status, 0);
	free_outcome(&o);
	o = run_in(directory, text("%s/moved", directory), "--seq 16 --dim 8 --quiet --explain moved.html");
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	cJSON *results =
		browse("", text("%s/moved.html#view=traffic&s=3", directory),
	               LIST("eval:document.querySelectorAll('.stage .head').length"));
	cr_expect_eq(result_number(results, 0), 2);
	cJSON_Delete(results);
}

Test(explain, a_trace_too_long_is_left_out_with_a_sentence, .timeout = 120)
{
	const char *page = text("%s/long.html", scratch_directory());
	struct outcome o = run_program(
		LIST(TEST_ROOT "/06_backward/backward", "--seq", "160", "--repeat", "1", "--quiet", "--explain",
	             page),
		LIST("SIM_TRACE_LIMIT=1"), 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	cJSON *data = data_of(page), *run = cJSON_GetArrayItem(json_get(data, "runs"), 0);
	cr_expect_null(cJSON_GetObjectItem(run, "trace"));
	cr_expect(strstr(json_string_of(run, "no_trace"), "./backward --"), "%s", json_string_of(run, "no_trace"));
	cJSON_Delete(data);
	cJSON *results = browse("", page, LIST("eval:document.getElementById('checks').innerText"));
	cr_expect(strstr(result_string(results, 0), "No picture of the memory traffic"));
	cJSON_Delete(results);
}

static char *no_traffic_of(const char *page)
{
	cJSON *results = browse("", page, LIST("eval:document.getElementById('checks').innerText"));
	const char *found = strstr(result_string(results, 0), "No picture of the memory traffic");
	char *sentence = text("%s", found ? found : "nothing");
	cJSON_Delete(results);
	return sentence;
}

Test(explain, a_missing_trace_has_its_own_reason, .timeout = 120)
{
	const char *page = text("%s/elsewhere.html", scratch_directory());
	struct outcome o =
		run_program(LIST(FA2, "--seq", "8", "--quiet", "--explain", page), LIST("SIM_TRACE=/dev/null"), 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	char *says = no_traffic_of(page);
	cr_expect(strstr(says, "SIM_TRACE") && !strstr(says, "too large"), "%s", says);

	page = text("%s/beyond.html", scratch_directory());
	o =
		run_in(scratch_directory(), BROKEN("beyond"),
	               text("--kernel fa2_row --seq 40 --repeat 1 --quiet --explain %s", page));
	cr_assert_eq(o.status, 1, "%s", o.err);
	free_outcome(&o);
	says = no_traffic_of(page);
	cr_expect(strstr(says, "No launch came to its end"), "%s", says);
}

/* The page of a row of chapter 02. */
static const char *page_of_row(const char *options)
{
	const char *page = text("%s/row.html", scratch_directory());
	struct outcome o =
		run_in(scratch_directory(), TEST_ROOT "/02_online_softmax/online_softmax",
	               text("--trace %s --quiet --explain %s", options, page));
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	return page;
}

/* Nine digits of 3e38 are not the fp32 number: a difference of one rounding would be e to a huge power. */
Test(explain, softmax_steps_are_fp32, .timeout = 120)
{
	const char *page = page_of_row("--values 3e38,-3e38,1 --block 1");
	cJSON *results =
		browse("", text("%s#view=softmax&s=3", page),
	               LIST("eval:document.querySelector('[data-name=total]').textContent",
	                    "eval:document.querySelector('.equations').innerText"));
	cr_expect_str_eq(result_string(results, 0), "1");
	cr_expect(strstr(result_string(results, 1), "stays 3.00e38"), "%s", result_string(results, 1));
	cJSON_Delete(results);
}

Test(explain, a_row_too_long_is_left_out_with_a_sentence, .timeout = 120)
{
	const char *page = page_of_row("--rows 1 --cols 4097 --repeat 1");
	cJSON *data = data_of(page), *run = cJSON_GetArrayItem(json_get(data, "runs"), 0);
	cr_expect_null(cJSON_GetObjectItem(json_get(run, "result"), "x"));
	cJSON_Delete(data);
	cJSON *results =
		browse("", text("%s#view=softmax", page), LIST("eval:document.getElementById('checks').innerText"));
	cr_expect(strstr(result_string(results, 0), "4097 values is too long"), "%s", result_string(results, 0));
	cJSON_Delete(results);
}

/* Ended by another process, not by Ctrl-C: the child and its files go too. */
Test(explain, nothing_outlives_a_run_that_is_ended, .timeout = 120)
{
	static const char script[] =
		"\"$1\" --seq 32768 --quiet --explain page.html 2>said & parent=$!\n"
		"child=; until [ -n \"$child\" ]; do sleep 0.1\n"
		"child=$(grep -ls \"^PPid:[[:space:]]*$parent$\" /proc/[0-9]*/status | cut -d/ -f3); done\n"
		"kill -TERM $parent; wait $parent; echo status $?\n"
		"kill -0 $child 2>/dev/null && echo the child lives && kill -KILL $child; ls \"$TMPDIR\"; cat said";
	const char *directory = scratch_directory();
	const char *rest = text("%s/tmp", directory);
	cr_assert_eq(mkdir(rest, 0700), 0);
	struct outcome o =
		run_program_in(directory, LIST("sh", "-c", script, "sh", FA2), LIST(text("TMPDIR=%s", rest)), 60);
	cr_expect_str_eq(o.out, "status 3\nfa2: --explain: the recorded run was ended by signal 15\n");
	free_outcome(&o);
}
