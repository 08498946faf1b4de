"""simcc away from here: copied it builds, installed it runs, also for a user who may not write where it lies."""

from __future__ import annotations

import os
import platform
import re
import shutil
import unittest

from support import COMPILERS, FIRST, HOME, RUNNER, SIMCC, Case, Outcome, Word, long_test, run

OK = r"""#include <cstdio>
__global__ void store(int *x) { x[threadIdx.x] = 1; }
int main()
{
	int *x;
	cudaMalloc(&x, 128);
	store<<<1, 32>>>(x);
	puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "failed");
}
"""


# What the first CPUs of x86-64 do not have: AVX and later vectors, and the counting of bits.
LATER = re.compile(r"v(?!err|erw)\w+|popcnt|lzcnt|andn|bls\w+|bextr|bzhi|pdep|pext|mulx|rorx|s[ah][rl]x|movbe")

QEMU = shutil.which("qemu-x86_64")


@unittest.skipUnless(platform.machine() == "x86_64" and not RUNNER, "of x86-64")
class Baseline(Case):
    def test_what_is_built_here_runs_on_any_cpu(self) -> None:
        """Built with -march=native, an archive died on an older CPU with "Illegal instruction"."""
        self.write("ok.cu", OK)
        for compiler in COMPILERS:
            command = ["env", "-u", "SIM_LIB", SIMCC, "ok.cu", "-o", "ok"]
            self.expect_silent(run(command, compiler.environment, self.scratch, cpu_seconds=120), compiler.cxx)
            library = compiler.folder.parent / "libsim.a"
            function, later = "", set()
            for line in run(["objdump", "-d", "--no-show-raw-insn", library]).out.splitlines():
                if line.endswith(">:"):
                    function = line.partition("<")[2][:-2]
                elif LATER.fullmatch(line.partition("\t")[2].partition(" ")[0]):
                    later.add(function)
            self.expect(later, f"{compiler.cxx}: no function has a faster clone")
            outside = sorted(name for name in later if ".avx2" not in name)
            self.expect_equal(outside, [], f"{compiler.cxx}: functions that an older CPU cannot run")

    @unittest.skipUnless(QEMU, "qemu-x86_64 is not installed")
    def test_the_plainest_cpu_runs_a_program_and_counts_the_same(self) -> None:
        """What the list of instructions above does not know, and what comes from elsewhere than libsim.a."""
        self.write("ok.cu", OK)
        # Where address space has no limit, qemu 7 keeps 24 bytes for each page of the device's reserved range: 24 GB.
        plainest = ["prlimit", f"--as={16 << 30}", QEMU or "", "-cpu", "qemu64"]
        for compiler in COMPILERS:
            self.expect_silent(run([SIMCC, "ok.cu", "-o", "ok"], compiler.environment, self.scratch), compiler.cxx)
            here, there = (run([*before, self.scratch / "ok"], {"SIM_REPORT": "-"}) for before in ([], plainest))
            self.expect_in('"kernel":"store"', here.out, compiler.cxx)
            self.expect_equal((there.status, there.out, there.err), (here.status, here.out, here.err), compiler.cxx)


class Install(Case):
    def make(self, *arguments: Word) -> Outcome:
        outcome = run(["make", "-s", "-C", self.scratch / "simcc", *arguments], environment=FIRST.environment)
        self.assertEqual(outcome.status, 0, outcome.out + outcome.err)
        return outcome

    def setUp(self) -> None:
        super().setUp()
        shutil.copytree(HOME, self.scratch / "simcc", ignore=shutil.ignore_patterns("build", "tests", "__pycache__"))
        self.scratch.chmod(0o755)
        self.write("ok.cu", OK)

    def compile(self, *before: Word) -> None:
        simcc, program = self.scratch / "usr/bin/simcc", self.scratch / "home/ok"
        variables = [f"{name}={value}" for name, value in FIRST.environment.items()]
        home = f"HOME={self.scratch}/home"
        command = [*before, "env", home, *variables, simcc, self.scratch / "ok.cu", "-o", program]
        outcome = run(command, cpu_seconds=120)
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        self.expect_equal(run([*RUNNER, program]).out, "ok\n", "what it built")

    def test_a_copy_installs_goes_again_and_what_is_installed_builds(self) -> None:
        self.make("install", f"PREFIX={self.scratch}/usr")
        (self.scratch / "home").mkdir()
        self.compile()
        outcome = run(["make", "-s", "-C", self.scratch / "usr/lib/simcc"], environment=FIRST.environment)
        self.expect_in("ready for", outcome.out, "make says that it is done")
        if shutil.which("man"):
            page = self.scratch / "usr/share/man/man1/simcc.1"
            outcome = run(["man", "--warnings", "-l", page], environment={"LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            self.expect_equal((outcome.status, outcome.err), (0, ""), "the man page")
            self.expect_in("SIM_REPORT", outcome.out, "the man page")
        self.make("uninstall", f"PREFIX={self.scratch}/usr")
        left = [path for path in (self.scratch / "usr").rglob("*") if not path.is_dir()]
        self.expect_equal(left, [], "files after uninstall")

    def test_a_package_is_put_together_elsewhere(self) -> None:
        self.make("install", "PREFIX=/usr", f"DESTDIR={self.scratch}/package")
        link = self.scratch / "package/usr/bin/simcc"
        self.expect_equal(os.readlink(link), "../lib/simcc/simcc", "the link does not know where the package was made")

    @long_test  # builds a library of its own
    def test_a_user_who_may_not_write_there_has_a_library_of_his_own(self) -> None:
        self.make("install", f"PREFIX={self.scratch}/usr")
        home = self.scratch / "home"
        home.mkdir()
        before: list[Word] = []
        if os.geteuid() == 0:
            os.chown(home, 65534, 65534)
            before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            if run([*before, "test", "-w", home]).status != 0:
                raise unittest.SkipTest("nobody may not come here")
        else:
            for folder, _, _ in os.walk(self.scratch / "usr/lib/simcc"):
                os.chmod(folder, 0o555)
            self.addCleanup(lambda: [os.chmod(folder, 0o755) for folder, _, _ in os.walk(self.scratch / "usr")])
        self.compile(*before)
        self.expect(list(home.rglob("libsim.a")), "no library in the user's cache")
        self.expect_equal(list((self.scratch / "usr").rglob("libsim.a")), [], "a library among the sources")
