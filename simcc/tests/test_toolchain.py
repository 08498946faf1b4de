"""What simcc is made of: the compilers it takes, the files a program depends on, and that it needs nothing from outside
its own folder."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from support import FIRST, HOME, RUNNER, Case, long_test, own_files, run

# A C compiler and the C++ compiler that belongs to it.
PAIRS = [
    ("gcc", "g++"),
    ("gcc-13", "g++-13"),
    ("clang", "clang++"),
    ("clang-15", "clang++-15"),
    ("/usr/bin/gcc-12", "/usr/bin/g++-12"),
    ("/opt/gcc-13/bin/gcc", "/opt/gcc-13/bin/g++"),
    ("/opt/clang/bin/clang-15", "/opt/clang/bin/clang++-15"),
    ("ccache gcc", "ccache g++"),
    ("ccache /usr/bin/clang-14 -m64", "ccache /usr/bin/clang++-14 -m64"),
    ("gcc -m64", "g++ -m64"),
    ("gcc --sysroot=/opt/gcc -I/usr/lib/gcc", "g++ --sysroot=/opt/gcc -I/usr/lib/gcc"),
    ("env LANG=C nice -n 5 gcc-12", "env LANG=C nice -n 5 g++-12"),
    ("x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-g++-12"),
    ("aarch64-linux-musl-gcc", "aarch64-linux-musl-g++"),
]
# Only one way: what is a C++ compiler already, and names that say no family, which take a twin that is there.
TO_CXX = [("g++ -m64", "g++ -m64"), ("clang++", "clang++"), ("clang++-14", "clang++-14"), ("c99-gcc", "g++")]
TO_CXX += [("no-such-compiler", "g++")]
WITHOUT_TWIN = [("cc", "g++"), ("c99", "g++"), ("musl-gcc", "g++"), ("mycc", "clang++")]
WITH_TWIN = [("cc", "c++"), ("c99", "c++"), ("cc -m64", "c++ -m64"), ("musl-gcc", "musl-g++"), ("bin/cc", "bin/c++")]
# CC, CXX that follows, and the names of both in folders.
COMPILER_NAMES = [
    ("gcc", "g++", "gcc", "g++"),
    ("clang-15", "clang++-15", "clang-15", "clang++-15"),
    ("ccache gcc", "ccache g++", "ccache_gcc", "ccache_g++"),
    ("/usr/bin/gcc-12 -m64", "/usr/bin/g++-12 -m64", "gcc-12_-m64", "g++-12_-m64"),
    ("clang --target=a-b", "clang++ --target=a-b", "clang_--target_a-b", "clang++_--target_a-b"),
]
INTERRUPTED = """
waited = os.waitpid
def wait_and_interrupt(pid, flags):
    os.waitpid = waited
    waited(pid, flags)
    os.kill(os.getpid(), 15)
process.handle_interrupts()
os.waitpid = wait_and_interrupt
try:
    process.run(["true"])
finally:
    process.clean_up()
"""
GIVEN_UP = """
def give_up(said):
    raise ValueError
try:
    process.run_saying([(["true"], {}), (["sleep", "60"], {})], give_up)
