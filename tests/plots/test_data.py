"""The data that the pictures and tables show: complete, consistent, and from somewhere. And the check itself."""

from __future__ import annotations

import re
import unittest

import data_check
from house import ROOT, Case, planted, table

DATA = ROOT / "plots/data"
FILES = sorted(DATA.glob("*/*.tsv"))


class Data(unittest.TestCase):
    def test_every_file_is_consistent(self) -> None:
        self.assertGreaterEqual(len(FILES), 8, "no data in plots/data: make bench")
        for path in FILES:
            with self.subTest(path):
                self.assertEqual(data_check.check(path, path.parent.name, path.stem), "")

    def test_the_simulated_bench_is_complete(self) -> None:
        for name in [*data_check.SWEEPS, *data_check.OTHERS]:
            with self.subTest(name):
                self.assertEqual(data_check.check_points(DATA / f"sim/{name}.tsv", name), "")

    def test_tells_where_it_comes_from(self) -> None:
        """From a clean tree, and of no machine that could be recognized."""
        for path in FILES:
            with self.subTest(path):
                self.assertRegex(table.read(path).notes["commit"], "^[0-9a-f]+$")
                self.assertIsNone(re.search("/home|/root|/tmp", path.read_text()), "a path of one machine")


class Check(Case):
    def test_finds_what_is_planted(self) -> None:
        naive, blocks, model = (DATA / f"sim/{name}.tsv" for name in ("01_naive", "blocks", "07_transformer"))
        first, second = table.read(naive).records()[:2]
        elements = f"\t{first['model_elements']}\t"  # the first is model_elements, the second counted_elements
        for path, old, new, nth, what in (
            (naive, "# commit: ", "# comment: ", 1, "commit"),
            (naive, "# date: 20", "# date: 1", 1, "date"),
            (naive, "# units: ", "# unit: ", 1, "units"),
            (naive, "# device: sim", "# device: cuda", 1, "in sim lies data of"),
            (naive, "\tmedian_ms", "\tmean_ms", 1, "times"),
            (naive, "\tyes\t", "\tno\t", 1, "verified is 'no'"),
            (naive, "\tyes\t", "\tyes\tyes\t", 1, "cells"),
            (naive, "\tmeasured-cpu", "\tmeasured-gpu", 3, "row 3, naive: time_kind"),
            (naive, second["max_abs"], "0.01", 1, "error 0.01"),
            (naive, second["p90_ms"], "1e-9", 1, "times"),
            (naive, first["median_ms"], "0x1", 1, "times"),
            (naive, elements, "\t98305\t", 1, "by its kind 98304"),
            (naive, elements, "\t98305\t", 2, "counted 98305"),
            (naive, f"\t{first['footprint_read_bytes']}\t", "\t1\t", 1, "bytes in all"),
            (blocks, "\t49\n", "\t48\n", 1, "units 48"),
            (model, "\t294912\t", "\t294913\t", 4, "row 1, rms_norm: model_elements 294913"),  # the first in elements
        ):
            with self.subTest(what):
                copy = self.scratch / path.name
                copy.write_text(planted(path, old, new, nth=nth))
                self.assertIn(what, data_check.check(copy, "sim", path.stem))

    def test_finds_a_missing_and_a_doubled_point(self) -> None:
        for name in ("05_fa2", "blocks"):
            *lines, before, last = (DATA / f"sim/{name}.tsv").read_text().splitlines(keepends=True)
            instead = [[*lines, before, before]] if name == "05_fa2" else []  # of the others only the number is known
            for changed in ([*lines, before, last, last], [*lines, before], *instead):
                (self.scratch / "changed.tsv").write_text("".join(changed))
                self.assertNotEqual(data_check.check_points(self.scratch / "changed.tsv", name), "")
