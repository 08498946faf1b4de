/* What every Makefile of the course takes from common/sim/toolchain.mk: the compilers, and what a program is made of.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

#define SIM TEST_ROOT "/common/sim"

/* What a shell command prints; it must end well. */
static char *output_of(const char *command)
{
	struct outcome run =
		run_program_in(scratch_directory(), LIST("sh", "-c", command), LIST("MAKEFLAGS=", "MAKELEVEL="), 60);

	cr_assert(run.status == 0, "%s: status %d: %s", command, run.status, run.err);
	run.out[strcspn(run.out, "\n")] = '\0';
	return run.out;
}

static void make_command(const char *path)
{
	write_text(path, "#!/bin/sh\necho \"${0##*/} 1.0\"\n");
	chmod(path, 0755);
}

Test(toolchain, a_compilers_counterpart)
{
	static const char *const pairs[][2] = {
		{"gcc", "g++"},
		{"gcc-13", "g++-13"},
		{"clang", "clang++"},
		{"clang-15", "clang++-15"},
		{"/usr/bin/gcc-12", "/usr/bin/g++-12"},
		{"/opt/gcc-13/bin/gcc", "/opt/gcc-13/bin/g++"},
		{"/opt/clang/bin/clang-15", "/opt/clang/bin/clang++-15"},
		{"ccache gcc", "ccache g++"},
		{"ccache /usr/bin/clang-14 -m64", "ccache /usr/bin/clang++-14 -m64"},
		{"gcc -m64", "g++ -m64"},
		{"gcc --sysroot=/opt/gcc -I/usr/lib/gcc", "g++ --sysroot=/opt/gcc -I/usr/lib/gcc"},
		{"env LANG=C nice -n 5 gcc-12", "env LANG=C nice -n 5 g++-12"},
		{"x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-g++-12"},
		{"aarch64-linux-musl-gcc", "aarch64-linux-musl-g++"},
	};
	/* only one way: names that say no family, and what is a C++ compiler already */
	static const char *const to_cxx[][2] = {{"g++ -m64", "g++ -m64"},
	                                        {"clang++", "clang++"},
	                                        {"clang++-14", "clang++-14"},
	                                        {"c99-gcc", "g++"},
	                                        {"no-such-compiler", "g++"}};
	char *directory = text("%s/bin", scratch_directory());

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		cr_expect_str_eq(output_of(text(SIM "/counterpart.sh c++ '%s'", pairs[i][0])), pairs[i][1]);
		cr_expect_str_eq(output_of(text(SIM "/counterpart.sh c '%s'", pairs[i][1])), pairs[i][0]);
	}
	for (size_t i = 0; i < sizeof to_cxx / sizeof to_cxx[0]; i++)
		cr_expect_str_eq(output_of(text(SIM "/counterpart.sh c++ '%s'", to_cxx[i][0])), to_cxx[i][1]);

	/* these look for a twin that is there: here, in a PATH of our own */
	mkdir(directory, 0777);
	for (size_t i = 0; i < 4; i++)
		make_command(text("%s/%s", directory, ((const char *[]){"cc", "c99", "musl-gcc", "mycc"})[i]));
	write_text(text("%s/mycc", directory), "#!/bin/sh\necho my clang version 3\n");
	setenv("PATH", text("%s:/no-twin", directory), 1);
	write_text(text("%s/find", scratch_directory()),
	           text("PATH=%s:%s/tools; exec /bin/sh " SIM "/counterpart.sh c++ \"$1\"\n", directory,
	                scratch_directory()));
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	output_of("mkdir tools; for t in sed grep; do ln -s \"$(command -v $t)\" tools; done");
	cr_expect_str_eq(output_of("sh find cc"), "g++");
	cr_expect_str_eq(output_of("sh find c99"), "g++");
	cr_expect_str_eq(output_of("sh find musl-gcc"), "g++");
	cr_expect_str_eq(output_of("sh find mycc"), "clang++");
	make_command(text("%s/c++", directory));
	make_command(text("%s/musl-g++", directory));
	cr_expect_str_eq(output_of("sh find cc"), "c++");
	cr_expect_str_eq(output_of("sh find c99"), "c++");
	cr_expect_str_eq(output_of("sh find 'cc -m64'"), "c++ -m64");
	cr_expect_str_eq(output_of(text("sh find %s/cc", directory)), text("%s/c++", directory));
	cr_expect_str_eq(output_of("sh find musl-gcc"), "musl-g++");
}

