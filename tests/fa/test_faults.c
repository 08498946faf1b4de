/*
 * Planted faults (faults_fa1.edits, faults_fa2.edits): one change to a chapter's sources each, and its program has to
 * fail with it. What passes here with a fault inside would pass in a classroom. The same options must pass without the
 * fault.
 *
 * They run with SIM_ORDER=reverse: without racecheck a race is seen only where it changes a result.
 */
#include "chapter_run.h"
#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of faults_fa1.tsv or faults_fa2.tsv. */
struct fault {
	char right[240], wrong[240]; /* programs */
	char name[80], options[120];
	char says[48]; /* in what it prints on stderr or stdout */
};

enum { MOST_FAULTS = 64 };

static size_t read_faults(const char *file, const char *right, struct fault *faults, size_t room)
{
	char *lines = read_text(text(TEST_BUILD "/fa/%s.tsv", file));
	size_t count = 0;
	cr_assert_not_null(lines, "%s.tsv", file);
	for (char *line; count < room && (line = strsep(&lines, "\n")) && *line; count++) {
		const char *name = strsep(&line, "\t"), *options = strsep(&line, "\t");
		struct fault *fault = &faults[count];
		snprintf(fault->right, sizeof fault->right, "%s", right);
		snprintf(fault->wrong, sizeof fault->wrong, TEST_BUILD "/fa/%s/%s/program", file, name);
		snprintf(fault->name, sizeof fault->name, "%s", name);
		snprintf(fault->options, sizeof fault->options, "%s", options);
		snprintf(fault->says, sizeof fault->says, "%s", line);
	}
	return count;
}

/* Whether an earlier fault has the same right twin and options: these are run once. */
static bool came_before(const struct fault *faults, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(faults[i].right, faults[at].right) == 0 &&
		    strcmp(faults[i].options, faults[at].options) == 0)
			return true;
	return false;
}

static void expect_caught(const struct fault *fault)
{
	struct chapter_run run = run_chapter(fault->wrong, "SIM_ORDER=reverse", fault->options);
	cr_expect_eq(
		run.status, 1, "'%s' passes with %s: exit %d, %s", fault->name, fault->options, run.status, run.err);
	char *printed = run.json ? cJSON_PrintUnformatted(run.json) : strdup("");
	cr_expect(
		strstr(run.err, fault->says) || strstr(printed, fault->says), "'%s' fails, but not with '%s': %s",
		fault->name, fault->says, run.err);
	free(printed);
	cr_expect(
		cJSON_IsFalse(json_get(json_get(run.json, "kernels")->child, "verified")), "%s is verified in JSON",
		fault->name);
	free_chapter_run(&run);
}

static void expect_all_caught(const char *file, const char *right, size_t planted)
{
	static struct fault faults[MOST_FAULTS];
	size_t count = read_faults(file, right, faults, MOST_FAULTS);
	cr_assert_eq(count, planted, "%s: %zu faults", file, count);
	for (size_t i = 0; i < count; i++) {
		if (!came_before(faults, i)) {
			struct chapter_run run = run_verified(right, faults[i].options);
			free_chapter_run(&run);
		}
		expect_caught(&faults[i]);
	}
}

Test(faults, each_is_caught_in_chapter_04, .timeout = 180)
{
	expect_all_caught("faults_fa1", FA1, 14);
}

Test(faults, each_is_caught_in_chapter_05, .timeout = 180)
{
	expect_all_caught("faults_fa2", FA2, 27);
}

/* `make`, of two that its demonstration cannot show: that has full tiles, one sequence and no mask. */
Test(faults, make_shows_what_full_tiles_hide, .timeout = 180)
{
	static const char *const hidden[] = {"fa2_row_ragged_tile_not_masked", "fa2_row_one_tile_too_few"};
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
		const char *program =
			text("../%s/fa/faults_fa2/%s/program", TEST_BUILD + sizeof TEST_ROOT, hidden[i]);
		struct outcome o = run_program(
			LIST("make", "-s", "-o", "build", "-C", TEST_ROOT "/05_fa2", "DEVICE=sim",
		             text("NAME=%s", program)),
			NOTHING, 60);
		cr_expect_eq(o.status, 2, "make passes with '%s'", hidden[i]);
		cr_expect(strstr(o.out, "\nA ragged shape, ./"), "'%s': %s%s", hidden[i], o.out, o.err);
		free_outcome(&o);
	}
}

/* A printf in a kernel is a beginner's first tool. It is no part of the data, whoever reads that: a program with
 * --json - or --tsv -, the run that takes the times. */
Test(faults, what_a_kernel_prints_is_no_fault, .timeout = 180)
{
	only_when_thorough(); /* then its plain build is there, too */
	const char *program = TEST_BUILD "/fa/prints/fa1_paper/program";
	const char *options = "--kernel fa1_paper --seq 2 --dim 2 --heads 1 --time --repeat 1";
	struct chapter_run run = run_chapter(program, NULL, options);
	cr_expect_eq(run.status, 0, "%s", run.err);
	cr_assert_not_null(run.json, "what --json - wrote is no JSON");
	const cJSON *kernel = kernel_named(&run, "fa1_paper");
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(kernel, "verified")));
	cr_expect(number_at(kernel, "time/median_ms") > 0, "the plain build was not timed");
	cr_expect(strstr(run.err, "seen 0\nseen 1\n"), "%s", run.err);
	cr_expect_null(strstr(run.err, "did not verify"), "%s", run.err);
	free_chapter_run(&run);

	char *command = text("%s %s --tsv - 2>/dev/null", program, options);
	struct outcome o = run_program(LIST("/bin/sh", "-c", command), NOTHING, 60);
	cr_expect_eq(o.status, 0);
	cr_expect_null(strstr(o.out, "seen"), "%s", o.out);
	free_outcome(&o);
	o = run_program(LIST("/bin/sh", "-c", text("%s %s --quiet", program, options)), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "seen 0\nseen 1\n") && strstr(o.out, "verified"), "%s", o.out);
	free_outcome(&o);
}

/* What a failed run proposes next fails as well: the kernel and the mask are those that were wrong. */
Test(faults, the_small_case_proposed_shows_the_fault, .timeout = 180)
{
	const char *program = TEST_BUILD "/fa/faults_fa1/paper_causal_off_by_one/program";
	const char *options = "--kernel fa1_paper --seq 64 --causal";
	struct outcome o = run_program(LIST("/bin/sh", "-c", text("%s %s", program, options)), NOTHING, 60);
	const char *next = strstr(o.out, "Next: a case small enough to follow by hand:\n  ./fa1 ");
	cr_expect_eq(o.status, 1);
	cr_assert_not_null(next, "%s", o.out);
	next = strstr(next, "./fa1 ") + 6;
	struct outcome again = run_program(
		LIST("/bin/sh", "-c", text("%s %.*s", program, (int)strcspn(next, "\n"), next)), NOTHING, 60);
	cr_expect_eq(again.status, 1, "%s%s", again.out, again.err);
	/* Which was that case, and is not proposed again. */
	cr_expect(strstr(again.out, "Next: what it moved, the same with --verbose\n"), "%s", again.out);
	/* A command line is as long as it is. */
	for (char *line = strtok(again.out, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect(strncmp(line, "  ./", 4) == 0 || strlen(line) <= 80, "%s", line);
	free_outcome(&again);
	free_outcome(&o);
}
