/*
 * Planted faults (tests/tiled_matmul/faults.edits). Each is run on a shape that shows it: its C differs from that of the
 * right kernel, and the program calls it wrong.
 */
#include "faults.h"
#include "program.h"

#include <criterion/criterion.h>

#define PROGRAM TEST_BUILD "/chapters/tiled_matmul"
#define FAULTS  TEST_BUILD "/tiled_matmul/faults"

#define RAGGED "--m 65 --n 70 --k 97"

static const struct fault_case cases[] = {
	{"dropped_tail", "matmul_tiled", RAGGED},
	{"dropped_tail", "matmul_padded", RAGGED " --input constant"},
	{"dropped_tail", "matmul_registers", RAGGED},
	{"dropped_tail", "matmul_registers", "--m 40 --n 40 --k 2001"},
	{"last_step_missing", "matmul_tiled", RAGGED},
	{"no_barrier_before_multiplying", "matmul_tiled", RAGGED},
	{"no_barrier_before_multiplying", "matmul_padded", RAGGED},
	{"no_barrier_between_tiles", "matmul_tiled", RAGGED},
	{"no_barrier_between_tiles", "matmul_padded", RAGGED},
	{"no_barrier_before_multiplying_wide", "matmul_registers", RAGGED},
	{"no_barrier_between_wide_tiles", "matmul_registers", RAGGED},
	{"not_on_its_side", "matmul_tiled", RAGGED},
	{"not_on_its_side", "matmul_padded", RAGGED " --input one-hot"},
	{"last_column_unwritten", "matmul_tiled", RAGGED},
	{"last_column_unwritten", "matmul_registers", RAGGED},
	{"halves_swapped", "matmul_registers", RAGGED},
	{"sum_of_one_tile", "matmul_tiled", RAGGED},
};

enum { CASES = sizeof cases / sizeof cases[0] };

Test(faults, every_one_changes_the_output_and_is_found)
{
	expect_faults_found(PROGRAM, FAULTS, "c.npy", cases, CASES);
}

Test(faults, no_natural_mistake_survives)
{
	only_when_thorough();
	static const struct mistake_case found_by[] = {{RAGGED, NULL}};
	expect_mistakes_found(TEST_BUILD "/tiled_matmul/mistakes", found_by, 1, 3);
}

Test(faults, none_is_left_out)
{
	expect_faults_used(FAULTS, cases, CASES, 10);
}
