"""tests/data/tiny_model: make.py makes what is committed, and the programs find it."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

from model_files import ROOT, run

HERE = ROOT / "tests/data/tiny_model"


class TinyModel(unittest.TestCase):
    def test_is_made_again_byte_for_byte(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            done = run([sys.executable, HERE / "make.py", scratch])
            self.assertEqual((done.status, done.err), (0, ""))
            for name in ("tiny.bin", "golden.tsv", "golden.f32"):
                self.assertEqual((Path(scratch) / name).read_bytes(), (HERE / name).read_bytes(), name)

    def test_the_programs_look_for_it_where_it_is(self) -> None:
        header = (ROOT / "common/model/language_model.h").read_text()
        names = re.findall(r'^#define (?:REAL|TINY)_MODEL +"(.+)"$', header, re.MULTILINE)
        self.assertEqual(len(names), 2)
        self.assertTrue((ROOT / names[1]).exists())
        self.assertIn(f'"{names[0]}"', (ROOT / "tools/model").read_text())
