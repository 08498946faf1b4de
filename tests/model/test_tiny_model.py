"""tests/data/tiny_model: make.py makes what is committed, and common/model reads from it what make.py put in."""

from __future__ import annotations

import re
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from model_files import ROOT, TINY, encode, files, run

HERE = ROOT / "tests/data/tiny_model"


def golden() -> list[tuple[list[int], list[int]]]:
    lines = (HERE / "golden.tsv").read_text().splitlines()
    return [tuple([int(word) for word in part.split()] for part in line.split("\t")) for line in lines]


class TinyModel(unittest.TestCase):
    def test_is_made_again_byte_for_byte(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            done = run([sys.executable, HERE / "make.py", scratch])
            self.assertEqual((done.status, done.err), (0, ""))
            for name in ("tiny.bin", "golden.tsv", "golden.f32", "tokens.tsv"):
                self.assertEqual((Path(scratch) / name).read_bytes(), (HERE / name).read_bytes(), name)

    def test_golden_prompts_are_tokenised_so(self) -> None:
        prompts = [ids for ids, _ in golden()]
        texts = ["How do plants make food?", "The kernel", "  Why is\n\nthe sky 2 blue?"]
        self.assertEqual(encode(TINY, texts), prompts[:3])
        chat = files("chat", TINY, "-", texts[0]).out.split()[1:]
        self.assertEqual([int(word) for word in chat], prompts[3])

    def test_golden_logits_are_of_golden_tokens(self) -> None:
        """Each greedy token is the largest logit of its row, with a margin far above a forward pass's error."""
        raw = (HERE / "golden.f32").read_bytes()
        values = struct.unpack(f"<{len(raw) // 4}f", raw)
        rows = [values[i : i + 320] for i in range(0, len(values), 320)]
        self.assertEqual(len(rows), 4 * len(golden()))
        for i, (_, greedy) in enumerate(golden()):
            for row, token in zip(rows[4 * i :], greedy):
                first, second = sorted(row, reverse=True)[:2]
                self.assertEqual(row[token], first)
                self.assertGreater(first - second, 0.02)

    def test_the_programs_look_for_it_where_it_is(self) -> None:
        header = (ROOT / "common/model/language_model.h").read_text()
        names = re.findall(r'^#define (?:REAL|TINY)_MODEL +"(.+)"$', header, re.MULTILINE)
        self.assertEqual(len(names), 2)
        self.assertTrue((ROOT / names[1]).exists())
        self.assertIn(f'"{names[0]}"', (ROOT / "tools/model").read_text())
