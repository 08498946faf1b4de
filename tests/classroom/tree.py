"""Hand-outs for tests, compiled chapter by chapter, without the harness being built again."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from grading import ROOT, Scratch, run
from lib import chapters

# Of the chapters that are handed out.
PROGRAMS = {chapter: program for chapter, program in chapters.PROGRAMS.items() if chapter < "09"}
CC = os.environ.get("CC") or "gcc"
STRICT = ["-Wall", "-Wextra", *(["-Werror"] if os.environ.get("WERROR") else [])]
# Of work that is not finished.
UNUSED = [f"-Wno-unused-{what}" for what in ("variable", "parameter", "but-set-variable", "function")]


class Trees(Scratch):
    built: set[str] = set()  # the course's own chapters

    def try_build(self, tree: Path, chapter: str, *flags: str, sources: Path | None = None) -> tuple[Path, str]:
        """The kernels of a directory with the objects of the course's own chapter, but with the tree's class; and what
        the compiler says where it does not compile."""
        if chapter not in self.built:
            self.succeeded(run("make", "--no-print-directory", "-s", "-C", ROOT / chapter, "build", "DEVICE=sim"))
            self.built.add(chapter)
        objects = ROOT / "build" / CC.split()[-1].rpartition("/")[2] / "sim"
        variant, source = tree / "variant.o", tree / "common/problem/variant.c"
        self.succeeded(run(*CC.split(), "-std=c11", "-D_GNU_SOURCE", f"-I{tree}/common", "-c", source, "-o", variant))
        # Not those that an older build left of files that are gone.
        made = {path.relative_to(ROOT).with_suffix(".o") for path in (ROOT / "common").rglob("*.[cS]")}
        made.add(Path("common/gpus.o"))
        common = [objects / path for path in made if (objects / path).exists() and path.name != "variant.o"]
        handed_out = [path for path in (ROOT / chapter).glob("*.c") if (tree / chapter / path.name).exists()]
        own = [objects / chapter / f"{path.stem}.o" for path in handed_out]
        program = (sources or tree) / f"{PROGRAMS[chapter]}.program"  # a tree has a directory gpu
        compiled = [*sorted((sources or tree / chapter).glob("*.cu")), *own, *common, variant]
        libraries = ["-lm", "-lpthread", "-ldl", "-o", program]
        includes = [f"-I{tree / chapter}", f"-I{tree}/common"]
        done = run(sys.executable, ROOT / "simcc/simcc", *flags, *includes, *compiled, *libraries)
        return program, done.stdout + done.stderr if done.returncode else ""

    def build(self, tree: Path, chapter: str, *flags: str) -> Path:
        program, said = self.try_build(tree, chapter, *flags)
        self.assertEqual(said, "", chapter)
        return program

    def failing(self, program: Path, options: str) -> set[str]:
        """The kernels that do not verify, or have a hazard."""
        everything = json.loads(run(program, *options.split(), "--json", "-").stdout)
        kernels = [each["name"] for each in everything["kernels"]]
        return {name for name in kernels if not self.verifies(program, name, options)}

    def verifies(self, program: Path, kernel: str, options: str) -> bool:
        done = run(program, "--json", "-", "--kernel", kernel, *options.split())
        self.assertIn(done.returncode, (0, 1), f"{program} {kernel} {options}: {done.stderr}")
        entry = json.loads(done.stdout)["kernels"][0]
        self.assertFalse(entry.get("skipped"), f"{kernel} {options}")
        return bool(entry["verified"]) and done.returncode == 0

    def copy_of(self, directory: Path) -> Path:
        copy = Path(tempfile.mkdtemp(dir=self.scratch))
        for path in directory.glob("*.cu*"):
            shutil.copy(path, copy)
        return copy
