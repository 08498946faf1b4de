"""What the Makefiles of the course take from simcc/toolchain.mk: the compilers, and what a program is made of."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

from case import BUILD, ROOT, Case, run

# CC, then CXX, the name of the build and the one of simcc's library.
COMPILERS = {
    "gcc": "g++,gcc,g++",
    "clang-15": "clang++-15,clang-15,clang++-15",
    "ccache gcc": "ccache g++,ccache_gcc,ccache_g++",
    "/usr/bin/gcc-12 -m64": "/usr/bin/g++-12 -m64,gcc-12_-m64,g++-12_-m64",
}


def make(folder: str, *words: str | Path, without: tuple[str, ...] = (), **variables: str) -> tuple[int, str]:
    unset = [word for name in without for word in ("-u", name)]
    done = run(["env", *unset, "make", "-C", ROOT / folder, *words], MAKEFLAGS="", MAKELEVEL="", **variables)
    return done.status, done.out


def compilers() -> list[str]:
    return [f"{name}={os.environ[name]}" for name in ("CC", "CXX") if name in os.environ]


class Toolchain(Case):
    def test_one_rule_everywhere(self) -> None:
        """The Makefiles and simcc agree: on the compiler, and on the folder where its library is."""
        shown = ["--eval", "print:;@echo $(CXX),$(COMPILER),$(CXX_COMPILER)", "print", "-s"]
        for folder, (CC, says) in itertools.product(("01_naive", "tests", "plots"), COMPILERS.items()):
            told = make(folder, f"CC={CC}", *shown, without=("CC", "CXX"))
            heard = make(folder, *shown, without=("CXX",), CC=CC)
            self.assertEqual((told, heard), ((0, f"{says}\n"),) * 2, f"{folder}: {CC}")

    def test_programs_depend_on_all_of_it(self) -> None:
        """A program is made anew when anything changes that it was made with, in whatever folder that lies."""
        files = set()
        for folder, folders, names in os.walk(ROOT / "simcc"):
            folders[:] = set(folders) - {"bench", "build", "tests", "__pycache__"}  # build: where files come and go
            files |= {os.path.relpath(Path(folder, name), ROOT) for name in names if not name.endswith(".md")}
        _, database = make("01_naive", "-pn", "DEVICE=sim", *compilers())
        needed = re.search(r"(?m)^naive\.fast: (.*)$", database)[1].split()
        needed = {os.path.relpath(ROOT / "01_naive" / name, ROOT) for name in needed}
        self.assertEqual(files - needed, set())
        self.assertGreater(len(files), 80)

    def test_a_changed_header_leaves_nothing_stale(self) -> None:
        """What make itself says of a changed header, by -W: an object of the harness."""
        ask = ["-s", "-q", *compilers(), "DEVICE=sim", BUILD.parent / "sim/common/run/run.o"]
        self.assertEqual(make("01_naive", *ask)[0], 0, "it is there, and up to date")
        self.assertEqual(make("01_naive", *ask, "-W", ROOT / "simcc/include/driver_types.h")[0], 1)
