"""Values, tolerances and bounds of rows of small problems, all of them. Kills: a tolerance that is too wide or narrow
for what verify/tolerance.h derives, which no run of a right kernel shows. REMAKE=1 writes the file anew: each number
of its difference is to be explained."""

from __future__ import annotations

from pathlib import Path

import golden
from case import BUILD, Case, run


class Expectations(Case):
    def test_every_number(self) -> None:
        printed = run([BUILD / "harness/programs/expectations"])
        self.assertEqual((printed.status, printed.err), (0, ""))
        found = printed.out.splitlines()
        self.assertEqual(golden.changes(Path(__file__).with_name("expectations.txt"), found), "")