except ValueError:
    pass
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    pass
"""
MAKE_CC = [f"CC={FIRST.cc}", f"CXX={FIRST.cxx}"]


def makefile_value(directory: Path, expression: str) -> list[str]:
    return ["make", "-s", "-C", str(directory), "--eval", f"print:;@echo {expression}", "print"]


class Toolchain(Case):
    def output_of(self, command: list, environment: dict[str, str] | None = None) -> str:
        outcome = run(command, environment, cwd=self.scratch)
        self.assertEqual(outcome.status, 0, f"{command}: {outcome.err}")
        return outcome.out.strip()

    def counterpart(self, language: str, compiler: str, path: str = "") -> str:
        environment = {"PATH": path} if path else {}
        return self.output_of([sys.executable, HOME / "driver/counterpart.py", language, compiler], environment)

    def test_a_compilers_counterpart(self):
        for cc, cxx in PAIRS:
            self.expect_equal(self.counterpart("c++", cc), cxx, cc)
            self.expect_equal(self.counterpart("c", cxx), cc, cxx)
        for cc, cxx in TO_CXX:
            self.expect_equal(self.counterpart("c++", cc), cxx, cc)

    def test_a_twin_that_is_there(self):
        """In a PATH of our own."""

        def make(**says: str) -> None:
            for name, version in says.items():
                file = self.write(f"bin/{name.replace('_', '-').replace('xx', '++')}", f"#!/bin/sh\necho '{version}'\n")
                file.chmod(0o755)

        path = f"{self.scratch}/bin:/no-twin"
        make(cc="cc 1.0", c99="c99 1.0", musl_gcc="musl-gcc 1.0", mycc="my clang version 3")
        for compiler, twin in WITHOUT_TWIN:
            self.expect_equal(self.counterpart("c++", compiler, path), twin, compiler)
        make(cxx="c++ 1.0", musl_gxx="musl-g++ 1.0")
        for compiler, twin in WITH_TWIN:
            self.expect_equal(self.counterpart("c++", compiler, path), twin, compiler)

    @long_test
    def test_one_rule_everywhere(self):
        """The Makefiles and simcc agree: on the compiler, and on the folder where its library is.

        Kills: a = in its name, with which no rule for a changed header is read, and old objects stay in a library."""
        for folder in (HOME, HOME / "bench"):
            for cc, cxx, name, cxx_name in COMPILER_NAMES:
                command = makefile_value(folder, "$(CXX),$(COMPILER),$(CXX_COMPILER)")
                wanted = f"{cxx},{name},{cxx_name}"
                got = self.output_of(["env", "-u", "CXX", f"CC={cc}", *command])
                self.expect_equal(got, wanted, f"{folder}, CC in the environment")
                got = self.output_of(["env", "-u", "CC", "-u", "CXX", *command, f"CC={cc}"])
                self.expect_equal(got, wanted, f"{folder}, CC on the command line")
        self.write("a.cu", "int main() { return 0; }")
        build = self.scratch / "build"
        build.mkdir()
        command = ["env", "-u", "CXX", f"SIM_BUILD={build}", f"CC=env LANG=C {FIRST.cc} -g0"]
        self.output_of([*command, HOME / "simcc", "a.cu", "-o", "a"])
        self.output_of([*RUNNER, self.scratch / "a"])
        built = sorted(path.parent.name for path in build.glob("*/libsim.a"))
        self.expect_equal(built, [f"env_LANG_C_{FIRST.folder.parent.name}_-g0"], "folders of libraries")

    def toolchain_of(self, home: Path) -> set[str]:
        # toolchain.mk alone, as the course's Makefiles and anybody's include it
        command = ["make", "-s", "-f", home / "toolchain.mk", "--eval", "print:;@echo $(TOOLCHAIN)", "print"]
        return set(self.output_of(command).split())

    def test_programs_depend_on_all_of_it(self):
        """A program is made anew when anything changes that it was made with, in whatever folder that lies."""
        files, listed = own_files(), self.toolchain_of(HOME)
        for path in files:
            self.expect(str(path) in listed, f"TOOLCHAIN has no {path}")
        self.assertGreater(len(files), 80)
        copy = self.scratch / "copy"
        shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("build", "bench", "tests"))
        header = copy / "include/new/folder/header"
        header.parent.mkdir(parents=True)
        header.touch()
        compiled = copy / "machine/__pycache__/loops.pyc"  # whoever imports it writes it
        compiled.parent.mkdir(exist_ok=True)
        compiled.touch()
        listed = self.toolchain_of(copy)
        self.expect(str(header) in listed, "a new folder is not in TOOLCHAIN")
        self.expect(str(compiled) not in listed, "what Python has compiled is in TOOLCHAIN")

    def test_a_changed_header_leaves_nothing_stale(self):
        """What make itself says of a changed file, by -W."""

        def remade(*changed: str) -> str:
            # The file that names the compiler's version is looked at each time: here it is old.
            options = ["-o", FIRST.folder.parent / "sim" / "compiler", *[f"-W{HOME / name}" for name in changed]]
            return self.output_of(["make", "-n", "--no-print-directory", "-C", HOME, *MAKE_CC, *options, "lib"])

        self.output_of(["make", "-s", "-C", HOME, *MAKE_CC, "lib"])
        self.expect_in("Nothing to be done", remade(), "with no change")
        engine = remade("include/vector_types.h")
        self.expect(re.search(r"engine/\S*memory", engine), f"no engine file that includes it in {engine}")
        self.expect_in("selftest", remade("include/cuda/atomic"), "the self-test")
        for folder in ("driver", "front", "include/sim_cuda"):
            first = min(path for path in (HOME / folder).iterdir() if path.is_file())
            self.expect_in("selftest", remade(str(first.relative_to(HOME))), f"the self-test, for {first}")

    def test_processes_that_run_at_once_or_are_ended(self):
        """A signal between the end of a command and what follows: there is no process to end, and nothing is said.
        Nothing runs on behind what failed. Kills: a compilation that is given up and writes beside the next one."""
        for text, status in ((INTERRUPTED, 143), (GIVEN_UP, 0)):
            done = run([sys.executable, "-B", "-c", f"import os\nfrom driver import process\n{text}"], cwd=HOME)
            self.expect_equal((done.status, done.out, done.err), (status, "", ""), text)
