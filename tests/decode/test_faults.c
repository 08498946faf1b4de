/*
 * Planted faults: one change each to the kernels of chapter 08 (faults.edits), whose program has to fail with it and say
 * what the entry says; without the fault the same options pass.
 */
#include "faults.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define TABLE TEST_BUILD "/decode/faults.tsv"

ParameterizedTestParameters(faults, of_a_kernel)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(TABLE, faults);
	return cr_make_param_array(struct told_fault, faults, count);
}

ParameterizedTest(struct told_fault *fault, faults, of_a_kernel, .timeout = 120)
{
	expect_told_fault_found(TEST_BUILD "/decode/faults", fault);
}

Test(faults, the_same_options_pass_without_them, .timeout = 120)
{
	expect_told_faults_are_faults(TEST_BUILD "/chapters/decode", TABLE, 25);
}
