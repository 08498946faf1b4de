"""The data that the pictures and tables show: complete, consistent, and from somewhere."""

from __future__ import annotations

import re
import unittest

import data_check
from case import ROOT, Case
from lib import table

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
    # A file, a column, what is written into its first row (of a note: for the whole line); the rule that says so.
    PLANTED = (
        ("01_naive", "# commit", "", "# commit"),
        ("01_naive", "# date", "yesterday", "# date"),
        ("01_naive", "# device", "cuda, a GPU", "in sim lies data of"),
        ("01_naive", "verified", "no", "verified"),
        ("01_naive", "max_abs", "0.01", "error"),
        ("01_naive", "max_abs_O", "0.01", "error of a tensor"),
        ("01_naive", "time_kind", "measured-gpu", "time_kind"),
        ("01_naive", "p90_ms", "1e-9", "times"),
        ("01_naive", "model_elements", "98305", "model"),
        ("01_naive", "counted_elements", "98305", "counted"),
        ("01_naive", "footprint_read_bytes", "1", "bytes in all"),
        ("05_fa2", "footprint_read_bytes", "1e12", "footprint"),
        ("01_naive", "read_sectors", "1", "sectors"),
        ("05_fa2", "ideal_wavefronts", "1e12", "wavefronts"),
        ("05_fa2", "shared_conflicts", "1e12", "wavefronts"),
        ("01_naive", "blocks", "0", "blocks"),
        ("01_naive", "floor_ms", "0", "floor"),
        ("01_naive", "flop", "0", "flop"),
        ("blocks", "units", "48", "units"),
    )

    def test_finds_what_is_planted(self) -> None:
        for name, column, cell, rule in self.PLANTED:
            with self.subTest(name, column=column):
                data = table.read(DATA / f"sim/{name}.tsv")
                if column.startswith("# "):
                    key = f"{column[2:]}:"
                    data.about = [f"{key} {cell}" if line.startswith(key) else line for line in data.about]
                else:
                    data.rows[0][data.columns.index(column)] = cell
                table.write(self.scratch / "x.tsv", data.about, data.columns, data.rows)
                said = data_check.check(self.scratch / "x.tsv", "sim", name)
                self.assertRegex(said, f"(?m)(^|: ){rule}( '.*)?$")

    def test_finds_a_missing_and_a_doubled_point(self) -> None:
        for name in ("05_fa2", "blocks"):
            *lines, before, last = (DATA / f"sim/{name}.tsv").read_text().splitlines(keepends=True)
            for changed in ([*lines, before, last, last], [*lines, before]):
                (self.scratch / "x.tsv").write_text("".join(changed))
                self.assertNotEqual(data_check.check_points(self.scratch / "x.tsv", name), "")
