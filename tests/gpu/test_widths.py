"""The course's kernels counted as nvcc's machine code (tools/widths, gpu/widths): what is kept is what the programs say
now, and what is planted wrong is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from lib import table
from lib.chapters import PROGRAMS
from lib.nvcc import checksum_of

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "gpu/widths"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
NVDISASM = os.environ.get("NVDISASM") or shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm")
QUICK = ("01_naive", "03_tiled_matmul", "05_fa2")


def widths(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"env": {**os.environ, "MAKEFLAGS": "", **environment}, "capture_output": True, "text": True}
    return subprocess.run([ROOT / "tools/widths", *arguments], check=False, timeout=300, **settings)


class Committed(unittest.TestCase):
    def test_every_chapter_has_its_files(self) -> None:
        for end in ("tsv", "jsonl"):
            self.assertEqual(sorted(path.stem for path in FOLDER.glob(f"*.{end}")), sorted(PROGRAMS))

    def test_the_page_is_what_the_files_say(self) -> None:
        done = widths("page", "--check")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_every_access_is_joined_or_has_a_reason(self) -> None:
        for chapter in PROGRAMS:
            rows = table.read(FOLDER / f"{chapter}.tsv").records()
            self.assertTrue(rows, chapter)
            for row in rows:
                known = row["machine_requests"] != "NaN"
                self.assertEqual(known, row["joined"] == "1", f"{chapter} {row}")
                self.assertNotEqual(row["how"], "-", f"{chapter} {row}")

    def test_what_the_text_says_of_the_kernels(self) -> None:
        """nvcc makes one load of 16 bytes of four of a row's, which takes two wavefronts."""
        for chapter, kernel, loads, wavefronts in (
            ("04_fa1", "fa1_row", 4, 2),
            ("05_fa2", "fa2_row", 4, 2),
        ):
            rows = table.read(FOLDER / f"{chapter}.tsv").records()
            mine = [row for row in rows if (row["kernel"], row["space"], row["op"]) == (kernel, "shared", "load")]
            for metric, merged in (("requests", loads), ("wavefronts", wavefronts)):
                source, machine = (sum(int(row[f"{side}_{metric}"]) for row in mine) for side in ("source", "machine"))
                self.assertEqual(source, merged * machine, f"{kernel} {metric}")

    def test_the_programs_count_what_was_kept(self) -> None:
        """Of all chapters the sources; of a few, all when thorough, the counts."""
        changed = []
        for chapter in PROGRAMS:
            sources = sorted(path.name for path in (ROOT / chapter).glob("*.cu"))
            here = Path.cwd()
            try:
                os.chdir(ROOT / chapter)
                checksum = checksum_of(sources)
            finally:
                os.chdir(here)
            if f", {checksum};" not in table.read(FOLDER / f"{chapter}.tsv").title:
                changed.append(chapter)
        if changed and not (NVCC and NVDISASM):
            self.skipTest(f"the kernels of {', '.join(changed)} have changed; make widths needs nvcc and nvdisasm")
        self.assertEqual(changed, [], "run make widths")
        done = widths("check", *(PROGRAMS if os.environ.get("LONG") else QUICK))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Planted(unittest.TestCase):
    """A copy of the files with one thing wrong."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name) / "widths"
        shutil.copytree(FOLDER, self.folder)

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text()
        self.assertTrue(before in text, f"{name}: no {before}")
        path.write_text(text.replace(before, after, 1))

    def check(self, *chapters: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return widths("check", *chapters, "--folder", self.folder, **environment)

    def test_another_width(self) -> None:
        self.edit("05_fa2.jsonl", '"op":"load","bits":128', '"op":"load","bits":64')
        done = self.check("05_fa2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"05_fa2.tsv: stale, run make widths; now: fa2_\w+\t64\t")

    def test_the_loops_of_another_program(self) -> None:
        shutil.copy(self.folder / "01_naive.jsonl", self.folder / "05_fa2.jsonl")
        done = self.check("05_fa2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no machine code of this kernel in the file", done.stdout)

    def test_a_changed_source_needs_nvcc(self) -> None:
        self.edit("01_naive.tsv", "checksum ", "checksum 1")
        done = self.check("01_naive", NVCC="none", NVDISASM="none")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
        self.assertIn("none: No such file or directory", done.stderr)

    @unittest.skipUnless(NVCC, "no nvcc: it was not tried without nvdisasm")
    def test_a_changed_source_needs_nvdisasm(self) -> None:
        for given, says in (("none", "NVDISASM=none: expected a program"), ("false", "false cannot read what nvcc")):
            done = self.check("--compile", "03_tiled_matmul", NVDISASM=given)  # which has many sources, and one line
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
            self.assertIn(says, done.stderr)

    def test_files_that_are_not_as_expected(self) -> None:
        for name, says in (("README.md", "expected"), ("05_fa2.jsonl", "05_fa2.jsonl:1: expected a line of simcc")):
            with self.subTest(name):
                shutil.copy(ROOT / "LICENSE", self.folder / ("05_fa2.tsv" if name == "README.md" else name))
                if name != "README.md":
                    shutil.copy(FOLDER / "05_fa2.tsv", self.folder)
                    self.edit(name, "", "{")
                done = self.check("05_fa2")
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(says, done.stderr)

    def test_usage(self) -> None:
        for arguments in (["check"], ["check", "99_none"], ["look"], []):
            done = widths(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            self.assertRegex(done.stderr, r"\Awidths: ")

    def test_a_page_that_was_edited(self) -> None:
        page = self.folder / "README.md"
        page.write_text(re.sub(r"\d+ are joined", "all are joined", page.read_text()))
        done = widths("page", "--check", "--folder", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md: stale, run make widths", done.stdout)


if __name__ == "__main__":
    unittest.main()
