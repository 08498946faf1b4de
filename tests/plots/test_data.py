"""The data that the pictures and tables show: complete, consistent, and from somewhere."""

from __future__ import annotations

import re
import unittest

import data_check
from case import ROOT
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
