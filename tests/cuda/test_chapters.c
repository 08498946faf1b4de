/* On a GPU: each chapter's program over the cases of cases.tsv, which it verifies itself. */
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

static void verify(const char *chapter)
{
	struct outcome run =
		run_program(LIST("perl", TEST_ROOT "/gpu/verify.pl", "--chapter", chapter), NOTHING, 380);
	cr_expect(run.status == 0, "%s\n%s%s", chapter, run.out, run.err);
}

Test(chapters, naive)
{
	verify("01_naive");
}

Test(chapters, online_softmax)
{
	verify("02_online_softmax");
}

Test(chapters, tiled_matmul)
{
	verify("03_tiled_matmul");
}

Test(chapters, fa1)
{
	verify("04_fa1");
}

Test(chapters, fa2)
{
	verify("05_fa2");
}

Test(chapters, backward)
{
	verify("06_backward");
}

/* A tile over the GPU's shared memory is refused before anything is launched. */
Test(chapters, a_tile_that_does_not_fit)
{
	struct outcome run =
		run_program(LIST(TEST_ROOT "/04_fa1/fa1", "--kernel", "fa1_paper", "--tile-k", "2048"), NOTHING, 60);
	cr_expect(run.status == 3 && strstr(run.err, "shared memory") != NULL, "status %d\n%s", run.status, run.err);
}
