"""The session with gdb that chapter 00 shows. Kills: a page that shows what gdb does not answer."""

from __future__ import annotations

import re
import shutil
import unittest

import support
from case import ROOT, run

PAGE = ROOT / "00_gpu/README.md"
MAIN = """#include "gpu.h"
int main()
{
	struct matrix m = {0};
	m.rows = 1, m.cols = 512;
	float *x, *y;
	cudaMalloc(&x, 2048), cudaMalloc(&y, 4), cudaMemset(x, 0, 2048);
	m.x = x, m.y = y;
	return launch_sum(m);
}
"""


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

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_the_kernel_that_it_goes_on_with(self) -> None:
        """Kills: a line, or a thread, of which the page says what is not so."""
        text = " ".join(PAGE.read_text().partition("### Stop in a kernel\n")[2].partition("\n## ")[0].split())
        stop, options, focus = re.search(r"type `(break \S+)` and `run (.+?)`\. There `(cuda .+?)`", text).groups()
        barrier = re.search(r"which stands at line (\d+)", text)[1]
        self.write("main.cu", MAIN)
        folders = ["-I", ROOT / "common", "-I", ROOT / "00_gpu"]
        shutil.copy(ROOT / "00_gpu/7_sum.cu", self.scratch)
        built = support.simcc(support.FIRST, ["-g", *folders, "7_sum.cu", "main.cu", "-o", "gpu"], cwd=self.scratch)
        self.assertEqual((built.status, built.err), (0, ""))
        script = self.write("session", f"{stop}\nrun {options}\ninfo cuda threads\n{focus}\n")
        safe = ["-iex", "add-auto-load-safe-path /"]
        outcome = run(["gdb", "-q", "-batch", *safe, "-x", script, "./gpu"], cwd=self.scratch, seconds=60)
        self.assertIn(f"(1,0,0) to (255,0,0) has passed the barrier at 7_sum.cu:{barrier}\n", outcome.out, outcome.err)
        self.assertRegex(outcome.out, rf"\n#\d+ .* in sum \(.* at .*7_sum\.cu:{barrier}\n", outcome.err)
