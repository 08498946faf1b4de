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
	char *library = text("SIM_LIB=%s/simcc/build/%s/libsim.a", TEST_ROOT, compiler);
	const char *const environment[] = {library, NULL};
	o = run_program_in(
		tree, LIST("make", "-j2", "build", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"), environment, 250);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect_str_empty(o.err, "%s", o.err);
	o = run_program_in(
		tree, LIST("make", "-C", "01_naive", "test", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"),
		environment, 100);
	cr_expect_eq(o.status, 2, "make test in an untouched chapter: %d", o.status);
	cr_expect(strstr(o.out, "FAILED") || strstr(o.err, "wrong"), "%s%s", o.out, o.err);
	solve(tree, NULL);
	o = run_program_in(
		tree, LIST("make", "-C", "01_naive", "test", "CC=" TEST_CC, "CXX=" TEST_CXX, "DEVICE=sim"),
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
	for (int k = 0; k < (thorough() ? 3 : 1); k++) {
		char *tree = hand_out(text("other-%d", k), keys[k]);
		for (int c = 0; c < CHAPTERS; c++) {
			char *command =
				text("cd %s/%s && for source in *.cu; do CXX=%s %s/simcc/simcc -O0 " TREE_STRICT
			             " -c $source -o %s/x.o || exit 1; done",
			             tree, chapters[c].directory, TEST_OTHER_CXX, TEST_ROOT, tree);
			struct outcome o = run_program(LIST("/bin/sh", "-c", command), NOTHING, 60);
			cr_expect_eq(o.status, 0, "%s %s: %s", keys[k] ? keys[k] : "plain", chapters[c].name, o.err);
			free_outcome(&o);
		}
	}
}

/* The judge's tree of a class is made anew when a file of the course has changed, in whatever folder it lies, and
 * kept otherwise. What a build writes beside a chapter's sources is none of the course's. */
Test(build, a_changed_course_gives_a_new_tree_of_the_class, .timeout = 200)
{
	static const char *const changed[] = {
		"setup.sh",
		"01_naive/naive.cu",
		"06_backward/README.md",
		"common/chapter.mk",
		"common/verify/reference.c",
		"common/explorer",
		"simcc/simcc",
		"simcc/passes",
		"simcc/include/cuda",
		"simcc/include/sim_cuda/warp.h",
		"simcc/engine/tables.h",
		"classroom/tasks/01.score",
		"classroom/variants/sink",
		"classroom/grade/judge.mk",
		"tools/lib",
		"plots/draw.sh",
		"tests/data/real_qkv"};
	char *course = text("%s/course", scratch_directory());
	/* it goes as far as the tree: then there is no such task */
	const char *make_tree =
		text("cd %s && GRADE_BUILD=$PWD/made perl classroom/grade.pl --key k --only none; "
	             "test $? = 2 && ls made/class-*/.complete",
	             course);
	struct outcome o = run_program(
		LIST("/bin/sh", "-c",
	             text("mkdir %s && cd " TEST_ROOT " && cp -r --parents setup.sh LICENSE .clang-format "
	                  ".gitignore 0*_*/*.* 0*_*/Makefile common $(ls -d simcc/* | grep -v build) classroom plots "
	                  "tools tests/data %s",
	                  course, course)),
		NOTHING, 60);
	char *tree;

	cr_assert_eq(o.status, 0, "%s", o.err);
	o = run_program(LIST("/bin/sh", "-c", make_tree), NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	tree = o.out;
	run_program_in(
		course, LIST("touch", "01_naive/naive", "01_naive/naive.fast", "01_naive/chapter.o"), NOTHING, 10);
	o = run_program(LIST("/bin/sh", "-c", make_tree), NOTHING, 60);
	cr_expect_str_eq(o.out, tree, "a tree that was up to date was made again");
	for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
		o = run_program_in(
			course,
			LIST("/bin/sh", "-c",
		             text("touch -d '2001-01-01' \"$(find %s -type f | sort | tail -1)\"", changed[i])),
			NOTHING, 10);
		cr_assert_eq(o.status, 0, "%s", o.err);
		o = run_program(LIST("/bin/sh", "-c", make_tree), NOTHING, 60);
		cr_expect(
			o.status == 0 && strcmp(o.out, tree) != 0, "a changed file in %s left the old tree: %s%s",
			changed[i], o.out, o.err);
		tree = o.out;
	}
}
