"""On a GPU: each chapter's program over the cases of cases.tsv, which it verifies itself. `make test DEVICE=cuda`; the
programs are those of the chapters, built for it."""

from __future__ import annotations

import subprocess
import unittest
from pathlib import Path

from lib import table
from lib.gpu import verify

ROOT = Path(__file__).resolve().parents[2]


class Chapters(unittest.TestCase):
    def verify(self, chapter: str) -> None:
        verdicts = verify.verify(ROOT, [chapter], seconds=380)
        wrong = [f"{each.options}: {each.verdict}: {each.said}" for each in verdicts if not each.right]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(verdicts)} cases of {chapter}")

    def test_gpu(self) -> None:
        self.verify("00_gpu")

    def test_naive(self) -> None:
        self.verify("01_naive")

    def test_online_softmax(self) -> None:
        self.verify("02_online_softmax")

    def test_tiled_matmul(self) -> None:
        self.verify("03_tiled_matmul")

    def test_fa1(self) -> None:
        self.verify("04_fa1")

    def test_fa2(self) -> None:
        self.verify("05_fa2")

    def test_backward(self) -> None:
        self.verify("06_backward")

    def test_transformer(self) -> None:
        self.verify("07_transformer")

    def test_decode(self) -> None:
        self.verify("08_decode")

    def test_variants(self) -> None:
        self.verify("09_variants")

    def test_pipeline(self) -> None:
        self.verify("10_pipeline")

    def test_every_case_is_of_a_chapter_above(self) -> None:
        chapters = {case["chapter"].split("_", 1)[1] for case in table.read(verify.CASES).records()}
        tested = {name[len("test_") :] for name in dir(self) if name.startswith("test_")}
        self.assertEqual(chapters - tested, set())

    def test_a_tile_that_does_not_fit(self) -> None:
        """Over the GPU's shared memory: refused before anything is launched."""
        command = [ROOT / "04_fa1/fa1", "--kernel", "fa1_paper", "--tile-k", "2048"]
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("shared memory", run.stderr)
