/* What the Makefiles of the course take from simcc/toolchain.mk: the compilers, and what a program is made of. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"

#define SIM TEST_ROOT "/simcc"

/* What a shell command prints; it must end well. */
static char *output_of(const char *command)
{
	struct outcome run =
		run_program_in(scratch_directory(), LIST("sh", "-c", command), LIST("MAKEFLAGS=", "MAKELEVEL="), 60);

	cr_assert(run.status == 0, "%s: status %d: %s", command, run.status, run.err);
	run.out[strcspn(run.out, "\n")] = '\0';
	return run.out;
}

/* The Makefiles and simcc agree: on the compiler, and on the folder where its library is. */
Test(toolchain, one_rule_everywhere)
{
	static const char *const makefiles[] = {"01_naive", "tests", "plots"};
	static const char *const compilers[][4] = {
		{"gcc", "g++", "gcc", "g++"},
		{"clang-15", "clang++-15", "clang-15", "clang++-15"},
		{"ccache gcc", "ccache g++", "ccache_gcc", "ccache_g++"},
		{"/usr/bin/gcc-12 -m64", "/usr/bin/g++-12 -m64", "gcc-12_-m64", "g++-12_-m64"},
	};

	for (size_t m = 0; m < sizeof makefiles / sizeof makefiles[0]; m++)
		for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++)
			for (int environment = 0; environment < 2; environment++)
				cr_expect_str_eq(
					output_of(
						text("%s='%s' %s make -s -C " TEST_ROOT "/%s %s --eval 'print:;@echo "
				                     "$(CXX),$(COMPILER),$(CXX_COMPILER)' print",
				                     environment ? "CC" : "IGNORED", compilers[i][0],
				                     environment ? "env -u CXX" : "env -u CC -u CXX", makefiles[m],
				                     environment ? "" : text("CC='%s'", compilers[i][0]))),
					text("%s,%s,%s", compilers[i][1], compilers[i][2], compilers[i][3]), "%s",
					makefiles[m]);
}

/* A program is made anew when anything changes that it was made with, in whatever folder that lies. */
Test(toolchain, programs_depend_on_all_of_it)
{
	char *files = output_of(text("cd " SIM " && find . \\( -name bench -o -name build -o -name tests -o "
	                             "-name __pycache__ \\) -prune "
	                             "-o -type f ! -name '*.md' -print | "
	                             "sed 's|^./||' | sort | tr '\\n' ' '"));
	char *of_chapter = output_of("make -C " TEST_ROOT "/01_naive -pn DEVICE=sim CC=" TEST_CC
	                             " | sed -n 's/^naive.fast: //p'");
	size_t count = 0;

	for (char *file = strtok(files, " "); file != NULL; file = strtok(NULL, " "), count++) {
		cr_expect(
			strstr(of_chapter, text("simcc/%s", file)) != NULL,
			"a chapter's program does not depend on %s", file);
	}
	cr_expect(count > 80, "only %zu files", count);
}

/* What make itself says of a changed header, by -W: an object of the harness. */
Test(toolchain, a_changed_header_leaves_nothing_stale)
{
	const char *object = text("$(dirname " TEST_BUILD ")/sim/common/run/run.o");
	const char *ask = "make -s -q -C " TEST_ROOT "/01_naive CC=" TEST_CC " CXX=" TEST_CXX " %s %s; test $? = %d";

	output_of(text(ask, "DEVICE=sim", object, 0)); /* it is there, and up to date */
	output_of(text(ask, "DEVICE=sim -W " SIM "/include/driver_types.h", object, 1));
}
