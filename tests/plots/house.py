"""What the suites of this part share: the tools, run; a directory of their own; files with a fault planted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import case
from case import ROOT
from lib import table  # noqa: F401


def run(*command: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command's result; its output as text. A tool of this tree runs with this interpreter."""
    words = [str(word) for word in command]
    if words[0].startswith(str(ROOT / "tools")):
        words.insert(0, sys.executable)
    return subprocess.run(
        words, cwd=cwd, env={**os.environ, **environment}, capture_output=True, encoding="utf-8", check=False
    )


def planted(path: Path, old: str, new: str, line: str = "", nth: int = 1) -> str:
    """The text of a file with the n-th appearance of `old`, at or after the line that begins with `line`, replaced."""
    text = path.read_text(encoding="utf-8")
    at = 0 if text.startswith(line) else text.index(f"\n{line}")
    for _ in range(nth):
        at = text.index(old, at + 1 if at else 0)
    return text[:at] + new + text[at + len(old) :]


class Case(case.Case):
    def assert_one_line(self, done: subprocess.CompletedProcess[str], status: int, what: str) -> None:
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*\n\Z")
        self.assertIn(what, done.stderr)
