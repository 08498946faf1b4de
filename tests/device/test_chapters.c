/* The device under the chapters: what the harness says of a refused launch, and C libraries that are not this one. */
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

/* A learner asks for too many threads in chapter 01: the kernel fails, and the harness names it and the reason. */
Test(chapters, a_refused_launch_is_named)
{
	char *source = text("%s/naive.cu", scratch_directory()), *program = text("%s/naive", scratch_directory());
	char *kernels = read_text(TEST_ROOT "/01_naive/naive.cu"), *threads = strstr(kernels, "SCORE_THREADS = 128");
	struct outcome run;

	cr_assert(threads != NULL);
	memcpy(threads, "SCORE_THREADS=2048 ", strlen("SCORE_THREADS=2048 "));
	write_text(source, kernels);
	run = run_program(
		LIST("sh", "-c",
	             text("cd %s && objects=build/$(basename $CC)/sim && simcc/simcc -I01_naive -Icommon %s "
	                  "$(find common 01_naive -name '*.c' | sed \"s|.*|$objects/&|; s|c$|o|\") "
	                  "$objects/common/gpus.o -lm -o %s",
	                  TEST_ROOT, source, program)),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
	cr_assert(run.status == 0, "%s", run.err);
	run = run_program(LIST(program, "--seq", "16", "--dim", "16", "--json", "-"), NOTHING, 30);
	cr_expect(run.status == 1, "exit %d: %s", run.status, run.err);
	cr_expect(
		strstr(run.out,
	               "\"failure\":\"not launched: cudaErrorInvalidConfiguration: invalid configuration argument: "
	               "scores<<<") &&
			strstr(run.out, ", (2048,1,1)>>> was refused: 2048 threads in a block, which may have 1024 "
	                                "(launched at "),
		"%s", run.out);
}

/* Nothing of the harness has a name that a newer C library has: simcc/tests has a made-up one. */
Test(chapters, the_c_files_compile_with_a_newer_library)
{
	struct outcome run = run_program_in(
		TEST_ROOT,
		LIST("sh", "-c",
	             "find common $(make -s chapters) -name '*.c' | xargs -n 8 \"$0\" -fsyntax-only -std=gnu11 "
	             "-D_GNU_SOURCE "
	             "-DDEVICE_SIM -Icommon -Isimcc -isystem simcc/include -Isimcc/tests/c_library/newer",
	             TEST_CC),
		NOTHING, 120);

	cr_expect(run.status == 0, "%.3000s", run.err);
}
