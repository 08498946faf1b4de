"""A new chapter is found: `make test` turns red with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from case import ROOT, Case, run
from lib.chapters import programs_of

COMPILER = os.environ.get("CC") or "gcc"


class Chapters(Case):
    def test_a_chapter_that_fails_turns_make_test_red(self) -> None:
        """Kills a `make test` that goes through the chapters it knows, or on after one that failed."""
        tree = self.scratch / "course"
        built = f"build/{Path(COMPILER).name}/sim/common"  # nothing there is built anew
        for name in ("Makefile", "common", "simcc", "classroom/handout.mk", "tools/maintain.mk", built):
            source, target = ROOT / name, tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("tests", "__pycache__"))
            elif source.exists():
                shutil.copy2(source, target)
        (tree / "tests").mkdir()
        (tree / "tests/Makefile").write_text("build test:\n")
        chapter = tree / "11_x"
        shutil.copytree(ROOT / "01_naive", chapter, ignore=shutil.ignore_patterns("naive", "*.fast", "*.tsv", "*.html"))
        for file, old, new in (("Makefile", "NAME := naive", "NAME := x"), ("naive.cu", "sum = 0.0f;", "sum = 0.5f;")):
            text = (chapter / file).read_text()
            self.assertIn(old, text)
            (chapter / file).write_text(text.replace(old, new, 1))
        self.assertEqual(programs_of(tree), {"11_x": "x"})
        made = run(["make", "test", "DEVICE=sim", f"CC={COMPILER}"], cwd=tree, seconds=300)
        self.assertNotEqual(made.status, 0, made.out)
        self.assertIn("naive: O is wrong", made.out)
        self.assertIn("make test: failed in 11_x", made.out)
