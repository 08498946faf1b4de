/*
 * The grader's mutation score: submissions/wrong_*.edits and cheats.edits must each lose exactly what they name,
 * right.edits must keep everything. mutants.py plants, grades and compares.
 */
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define SUBMISSIONS TEST_ROOT "/tests/classroom/submissions/"

/* Of the submissions in submissions/NAME.edits, * for all files, those whose name is in `which`, a regular
 * expression. */
static void expect_full_score(const char *name, const char *which, int least)
{
	struct outcome o = run_program(
		LIST("sh", "-c",
	             text("exec python3 %s/tests/classroom/mutants.py %s/graded " SUBMISSIONS "%s.edits", TEST_ROOT,
	                  scratch_directory(), name)),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX, text("MUTANT=%s", which)), 390);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	const char *line = strstr(o.out, "table: mutation score ");
	int good = 0, all = 0;
	cr_assert_not_null(line, "%s", o.out);
	cr_assert_eq(sscanf(line, "table: mutation score %d of %d", &good, &all), 2);
	cr_assert_eq(good, all);
	cr_assert_geq(all, least, "only %d submissions in %s", all, name);
	printf("table: %s: %s", name, line + strlen("table: "));
	fflush(stdout);
	free_outcome(&o);
}

/* Wrong ones of four chapters, one of them a cheat: what make test has time for. */
Test(classroom_mutants, five_of_all)
{
	expect_full_score(
		"*", "^(?:a mask of -1e4|no barrier before fetching|nothing is skipped|writes over the counters)$",
		5);
}

Test(classroom_mutants, wrong_chapters_01_to_03)
{
	only_when_thorough();
	expect_full_score("wrong_01_02_03", "", 33);
}

Test(classroom_mutants, wrong_chapters_04_to_06)
{
	only_when_thorough();
	expect_full_score("wrong_04_05_06", "", 36);
}

Test(classroom_mutants, cheats)
{
	only_when_thorough();
	expect_full_score("cheats", "", 42);
}

Test(classroom_mutants, right_ones_keep_all_points)
{
	only_when_thorough();
	expect_full_score("right", "", 11);
}

/* An edit that does not apply, or changes nothing, must not pass for a mutant that was caught. */
Test(classroom_mutants, an_edit_that_does_not_apply_fails)
{
	char *edits = text("%s/bad.edits", scratch_directory());
	write_text(
		edits,
		"@ 01_naive text that is not there\nloses 01.score: all\n---\nno such text\n+++\nother\n\n"
		"@ 01_naive nothing changes\nloses 01.score: all\n---\nscale * dot\n+++\nscale * dot\n\n"
		"@ 06_backward a file that is not graded\nloses 06.ds: all\n---\nm = m_new;\n+++\nm = 0.0f;\n\n"
		"@ 01_naive a comment\nloses 01.score: all\n---\n#include \"naive.h\"\n+++\n"
		"#include \"naive.h\" // same\n");
	struct outcome o = run_program(
		LIST("python3", TEST_ROOT "/tests/classroom/mutants.py", text("%s/bad", scratch_directory()), edits),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 300);
	cr_assert_eq(o.status, 1, "%s%s", o.out, o.err);
	cr_assert_not_null(strstr(o.out, "mutation score 0 of 4"), "%s", o.out);
	cr_assert_not_null(strstr(o.out, "found 0 times"), "%s", o.out);
	cr_assert_not_null(strstr(o.out, "changes nothing"), "%s", o.out);
	cr_assert_not_null(strstr(o.out, "no file that is graded"), "%s", o.out);
	free_outcome(&o);
}
