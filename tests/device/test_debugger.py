"""The session with gdb that chapter 00 shows. Kills: a page that shows what gdb does not answer."""

from __future__ import annotations

import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case import ROOT, run

sys.path.insert(0, str(ROOT / "simcc/tests"))

import support

PAGE = ROOT / "00_gpu/README.md"


class Debugger(support.Case):
    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_the_session_of_chapter_00(self) -> None:
        text = PAGE.read_text().partition("### Stop in a kernel\n")[2].partition("\n## ")[0]
        shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].split("(gdb) ")[1:]
        before = re.findall(r"^    \(gdb\) (.*)$", text, re.MULTILINE)
        commands = before + [asked.partition("\n")[0] for asked in shown]
        self.assertGreater(len(commands), 5)
        shutil.copy(ROOT / "00_gpu/first/first.cu", self.scratch)
        outcome = support.simcc(support.FIRST, ["-g", "first.cu", "-o", "first"], cwd=self.scratch)
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        script = self.write("session", "".join(f"echo (gdb) {each}\\n\n{each}\n" for each in commands))
        safe = ["-iex", "add-auto-load-safe-path /"]
        outcome = run(["gdb", "-q", "-batch", *safe, "-x", script, "./first"], cwd=self.scratch, seconds=60)
        answers = outcome.out.split("(gdb) ")[1 + len(before) :]
        self.assertEqual(answers, shown, outcome.err)


if __name__ == "__main__":
    unittest.main()
