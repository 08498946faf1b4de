"""Other C libraries than this machine's. What CUDA has and C has not, a newer library may declare (glibc 2.41 sinpi,
2.42 rsqrt), and an older one lacks what we take from it: a made-up newer and a made-up older one stand in for both."""

import re
from collections.abc import Sequence
from pathlib import Path

from support import FIRST, HOME, LONG, TESTS, Case, Program, program, run

FOLDER = TESTS / "c_library"
NEWER = f"-I{FOLDER}/newer"


def names(way: str, *options: str, builds: Sequence[str] = ("-O2",)) -> list[Program]:
    """names.cu with these options, counted or --fast; with LONG=1 both."""
    builds = ("-O2", "--fast") if LONG else builds
    return [program("c_library/names", *options, build, name=f"names.{way}{build}") for build in builds]


THIS = names("this", builds=("-O2", "--fast")) + names("this.first", "-include", "math.h")
DECLARES = names("newer", NEWER) + names("newer.plain", NEWER, "-DPLAIN", builds=("--fast",))
READ_FIRST = names("newer.first", "-isystem", f"{FOLDER}/newer", "-include", "math.h")
OLDER = names("older", "-U_GNU_SOURCE", "-D_DEFAULT_SOURCE")


class CLibrary(Case):
    def expect_names_work(self, programs: list[Program]) -> None:
        for made in programs:
            outcome = made.run()
            right = outcome.status == 0 and outcome.out.startswith("0 of ")
            self.expect(right, f"{made.name}: {outcome.out}{outcome.err}")

    def test_names_work_with_any(self):
        """This machine's; a newer one, which declares our names or, as a real one would be, is read before our headers
        (-isystem); an older one, which lacks what is not in ISO C."""
        self.expect_names_work(THIS + DECLARES + READ_FIRST + OLDER)

    def test_the_newer_one_declares_all_of_them(self):
        """Of our header's functions with names that a C library may have; those that begin with __ are a sample."""
        header = (HOME / "include/sim_cuda/math.h").read_text()
        functions = re.findall(r"^SIM_C_FUNCTION\([a-z ]*, ([a-z0-9_]*),", header, re.MULTILINE)
        inline = re.findall(r"^SIM_C_INLINE [a-z ]* ([a-z0-9_]*)\(", header, re.MULTILINE)
        declared, calls = (FOLDER / "newer/math.h").read_text(), (FOLDER / "names.cu").read_text()
        for name in functions:
            self.expect(re.search(rf" {name}[(),]", declared), f"the made-up library lacks {name}")
        for name in functions + inline:
            self.expect(f"{name}(" in calls, f"names.cu does not call {name}")
        self.assertGreaterEqual(len(functions + inline), 40)

    def test_the_c_files_compile_with_a_newer_one(self):
        """The engine is C: nothing of its has a name that such a library has."""
        self.compile_files(self.engine(), "-D_GNU_SOURCE", NEWER)

    def test_the_engine_compiles_with_an_older_one(self):
        """The file that calls what not every C library has declares it itself."""
        files = [path for path in self.engine() if "exp10f(" in path.read_text()]
        self.assertTrue(files)
        self.compile_files(files, "-Werror=implicit-function-declaration")

    def engine(self) -> list[Path]:
        return sorted((HOME / "engine").rglob("*.c"))

    def compile_files(self, files: list[Path], *options: str) -> None:
        folders = sorted({path.parent for path in (HOME / "engine").rglob("*.h")} | {HOME, HOME / "engine"})
        include = ["-isystem", HOME / "include", *[f"-I{folder}" for folder in folders]]
        outcome = run([*FIRST.cc.split(), "-fsyntax-only", "-std=gnu11", *options, *include, *files])
        self.expect_equal(outcome.status, 0, outcome.err[:3000])
