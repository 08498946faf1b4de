"""Of the programs that speak with --prompt: chapters 07 and 08."""

from __future__ import annotations

import json
import os
import unittest
from pathlib import Path
from typing import Any

from case import ROOT, Case, Outcome, run

TINY = ROOT / "tests/data/tiny_model/tiny.bin"  # committed; speaks nonsense
REAL = ROOT / "models/SmolLM2-135M-Instruct.Q4_1.bin"


def real_model(variable: str) -> Path:
    """What the variable names, else REAL; a test that has none is skipped, and says so."""
    model = Path(os.environ.get(variable) or REAL)
    if not os.access(model, os.R_OK):
        raise unittest.SkipTest("the real model is not there (make model)")
    return model


class Speech(Case):
    program: Path

    def said(self, prompt: str, options: str = "", model: Path = TINY, seconds: float = 120) -> Outcome:
        return run([self.program, "--model", model, "--prompt", prompt, *options.split()], seconds=seconds)

    def answer(self, prompt: str, options: str = "", **of: Any) -> dict[str, Any]:
        """Its JSON, alone on standard output; verified."""
        done = self.said(prompt, f"--json - {options}", **of)
        self.assertEqual(done.status, 0, f"'{prompt}' {options}: {done.err}")
        told = json.loads(done.out)
        self.assertTrue(told["verified"], f"'{prompt}' {options}")
        self.assertLessEqual(told["logits_error"], 1e-3)
        return told
