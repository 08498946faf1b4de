"""Faults planted in the forward pass of the host (faults_c.edits): `fillings` (programs/fillings.c) finds each with the
entry's options, and says what the entry says. Kills a comparison of the fillings that compares nothing."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from case import BUILD, ROOT, Case, Outcome, run
from lib import edits

FILLINGS = BUILD / "transformer/fillings"
MODEL = {"host": [ROOT / "tests/data/tiny_model"], "grouped": []}


class Host(Case):
    def fill(self, program: Path, what: str) -> Outcome:
        return run([program, what, *MODEL[what]])

    def test_it_is_right(self) -> None:
        for what in MODEL:
            done = self.fill(FILLINGS, what)
            self.assertEqual(done.status, 0, done.out + done.err)

    def test_each_fault_is_found(self) -> None:
        for entry in edits.read(str(Path(__file__).with_name("faults_c.edits"))):
            with self.subTest(entry.name):
                program = BUILD / "transformer/faults_c" / entry.name / "fillings"
                done = self.fill(program, entry.header["options"])
                self.assertEqual(done.status, 1, done.out + done.err)
                wrong = [line for line in done.out.splitlines() if line.endswith(" wrong")]
                self.assertTrue(any(line.startswith(entry.header["says"]) for line in wrong), done.out)


if __name__ == "__main__":
    unittest.main()