/* The Makefiles and simcc agree: on the compiler, and on the folder where its library is. */
Test(toolchain, one_rule_everywhere)
{
	static const char *const makefiles[] = {"01_naive", "common/sim", "common/sim/bench", "tests", "plots"};
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
					output_of(text("%s='%s' %s make -s -C " TEST_ROOT
				                       "/%s %s --eval 'print:;@echo "
				                       "$(CXX),$(COMPILER),$(CXX_COMPILER)' print",
				                       environment ? "CC" : "IGNORED", compilers[i][0],
				                       environment ? "env -u CXX" : "env -u CC -u CXX", makefiles[m],
				                       environment ? "" : text("CC='%s'", compilers[i][0]))),
					text("%s,%s,%s", compilers[i][1], compilers[i][2], compilers[i][3]), "%s",
					makefiles[m]);
	output_of("printf 'int main() { return 0; }' > a.cu; mkdir -p build");
	output_of(text("env -u CXX SIM_BUILD=$PWD/build CC='env LANG=C %s -g0' " SIM "/simcc a.cu -o a && ./a && "
	               "test -f \"build/env_LANG=C_$(basename " TEST_CXX ")_-g0/libsim.a\" && "
	               "test $(ls -d build/* | wc -l) = 1",
	               TEST_CC));
}

/* A program is made anew when anything changes that it was made with, in whatever folder that lies. */
Test(toolchain, programs_depend_on_all_of_it)
{
	char *files = output_of(text("cd " SIM " && find . -name bench -prune -o -type f ! -name '*.md' -print | "
	                             "sed 's|^./||' | sort | tr '\\n' ' '"));
	char *listed =
		text("%s ", output_of("make -s -C " SIM " -f toolchain.mk --eval 'print:;@echo $(TOOLCHAIN)' print"));
	char *of_chapter = output_of("make -C " TEST_ROOT "/01_naive -pn DEVICE=sim CC=" TEST_CC
	                             " | sed -n 's/^naive.fast: //p'");
	size_t count = 0;

	for (char *file = strtok(files, " "); file != NULL; file = strtok(NULL, " "), count++) {
		const char *path = text(SIM "/%s", file);

		cr_expect(strstr(listed, text("%s ", path)) != NULL, "TOOLCHAIN has no %s", file);
		cr_expect(strstr(of_chapter, text("common/sim/%s", file)) != NULL,
		          "a chapter's program does not depend on %s", file);
	}
	cr_expect(count > 80, "only %zu files", count);
	output_of("mkdir copy && cp -r " SIM " copy && mkdir -p copy/sim/include/new/folder && "
	          "touch copy/sim/include/new/folder/header && make -s -C copy/sim -f toolchain.mk "
	          "--eval 'print:;@echo $(TOOLCHAIN)' print | grep -q include/new/folder/header");
}

/* What make itself says of one file in each folder, by -W: a program of the suites, an object, the library. */
Test(toolchain, a_changed_header_leaves_nothing_stale)
{
	char *folders = output_of("find " SIM " -name bench -prune -o -type d -print | tr '\\n' ' '");
	const char *program = TEST_BUILD "/programs/strides";
	const char *object = text("$(dirname " TEST_BUILD ")/sim/common/run.o");
	const char *ask = "make -s -q -C " TEST_ROOT "/%s CC=" TEST_CC " CXX=" TEST_CXX " %s %s; test $? = %d";

	output_of(text(ask, "tests", "", program, 0)); /* it is there, and up to date */
	for (char *folder = strtok(folders, " "); folder != NULL; folder = strtok(NULL, " "))
		output_of(text(ask, "tests",
		               text("-W $(find %s -maxdepth 1 -type f ! -name '*.md' | head -1)", folder), program,
		               1));
	output_of(text(ask, "01_naive", "DEVICE=sim", object, 0));
	output_of(text(ask, "01_naive", "DEVICE=sim -W " SIM "/include/driver_types.h", object, 1));
	output_of(text("make -s -C " SIM " lib CC=" TEST_CC " CXX=" TEST_CXX));
	output_of(text("make -n -C " SIM " CC=" TEST_CC " CXX=" TEST_CXX " -W " SIM
	               "/include/vector_types.h lib | grep -q 'engine/api_memory'"));
	output_of(text("make -n -C " SIM " CC=" TEST_CC " CXX=" TEST_CXX " -W " SIM
	               "/include/cuda/atomic lib | grep -q selftest"));
}
