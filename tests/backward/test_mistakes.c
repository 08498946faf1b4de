/* As tests/fa/test_mistakes.c, for the backward pass. */
#include "cases.h"

#include <criterion/criterion.h>

Test(mistakes, none_survives_in_chapter_06, .timeout = 300)
{
	expect_mistakes_found(TEST_BUILD "/backward/mistakes", backward_cases, BACKWARD_CASES, 48);
}
