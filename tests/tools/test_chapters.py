"""A new chapter is found: `make test` turns red with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from case import ROOT, Case, run
from lib.chapters import programs_of

COMPILER = os.environ.get("CC") or "gcc"


class Chapters(Case):
    def test_a_tenth_chapter_that_fails_turns_make_test_red(self) -> None:
        """Kills a `make test` that goes through the chapters it knows: 0*_*."""
        tree = self.scratch / "course"
        built = f"build/{Path(COMPILER).name}/sim/common"  # nothing there is built anew
        for name in (
            "Makefile",
            "common",
            "simcc",
            "classroom/handout.mk",
            "tools/maintain.mk",
            *filter(lambda name: (ROOT / name).exists(), [built]),
        ):
            source, target = ROOT / name, tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            ignored = shutil.ignore_patterns("tests", "__pycache__")
            shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy2(source, target)
        (tree / "tests").mkdir()
        (tree / "tests/Makefile").write_text("build test:\n")
        chapter = tree / "10_x"
        shutil.copytree(ROOT / "01_naive", chapter, ignore=shutil.ignore_patterns("naive", "*.fast", "*.tsv", "*.html"))
        makefile = chapter / "Makefile"
        makefile.write_text(makefile.read_text().replace("NAME := naive", "NAME := x"))
        self.assertEqual(programs_of(tree), {"10_x": "x"})
        command = ["make", "test", "DEVICE=sim", f"CC={COMPILER}"]
        made = run(command, cwd=tree, seconds=300)
        self.assertEqual(made.status, 0, made.out + made.err)
        self.assertIn("the shapes of 1 chapters: passed", made.out)

        kernels = chapter / "naive.cu"
        wrong = kernels.read_text().replace("float sum = 0.0f;", "float sum = 0.5f;", 1)
        self.assertNotEqual(wrong, kernels.read_text())
        kernels.write_text(wrong)
        made = run(command, cwd=tree, seconds=300)
        self.assertNotEqual(made.status, 0, made.out)
        self.assertIn("make test: failed in 10_x", made.out)
