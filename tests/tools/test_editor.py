"""An editor: clangd's commands (make editor) read every kernel without a message, and the problem matchers of
.vscode/tasks.json find the place of each report that the device and the compilers print."""

from __future__ import annotations

import json
import re
import shutil
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from case import ROOT, Case, run
from lib.chapters import PROGRAMS

BROKEN = ROOT / "simcc/tests/broken_kernels"
# Headlines of one line to three, and three of the checks.
REPORTS = ("mem_off_by_one", "race_fa_tile_loop", "init_ragged_tile", "mem_static_shared")


def commands() -> list[dict[str, str]]:
    return [
        json.loads(line)
        for chapter in PROGRAMS
        for line in run(["make", "--no-print-directory", "-s", "-C", ROOT / chapter, "commands"]).out.splitlines()
    ]


def said_of(command: str, source: str, shown: Path) -> str:
    return run([*command.split()[:-2], "-fsyntax-only", source], cwd=shown).err


def found(matcher: dict, lines: list[str]) -> set[tuple[str, int]]:
    """The places that VS Code marks: each pattern matches the line behind that of the one before."""
    patterns = matcher["pattern"] if isinstance(matcher["pattern"], list) else [matcher["pattern"]]
    places = set()
    for first in range(len(lines)):
        matches = [re.search(p["regexp"], line) for p, line in zip(patterns, lines[first:], strict=False)]
        if len(matches) == len(patterns) and all(matches):
            places.add((matches[-1][patterns[-1]["file"]], int(matches[-1][patterns[-1]["line"]])))
    return places


@unittest.skipUnless(shutil.which("clang++"), "no clang++")
class Commands(Case):
    def test_every_kernel_is_read_without_a_message_and_a_mistake_with_one(self) -> None:
        kernels = [each for each in commands() if each["file"].endswith((".cu", ".cuh"))]
        files = {str(path) for name in PROGRAMS for path in (ROOT / name).glob("*.cu*")}
        self.assertEqual({each["file"] for each in kernels}, files)
        with ThreadPoolExecutor() as pool:
            said = pool.map(lambda each: said_of(each["command"], each["file"], ROOT), kernels)
        self.assertEqual([text for text in said if text], [])
        (command,) = (each["command"] for each in kernels if each["file"].endswith("05_fa2/row.cu"))
        text = (ROOT / "05_fa2/row.cu").read_text()
        for old, new in (("__syncthreads();", "__syncthread();"), ("blockDim.x", "blockDim.w")):
            self.assertIn(old, text)
            (self.scratch / "own.cu").write_text(text.replace(old, new, 1))
            self.assertIn("own.cu:", said_of(command, "own.cu", self.scratch))


class ProblemMatchers(Case):
    def test_each_place_that_is_printed_is_found(self) -> None:
        """Of the device's reports, and of what compilers say; one screen, whichever task it is of."""
        tasks = json.loads((ROOT / ".vscode/tasks.json").read_text())["tasks"]
        matchers, *others = [task["problemMatcher"] for task in tasks if task["problemMatcher"]]
        for other in others:
            self.assertEqual([m["pattern"] for m in other], [m["pattern"] for m in matchers])
        texts = {'own.cu(3): error: identifier "y" is undefined\n': {("own.cu", 3)}}
        simcc, own = ROOT / "simcc/simcc", self.scratch / "own.cu"
        for name in REPORTS:
            program = self.scratch / name
            self.assertEqual(run([simcc, f"{name}.cu", "-o", program], cwd=BROKEN).status, 0)
            text = run([program]).err
            places = re.findall(r"^=========     at .*?([^ ]+):(\d+)$", text, re.MULTILINE)
            texts[text] = {(file, int(line)) for file, line in places}
        own.write_text("__global__ void k(int *x)\n{\n\tx[0] = y;\n}\n")
        for cc, cxx in (("gcc", "g++"), ("clang", "clang++")):
            if shutil.which(cxx):
                texts[run([simcc, "-c", "own.cu"], cwd=self.scratch, CC=cc, CXX=cxx).err] = {("own.cu", 3)}
        for text, expected in texts.items():
            self.assertTrue(expected, text)
            self.assertEqual(set().union(*(found(each, text.splitlines()) for each in matchers)), expected, text)
