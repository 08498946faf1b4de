/*
 * Plain CUDA programs, as somebody else would write them: each checks its own numbers, and its source says what the
 * simulated device must count for each launch (support/expect.h).
 */
#include <string.h>

#include <criterion/criterion.h>

#include "expect.h"
#include "program.h"
#include "suite.h"

static void check_program(const char *name, const char *build)
{
	struct expectations expectations = read_expectations(text("%s/tests/sim/programs/%s", TEST_ROOT, name));
	char *path = text("%s/%s.json", scratch_directory(), name);
	struct outcome run = run_program(LIST(text("%s/programs/%s", build, name)),
	                                 LIST(text("SIM_REPORT=%s", path), "SIM_THREADS=2"), 30);
	struct report report;

	cr_expect(run.status == 0, "%s: exit status %d: %s", name, run.status, run.err);
	cr_expect_str_empty(run.err, "%s: not silent: %s", name, run.err);
	cr_expect(strcmp(run.out, expectations.output ? expectations.output : "") == 0, "%s printed: %s", name,
	          run.out);
	report = read_report(path);
	expect_launches(name, &expectations, &report);
	cr_expect(report.hazard_count == 0, "%s: a hazard record", name);
	free_report(&report);
	free_outcome(&run);
}

Test(programs, right_numbers_right_counts_silence)
{
	char **names = list_programs("programs");

	for (size_t i = 0; names[i] != NULL; i++)
		check_program(names[i], TEST_BUILD);
}

/* The optimised build computes the same and prints the same; it counts nothing. */
Test(programs, fast_builds_compute_the_same)
{
	char **names = list_programs("programs");

	for (size_t i = 0; names[i] != NULL; i++) {
		struct expectations expectations =
			read_expectations(text("%s/tests/sim/programs/%s", TEST_ROOT, names[i]));
		char *path = text("%s/%s.json", scratch_directory(), names[i]);
		struct outcome run;
		struct report report;

		if (expectations.not_fast != NULL)
			continue;
		run = run_program(LIST(text("%s/programs/%s.fast", TEST_BUILD, names[i])),
		                  LIST(text("SIM_REPORT=%s", path)), 30);
		report = read_report(path);

		cr_expect(run.status == 0, "%s.fast: exit status %d: %s", names[i], run.status, run.err);
		cr_expect_str_empty(run.err, "%s.fast: not silent: %s", names[i], run.err);
		cr_expect(strcmp(run.out, expectations.output ? expectations.output : "") == 0, "%s.fast printed: %s",
		          names[i], run.out);
		cr_expect(report.launch_count == expectations.launch_count, "%s.fast: %zu launches, expected %zu",
		          names[i], report.launch_count, expectations.launch_count);
		for (size_t l = 0; l < report.launch_count; l++)
			cr_expect(!report.launches[l].counted, "%s.fast: counts from a build that does not count",
			          names[i]);
		free_report(&report);
		free_outcome(&run);
	}
}

/* SIM_TIMEOUT is of a kernel's own CPU time: on a machine that stalls, a correct kernel stays correct. */
Test(programs, a_pause_is_no_endless_loop)
{
	struct outcome run =
		run_program(LIST("sh", "-c",
	                         TEST_BUILD "/programs/busy & child=$!; sleep 0.15; kill -STOP $child; sleep 1; "
	                                    "kill -CONT $child; wait $child"),
	                    LIST("SIM_TIMEOUT=0.5"), 30);

	cr_expect(run.status == 0, "exit status %d: %s", run.status, run.err);
	free_outcome(&run);
}

/* Whatever a program's source expects is read, and a wrong count is found: the tests above can fail. */
Test(programs, expectations_can_fail)
{
	struct expectations expectations = read_expectations(text("%s/tests/sim/programs/launches", TEST_ROOT));

	cr_assert(expectations.launch_count > 10);
	cr_assert_str_eq(expectations.launches[0],
	                 "add load=160/2/5 store=160/2/5 foot=160/160 grid=2,1,1 block=32,1,1");
	cr_assert(evaluate("2*3+4") == 10 && evaluate("5-2*2+1") == 2);
}
