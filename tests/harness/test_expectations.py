"""Values, tolerances and bounds of rows of small problems, all of them. Kills: a tolerance that is too wide or narrow
for what verify/tolerance.h derives, which no run of a right kernel shows. REMAKE=1 writes the file anew: each number
of its difference is to be explained."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "simcc/tests"))

import golden
from case import BUILD, Case, run


class Expectations(Case):
    def test_every_number(self) -> None:
        printed = run([BUILD / "harness/programs/expectations"])
        self.assertEqual((printed.status, printed.err), (0, ""))
        found = printed.out.splitlines()
        self.assertEqual(golden.changes(Path(__file__).with_name("expectations.txt"), found), "")


if __name__ == "__main__":
    unittest.main()
