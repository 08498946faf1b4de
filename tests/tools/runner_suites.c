/* One small suite of two tests for each way a suite can go; test_runner.py builds it with -DGOOD, -DFAILING, ... */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#ifdef EARLY /* leaves before Criterion has said anything */
__attribute__((constructor)) static void leave(void)
{
	_Exit(0);
}
#endif

#ifndef EMPTY
Test(runner, first) {}

Test(runner, second)
{
#ifdef FAILING
	cr_assert(0, "planted");
#endif
#ifdef CRASHING
	abort();
#endif
#ifdef HANGING
	for (;;)
		pause();
#endif
#ifdef SKIPPING
	fprintf(stderr, "skipped: no such machine\n");
	cr_skip_test("no such machine");
#endif
}
#endif
