/*
 * Planted faults (tests/online_softmax/faults.edits). Each is run on an input that shows it: its output differs from that
 * of the right kernel, and the program calls it wrong. Exit 0 for any of them is a checker that does not check.
 */
#include "faults.h"
#include "program.h"

#include <criterion/criterion.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/chapters/online_softmax"
#define FAULTS  TEST_BUILD "/online_softmax/faults"

#define RANDOM   "--rows 3 --cols 257 --block 100 --dim 8"
#define NEGATIVE RANDOM " --input very-negative"
#define LARGE    RANDOM " --input large-logits"

static const struct fault_case cases[] = {
	{"correction_missing", "softmax_dot", RANDOM},
	{"correction_missing", "softmax_dot", LARGE},
	{"l_not_rescaled", "softmax_online", RANDOM},
	{"l_not_rescaled", "softmax_dot", RANDOM " --input ramp"},
	{"m_starts_at_zero", "softmax_online", NEGATIVE},
	{"m_starts_at_zero", "softmax_dot", NEGATIVE},
	{"block_max", "softmax_dot", RANDOM},
	{"no_maximum", "softmax_three_pass", LARGE},
	{"no_maximum", "softmax_online", NEGATIVE},
	{"no_maximum", "softmax_dot", RANDOM " --input one-hot"},
	{"empty_is_nan", "softmax_online", "--values=-inf,-inf,1,2 --block 2"},
	{"empty_is_nan", "softmax_dot", "--values=-inf,-inf,1,2 --block 2"},
	{"empty_row_divides", "softmax_online", "--values=-inf,-inf,-inf"},
	{"empty_row_divides", "softmax_dot", "--values=-inf,-inf,-inf"},
	{"dropped_tail", "softmax_online", RANDOM},
	{"dropped_tail", "softmax_dot", RANDOM},
	{"dropped_tail", "softmax_dot", RANDOM " --input constant"},
	{"last_column_unseen", "softmax_online", RANDOM},
	{"last_column_unseen", "softmax_dot", RANDOM " --input ramp"},
	{"lanes_not_merged", "softmax_online", RANDOM},
	{"last_warp_not_merged", "softmax_online", RANDOM},
	{"last_warp_not_merged", "softmax_dot", RANDOM},
	{"no_barrier_before_merging", "softmax_online", RANDOM},
	{"no_barrier_after_merging", "softmax_online", RANDOM},
	{"no_barrier_before_summing", "softmax_dot", RANDOM},
	{"no_barrier_between_blocks", "softmax_dot", RANDOM},
	{"last_row_unwritten", "softmax_dot", RANDOM},
};

enum { CASES = sizeof cases / sizeof cases[0] };

Test(faults, every_one_changes_the_output_and_is_found)
{
	expect_faults_found(PROGRAM, FAULTS, "y.npy", cases, CASES);
}

/* The trace is that of the kernels as they are: a wrong run shows where it goes wrong. */
Test(faults, a_wrong_run_has_a_trace)
{
	struct outcome o = run_program(
		LIST(FAULTS "/m_starts_at_zero/program", "--trace", "--values=-300,-200", "--block", "1"), NOTHING,
		60);
	cr_expect_eq(o.status, 1, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "Row 0 in blocks of 1") && strstr(o.out, "FAILED"), "%s", o.out);
	free_outcome(&o);
}

/* The sign that a NaN has on some machines is not printed. */
Test(faults, a_trace_of_nan_says_nan)
{
	struct outcome o = run_program(
		LIST(FAULTS "/empty_is_nan/program", "--trace", "--values=-inf,-inf,1,2,3,4,5,6", "--block", "2"),
		NOTHING, 60);
	cr_expect_eq(o.status, 1, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, " nan") && !strstr(o.out, "-nan") && !strstr(o.err, "-nan"), "%s%s", o.out, o.err);
	free_outcome(&o);
}

Test(faults, no_natural_mistake_survives)
{
	only_when_thorough();
	static const struct mistake_case found_by[] = {
		{RANDOM, NULL},
		{"--values=-20000,-20001,-30000,-20002 --block 2", NULL}, /* below what stood for minus infinity */
	};
	expect_mistakes_found(TEST_BUILD "/online_softmax/mistakes", found_by, 2, 4);
}

Test(faults, none_is_left_out)
{
	expect_faults_used(FAULTS, cases, CASES, 16);
}
