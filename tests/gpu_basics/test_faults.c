/*
 * Planted faults (tests/gpu_basics/faults.edits). Each is run on a shape that shows it: its output differs from that of the
 * right kernel, and the program calls it wrong.
 */
#include "faults.h"
#include "program.h"

#include <criterion/criterion.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/chapters/gpu"
#define FAULTS  TEST_BUILD "/gpu_basics/faults"

#define RAGGED "--rows 65 --cols 70"
#define LONG   "--rows 33 --cols 301"

static const struct fault_case cases[] = {
	{"wrong_lane", "who_am_i", "--rows 1 --cols 33"},
	{"wrong_lane", "who_am_i", RAGGED},
	{"warp_of_the_grid", "who_am_i", RAGGED},
	{"block_of_the_thread", "who_am_i", RAGGED},
	{"last_element_unwritten", "copy", RAGGED},
	{"last_element_unwritten", "copy_strided", RAGGED " --input constant"},
	{"last_element_unwritten", "copy_float4", RAGGED},
	{"tail_dropped", "copy_float4", "--rows 1 --cols 3"},
	{"tail_dropped", "copy_float4", RAGGED},
	{"rows_for_columns", "copy_strided", RAGGED},
	{"no_barrier", "transpose", RAGGED},
	{"no_barrier", "transpose_padded", RAGGED},
	{"tile_not_turned", "transpose", RAGGED},
	{"tile_not_turned", "transpose_padded", RAGGED " --input one-hot"},
	{"last_column_not_read", "transpose", RAGGED},
	{"last_column_not_read", "transpose_padded", RAGGED},
	{"last_element_not_added", "sum", LONG},
	{"last_element_not_added", "sum_shuffle", LONG " --input constant"},
	{"half_of_the_tree", "sum", LONG},
	{"last_level_missing", "sum", LONG},
	{"last_level_missing", "sum_shuffle", LONG},
	{"shuffle_upwards", "sum_shuffle", LONG},
	{"last_warp_missing", "sum_shuffle", LONG},
	{"row_of_the_thread", "sum", LONG},
};

enum { CASES = sizeof cases / sizeof cases[0], PLACES = 4, BLOCKS = 1, WARPS = 1, LANES = 2 };

/* The outputs of who_am_i have files of their own. */
Test(faults, every_one_changes_the_output_and_is_found)
{
	expect_faults_found(PROGRAM, FAULTS, "lane.npy", cases, LANES);
	expect_faults_found(PROGRAM, FAULTS, "warp.npy", cases + LANES, WARPS);
	expect_faults_found(PROGRAM, FAULTS, "block.npy", cases + LANES + WARPS, BLOCKS);
	expect_faults_found(PROGRAM, FAULTS, "y.npy", cases + PLACES, CASES - PLACES);
}

/* A sweep goes on after a wrong kernel, and its exit status tells. */
Test(faults, a_sweep_with_a_wrong_kernel_fails)
{
	struct outcome o = run_line(
		FAULTS "/last_element_unwritten/program", "--sweep --kernel copy", LIST("SIM_CHECK=none"), 60);
	cr_expect_eq(o.status, 1, "exit %d: %s", o.status, o.err);
	cr_expect(strstr(o.out, "\tcopy\tno\t"), "%s", o.out);
	free_outcome(&o);
}

Test(faults, no_natural_mistake_survives)
{
	only_when_thorough();
	static const struct mistake_case found_by[] = {{RAGGED, NULL}, {"--rows 3 --cols 17", NULL}};
	expect_mistakes_found(TEST_BUILD "/gpu_basics/mistakes", found_by, 2, 15);
}

Test(faults, none_is_left_out)
{
	expect_faults_used(FAULTS, cases, CASES, 15);
}
