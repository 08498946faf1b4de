/*
 * Launchers that cheat or break the program (cheats.edits), planted in chapter 05: what passes here is right without having
 * been computed by its launches. The same options pass without them.
 */
#include "faults.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define TABLE TEST_BUILD "/fa/cheats.tsv"

ParameterizedTestParameters(cheats, of_a_launcher)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(TABLE, faults);
	return cr_make_param_array(struct told_fault, faults, count);
}

ParameterizedTest(struct told_fault *fault, cheats, of_a_launcher, .timeout = 120)
{
	expect_told_fault_found(TEST_BUILD "/fa/cheats", fault);
}

Test(cheats, the_same_options_pass_without_them, .timeout = 120)
{
	expect_told_faults_are_faults(TEST_BUILD "/chapters/fa2", TABLE, 7);
}
