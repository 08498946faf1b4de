/* What an untouched hand-out does: it builds without a warning, and fails where a task is open, nowhere else. */
#include "program.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Hard enough that no stub passes: ragged, more than one tile, masked. */
static const char *problem_of(const char *chapter)
{
	switch (chapter[1]) {
	case '2': return "--rows 3 --cols 300 --dim 20 --block 150";
	case '3': return "--m 70 --n 33 --k 65";
	default: return "--seq 150 --dim 24 --causal";
	}
}

static const char *list_of(const char *chapter)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	char *list = strdup("");
	for (size_t t = 0; t < count; t++)
		if (strcmp(tasks[t].chapter, chapter) == 0)
			list = text("%s,%s", list, tasks[t].kernels);
	return list;
}

static void expect_exactly(
	const char *program, const struct chapter_files *chapter, const char *failing, const char *what)
{
	for (size_t k = 0; chapter->kernels[k]; k++) {
		bool verified = verifies(program, chapter->kernels[k], problem_of(chapter->directory));
		bool fails = is_listed(failing, chapter->kernels[k]);
		cr_expect_neq(
			verified, fails, "%s: %s %s", what, chapter->kernels[k],
			verified ? "passes, and should not" : "fails, and should not");
	}
}

static void expect_stubs_fail(char *tree)
{
	for (int c = 0; c < CHAPTERS; c++) {
		char *program = build_chapter(tree, &chapters[c], "-O0 " TREE_STRICT);
		expect_exactly(program, &chapters[c], list_of(chapters[c].directory), chapters[c].directory);
	}
}

Test(stubs, of_the_course_fail_and_nothing_else, .timeout = 200)
{
	expect_stubs_fail(hand_out("plain", NULL));
}

Test(stubs, of_a_capped_class_fail_and_nothing_else, .timeout = 200)
{
	only_when_thorough();
	expect_stubs_fail(hand_out("caps", CLASS_OF_CAPS));
}

Test(stubs, of_a_windowed_class_fail_and_nothing_else, .timeout = 200)
{
	only_when_thorough();
	expect_stubs_fail(hand_out("windows", CLASS_OF_WINDOWS));
}

/* tasks.tsv says which kernels need a task: with that one open and all others done, exactly these fail. */
Test(stubs, each_task_alone_fails_its_kernels, .timeout = 300)
{
	only_when_thorough();
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	for (size_t t = 0; t < count; t++) {
		char *tree = hand_out(text("task-%zu", t), NULL);
		const struct chapter_files *chapter = chapter_named(tasks[t].chapter);
		solve(tree, tasks[t].id);
		expect_exactly(build_chapter(tree, chapter, "-O0 -w"), chapter, tasks[t].kernels, tasks[t].id);
	}
}

/* 05.skip is right without a mask, and over its budget with one: the count says so, not the numbers. */
Test(stubs, nothing_skipped_is_over_budget, .timeout = 60)
{
	char *tree = hand_out("budget", NULL);
	solve(tree, "05.skip");
	char *program = build_chapter(tree, chapter_named("05_fa2"), "-O1 -w");
	cr_expect(verifies(program, "fa2_row", "--seq 150 --dim 24"));
	struct outcome o = run_program(
		LIST(program, "--seq", "300", "--dim", "24", "--causal", "--kernel", "fa2_row", "--repeat", "1",
	             "--quiet"),
		NOTHING, 60);
	cr_expect_eq(o.status, 1);
	cr_expect(strstr(o.out, "is not its closed form"), "%s%s", o.out, o.err);
	cr_expect_null(strstr(o.err, "is wrong"), "%s", o.err);
}
