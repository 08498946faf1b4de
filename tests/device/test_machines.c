/* Machines that differ from this one: setup.sh with other package managers and without rights, compilers that warn.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

static char *in_scratch(const char *name)
{
	return text("%s/%s", scratch_directory(), name);
}

static void write_program(const char *name, const char *script)
{
	write_text(in_scratch(name), text("#!/bin/sh\n%s", script));
	chmod(in_scratch(name), 0755);
}

/*
 * A machine that has next to nothing: `bin` holds the few commands that setup.sh itself uses, and what a test adds.
 * What a stand-in is called with goes to the file `said`.
 */
static void bare_machine(const char *user)
{
	static const char *const kept[] = {"sh", "sed", "cat", "env"};

	mkdir(in_scratch("bin"), 0777);
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		if (symlink(text("/bin/%s", kept[i]), in_scratch(text("bin/%s", kept[i]))) != 0)
			cr_assert_fail("no link to %s", kept[i]);
	}
	write_program("bin/id", text("echo %s\n", user));
	write_program("bin/sleep", "");
	write_text(in_scratch("said"), "");
}

static struct outcome set_up(const char *option)
{
	return run_program(
		LIST("/bin/sh", TEST_ROOT "/setup.sh", option),
		LIST(text("PATH=%s", in_scratch("bin")), text("SAID=%s", in_scratch("said"))), 60);
}

/* Each manager is asked for the packages as its system names them, and for what there is first. */
Test(machines, five_package_managers)
{
	static const struct {
		const char *command, *says[4];
	} managers[] = {
		{"apt-get", {"update", "install -y -qq --no-install-recommends make git gcc g++", "gnuplot-nox"}},
		{"dnf", {"install -y", "make git gcc gcc-c++", "clang-tools-extra"}},
		{"pacman", {"-Sy", "-S --needed --noconfirm make git gcc ", "clang llvm gnuplot"}},
		{"zypper",
	         {"--non-interactive refresh", "install --no-recommends make git gcc gcc-c++", "dejavu-fonts"}},
		{"apk", {"update", "add make git gcc g++", "clang-extra-tools"}},
	};

	bare_machine("0");
	for (size_t i = 0; i < sizeof managers / sizeof managers[0]; i++) {
		char *command = text("bin/%s", managers[i].command);

		write_text(in_scratch("said"), "");
		write_program(command, "echo \"$@\" >> \"$SAID\"\n");
		struct outcome run = set_up(NULL);
		char *said = read_text(in_scratch("said"));

		for (size_t s = 0; managers[i].says[s] != NULL; s++)
			cr_expect(
				strstr(said, managers[i].says[s]), "%s: no \"%s\" in\n%s", managers[i].command,
				managers[i].says[s], said);
		cr_expect_null(strstr(said, " - "), "%s was asked for a package that it does not have", said);
		/* A stand-in installs nothing: that is told, with what it costs. */
		cr_expect(
			run.status == 3 && strstr(run.err, "there is no gnuplot: there are no pictures\n"),
			"%s: exit %d: %s", managers[i].command, run.status, run.err);
		unlink(in_scratch(command));
	}
}

Test(machines, without_a_manager_or_rights_one_line_says_so)
{
	struct outcome run;

	bare_machine("1000");
	run = set_up(NULL);
	cr_expect(run.status == 3 && strstr(run.err, "no apt, dnf, pacman, zypper or apk here"), "%s", run.err);
	write_program("bin/apt-get", "echo \"$@\" >> \"$SAID\"\n");
	run = set_up(NULL);
	cr_expect(run.status == 3 && strstr(run.err, "you are not root and there is no sudo"), "%s", run.err);
	/* A sudo that would ask, and nobody to ask. */
	write_program("bin/sudo", "exit 1\n");
	run = set_up(NULL);
	cr_expect(run.status == 3 && strstr(run.err, "sudo asks for a password"), "%s", run.err);
	cr_expect_str_empty(read_text(in_scratch("said")), "something was installed");
	/* One that asks for nothing is used. */
	write_program("bin/sudo", "[ \"$1\" = -n ] || exit 1\nshift\n\"$@\"\n");
	run = set_up(NULL);
	cr_expect(strstr(read_text(in_scratch("said")), "install -y"), "%s", run.err);
	write_text(in_scratch("said"), "");
	run = set_up("--check");
	cr_expect(run.status == 3 && strstr(run.err, "setup: missing: make git"), "%s", run.err);
	cr_expect_str_empty(read_text(in_scratch("said")), "--check installed something");
}

