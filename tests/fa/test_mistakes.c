/*
 * Mistakes that come naturally to somebody who writes these kernels: none survives the cases that the kernels
 * themselves are tested on.
 */
#include "cases.h"

#include <criterion/criterion.h>

Test(mistakes, none_survives_in_chapter_04, .timeout = 300)
{
	expect_mistakes_found(TEST_BUILD "/fa/mistakes_fa1", fa_cases, FA_CASES, 44);
}

Test(mistakes, none_survives_in_chapter_05, .timeout = 300)
{
	expect_mistakes_found(TEST_BUILD "/fa/mistakes_fa2", fa_cases, FA_CASES, 54);
}
