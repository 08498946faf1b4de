/*
 * Other C libraries than this machine's. What CUDA has and C has not, a newer library may declare (glibc 2.41
 * sinpi, 2.42 rsqrt), and an older one lacks what we take from it: a made-up newer and a made-up older one stand in
 * for both.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

#define SIMCC   TEST_ROOT "/common/sim/simcc"
#define LIBRARY TEST_ROOT "/tests/simcc/c_library"
#define NEWER   "-I" LIBRARY "/newer"

/* Builds names.cu with these options, counted and --fast, and runs it. */
static void expect_names_work(const char *what, const char *const options[4])
{
	static const char *const builds[] = {"-O2", "--fast"};

	for (size_t i = 0; i < 2; i++) {
		char *program = text("%s/names", scratch_directory());
		struct outcome run = run_program(LIST(SIMCC, LIBRARY "/names.cu", "-o", program, builds[i],
		                                      options[0], options[1], options[2], options[3]),
		                                 LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);

		cr_assert(run.status == 0, "%s, %s: %.3000s", what, builds[i], run.err);
		run = run_program(LIST(program), NOTHING, 30);
		cr_expect(run.status == 0 && strncmp(run.out, "0 of ", 5) == 0, "%s, %s: %s%s", what, builds[i],
		          run.out, run.err);
	}
}

Test(c_library, this_machines)
{
	expect_names_work("as it is", (const char *const[4]){NULL});
	expect_names_work("read before ours", (const char *const[4]){"-include", "math.h"});
}

Test(c_library, a_newer_one_declares_our_names)
{
	expect_names_work("newer", (const char *const[4]){NEWER});
	expect_names_work("newer, not made for C++", (const char *const[4]){NEWER, "-DPLAIN"});
}

/* -isystem, as a real one would be, and read before our headers. */
Test(c_library, a_newer_one_is_read_first)
{
	expect_names_work("newer, read first",
	                  (const char *const[4]){"-isystem", LIBRARY "/newer", "-include", "math.h"});
}

Test(c_library, an_older_one_lacks_what_is_not_in_iso_c)
{
	expect_names_work("older", (const char *const[4]){"-U_GNU_SOURCE", "-D_DEFAULT_SOURCE"});
}

/* The stand-in has every function that our header defines by name; those that a macro makes are in it by hand. */
Test(c_library, the_newer_one_declares_all_of_them)
{
	struct outcome run =
		run_program(LIST("sed", "-n", "-e", "s/^SIM_C_FUNCTION([a-z ]*, \\([a-z0-9_]*\\),.*/\\1/p", "-e",
	                         "s/^SIM_C_INLINE [a-z ]* \\([a-z0-9_]*\\)(.*/\\1/p",
	                         TEST_ROOT "/common/sim/include/sim_cuda/math.h"),
	                    NOTHING, 20);
	char *declared = read_text(LIBRARY "/newer/math.h"), *calls = read_text(LIBRARY "/names.cu");
	size_t found = 0;

	for (char *name = strtok(run.out, "\n"); name != NULL; name = strtok(NULL, "\n"), found++) {
		cr_expect(strstr(declared, text(" %s)", name)) || strstr(declared, text(" %s(", name)) ||
		                  strstr(declared, text(" %s,", name)),
		          "the made-up library lacks %s", name);
		cr_expect(strstr(calls, text("%s(", name)), "names.cu does not call %s", name);
	}
	cr_expect_geq(found, 40, "only %zu functions were found", found);
}

/* The engine and the harness are C: nothing of theirs has a name that such a library has. */
Test(c_library, the_c_files_compile_with_a_newer_one)
{
	struct outcome run = run_program_in(
		TEST_ROOT,
		LIST("sh", "-c",
	             "find common 0*_* -name '*.c' | xargs -n 8 \"$0\" -fsyntax-only -std=gnu11 -D_GNU_SOURCE "
	             "-DDEVICE_SIM -Icommon -isystem common/sim/include " NEWER,
	             TEST_CC),
		NOTHING, 120);

	cr_expect(run.status == 0, "%.3000s", run.err);
}

Test(c_library, the_engine_compiles_with_an_older_one)
{
	struct outcome run = run_program(
		LIST(TEST_CC, "-fsyntax-only", "-std=gnu11", "-Werror=implicit-function-declaration", "-isystem",
	             TEST_ROOT "/common/sim/include", TEST_ROOT "/common/sim/engine/device_math.c"),
		NOTHING, 60);

	cr_expect(run.status == 0, "%.3000s", run.err);
}
