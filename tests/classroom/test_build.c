/* A hand-out builds by itself: moved, by its own make, with either compiler, without a warning. */
#include "program.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The whole tree, built by its own make, somewhere else than where it was written, with the other compiler too. */
Test(build, a_moved_tree_builds_fails_and_is_solved, .timeout = 300)
{
	char *first = hand_out("first", CLASS_OF_CAPS), *tree = text("%s/moved/here", scratch_directory());
	struct outcome o = run_program(
		LIST("/bin/sh", "-c", text("mkdir %s/moved && mv %s %s", scratch_directory(), first, tree)), NOTHING,
		10);
	const char *compiler = strrchr("/" TEST_CXX, '/') + 1;
	char *library = text("SIM_LIB=%s/build/%s/libsim.a", TEST_ROOT, compiler);
	const char *const environment[] = {library, NULL};
	o = run_program_in(tree, LIST("make", "-j2", "build", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"),
	                   environment, 250);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect_str_empty(o.err, "%s", o.err);
	o = run_program_in(tree, LIST("make", "-C", "01_naive", "test", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"),
	                   environment, 100);
	cr_expect_eq(o.status, 2, "make test in an untouched chapter: %d", o.status);
	cr_expect(strstr(o.out, "FAILED") || strstr(o.err, "wrong"), "%s%s", o.out, o.err);
	solve(tree, NULL);
	o = run_program_in(tree, LIST("make", "-C", "01_naive", "test", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"),
	                   environment, 200);
	cr_expect_eq(o.status, 0, "make test with the solutions: %s", o.err);
	free_outcome(&o);
}

/* All three versions of every stub, with the compiler the other tests do not use. */
Test(build, build_with_the_other_compiler, .timeout = 200)
{
	if (!TEST_OTHER_CXX[0])
		skip_test("there is one compiler only");
	static const char *const keys[] = {NULL, CLASS_OF_CAPS, CLASS_OF_WINDOWS};
	for (int k = 0; k < 3; k++) {
		char *tree = hand_out(text("other-%d", k), keys[k]);
		for (int c = 0; c < CHAPTERS; c++) {
			char *command =
				text("CXX=%s %s/common/sim/simcc -O0 " TEST_STRICT " -c %s/%s/%s.cu -o %s/x.o",
			             TEST_OTHER_CXX, TEST_ROOT, tree, chapters[c].directory, chapters[c].name, tree);
			struct outcome o = run_program(LIST("/bin/sh", "-c", command), NOTHING, 60);
			cr_expect_eq(o.status, 0, "%s %s: %s", keys[k] ? keys[k] : "plain", chapters[c].name, o.err);
			free_outcome(&o);
		}
	}
}