/* The lists' lock is waited for here, the packages' by apt. One package that does not exist keeps back no other. */
Test(machines, a_locked_apt_is_waited_for)
{
	bare_machine("0");
	write_program(
		"bin/apt-get", "echo \"$@\" >> \"$SAID\"\n"
			       "case \"$*\" in\n"
			       "*update*)\n"
			       "	echo x >> \"$SAID.tries\"\n"
			       "	if [ \"$(cat \"$SAID.tries\")\" = x ]; then\n"
			       "		echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2\n"
			       "		exit 100\n"
			       "	fi ;;\n"
			       "*unzip*) exit 100 ;;\n"
			       "esac\n");
	struct outcome run = set_up(NULL);
	char *said = read_text(in_scratch("said"));

	cr_expect(strstr(run.out, "waiting for another apt"), "%s%s", run.out, run.err);
	cr_expect(strstr(said, "DPkg::Lock::Timeout=600 install"), "%s", said);
	cr_expect(strstr(run.err, "unzip could not be installed"), "%s", run.err);
	cr_expect(strstr(said, "--no-install-recommends zip\n"), "the others were not tried: %s", said);
}

/* Debian has no ruff: --all takes PyPI's, and tells a pip that wants no package beside the system's that we mean it. */
Test(machines, ruff_comes_from_pypi)
{
	bare_machine("0");
	write_program("bin/apt-get", "");
	write_program(
		"bin/python3", "echo \"$@\" >> \"$SAID\"\n"
			       "case \"$*\" in *ruff\\ --version | *'-q ruff') exit 1 ;; esac\n");
	struct outcome run = set_up("--all");
	char *said = read_text(in_scratch("said"));

	cr_expect(
		strstr(said, "-m pip install -q ruff\n-m pip install -q --break-system-packages ruff\n"), "%s", said);
	cr_expect(strstr(run.err, "there is no ruff: make check-python does not work"), "%s", run.err);
	write_text(in_scratch("said"), "");
	run = set_up(NULL);
	cr_expect_null(strstr(read_text(in_scratch("said")), "pip"), "ruff is for --all only");
}

/* A chapter of two lines, built by common/chapter.mk as any is: its build directory is the scratch directory. */
static struct outcome build_chapter(const char *werror)
{
	return run_program(
		LIST("make", "--no-print-directory", "-C", in_scratch("tiny"), "fast",
	             text("ROOT=%s", scratch_directory()), "HARNESS=", "DEVICE=sim", "CC=" TEST_CC, "CXX=" TEST_CXX,
	             werror),
		NOTHING, 120);
}

Test(machines, a_warning_stops_ci_and_nobody_else)
{
	struct outcome run;

	mkdir(in_scratch("tiny"), 0777);
	cr_assert_eq(symlink(TEST_ROOT "/simcc", in_scratch("simcc")), 0);
	write_text(in_scratch("tiny/Makefile"), "NAME := tiny\ninclude " TEST_ROOT "/common/chapter.mk\n");
	const char *source = "__global__ void k(float *y)\n{\n\tunsigned n = 2;\n\tfor (int i = 0; i < n; i++)\n"
			     "\t\ty[i] = 2.0f;\n}\nint main() { return 0; }\n";
	write_text(in_scratch("tiny/tiny.cu"), source);
	run = build_chapter("WERROR=");
	cr_expect(run.status == 0 && strstr(run.err, "sign"), "exit %d: %s", run.status, run.err);
	cr_expect_eq(access(in_scratch("tiny/tiny"), X_OK) | access(in_scratch("tiny/tiny.fast"), X_OK), 0);
	unlink(in_scratch("tiny/tiny"));
	write_text(in_scratch("tiny/tiny.cu"), source); /* the objects are older now */
	run = build_chapter("WERROR=1");
	cr_expect(run.status == 2 && access(in_scratch("tiny/tiny"), F_OK) != 0, "exit %d: %s", run.status, run.err);
	/* The default is the newcomer's; half an exercise leaves a variable unused, and nothing is said of it. */
	write_text(
		in_scratch("tiny/tiny.cu"),
		"__global__ void k(float *y)\n{\n\tfloat correction = 1.0f;\n\ty[0] = 2.0f;\n}\n"
		"int main() { return 0; }\n");
	run = build_chapter("ARGS=");
	cr_expect(run.status == 0 && !strstr(run.err, "warning"), "exit %d: %s", run.status, run.err);
}
