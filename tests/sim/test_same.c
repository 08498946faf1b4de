/*
 * A count is that of the source: the report of a program is the same to the byte whoever compiled it, at any -O,
 * on any number of CPU threads and in whatever order threads and blocks are run.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "expect.h"
#include "program.h"
#include "suite.h"

static struct expectations expectations_of(const char *name)
{
	return read_expectations(text("%s/tests/sim/programs/%s", TEST_ROOT, name));
}

static char *report_of(const char *program, const char *threads, const char *order)
{
	char *path = text("%s/report.json", scratch_directory());
	struct outcome run = run_program(
		LIST(program),
		LIST(text("SIM_REPORT=%s", path), text("SIM_THREADS=%s", threads), text("SIM_ORDER=%s", order)), 30);
	char *report = read_text(path);

	cr_expect(run.status == 0, "%s, SIM_THREADS=%s SIM_ORDER=%s: %s", program, threads, order, run.err);
	cr_expect_str_empty(run.err, "%s, SIM_THREADS=%s SIM_ORDER=%s: %s", program, threads, order, run.err);
	free_outcome(&run);
	cr_assert(report != NULL, "%s wrote no report", program);
	return report;
}

/* Says in which launch two reports differ, and shows the place. */
static void expect_same(const char *name, const char *how, const char *report, const char *other)
{
	size_t same = 0, launch = 0, shown;

	if (strcmp(report, other) == 0)
		return;
	for (; report[same] == other[same]; same++)
		launch += report[same] == '\n';
	shown = same < 60 ? same : 60;
	cr_expect(0, "%s differs %s, in launch %zu:\n... %.100s\n... %.100s", name, how, launch,
	          report + same - shown, other + same - shown);
}

Test(same, whatever_the_order_and_the_threads)
{
	static const char *const ways[][2] = {
		{"2", "forward"}, {"1", "reverse"}, {"2", "reverse"}, {"1", "shuffle:1"}, {"2", "shuffle:7"}};
	char **names = list_programs("programs");
	size_t compared = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		const char *program = text("%s/programs/%s", TEST_BUILD, names[i]);
		char *first = report_of(program, "1", "forward");

		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
			char *other = report_of(program, ways[w][0], ways[w][1]); /* it must end well in any case */

			if (expectations_of(names[i]).depends_on_order == NULL)
				expect_same(names[i],
				            text("with SIM_THREADS=%s SIM_ORDER=%s", ways[w][0], ways[w][1]), first,
				            other);
		}
		compared += expectations_of(names[i]).depends_on_order == NULL;
	}
	cr_expect(compared >= 15, "only %zu programs were compared", compared);
}

Test(same, whatever_the_compiler)
{
	char **names = list_programs("programs");

	if (TEST_OTHER_BUILD[0] == '\0')
		skip_test("gcc and clang are not both installed: their counts were not compared");
	for (size_t i = 0; names[i] != NULL; i++) {
		char *ours = report_of(text("%s/programs/%s", TEST_BUILD, names[i]), "1", "forward");
		char *theirs = report_of(text("%s/programs/%s", TEST_OTHER_BUILD, names[i]), "1", "forward");

		expect_same(names[i], "between " TEST_CXX " and " TEST_OTHER_CXX, ours, theirs);
	}
}

/* The program that has what an optimiser would like to change, and one of shared memory and loops. */
Test(same, whatever_the_optimisation)
{
	static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3"}, *const names[] = {"source_counts",
	                                                                                    "softmax"};

	for (size_t n = 0; n < 2; n++) {
		char *source = text("%s/tests/sim/programs/%s.cu", TEST_ROOT, names[n]);
		char *first = report_of(text("%s/programs/%s", TEST_BUILD, names[n]), "1", "forward");

		for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
			char *program = text("%s/%s%s", scratch_directory(), names[n], levels[i]);
			struct outcome built =
				run_program(LIST(TEST_ROOT "/common/sim/simcc", levels[i], source, "-o", program),
			                    LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);

			cr_assert(built.status == 0, "%s: %s", levels[i], built.err);
			expect_same(names[n], text("at %s", levels[i]), first, report_of(program, "1", "forward"));
		}
	}
}
