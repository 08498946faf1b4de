"""An editor: clangd's commands (make editor) read every kernel without a message, and the problem matchers of
.vscode/tasks.json find the place of each report that the device and the compilers print."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib.chapters import PROGRAMS, ROOT

BROKEN = ROOT / "simcc/tests/broken_kernels"
# Headlines of one line to three, and three of the checks.
REPORTS = ("mem_off_by_one", "race_fa_tile_loop", "init_ragged_tile", "mem_static_shared")


def commands() -> list[dict[str, str]]:
    chapters = subprocess.run(["make", "-s", "chapters"], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    return [
        json.loads(line)
        for chapter in chapters.split()
        for line in subprocess.run(
            ["make", "--no-print-directory", "-s", "-C", chapter, "commands"],
            check=True, cwd=ROOT, capture_output=True, text=True,
        ).stdout.splitlines()
    ]  # fmt: skip


def said_of(command: str, source: str, shown: Path) -> str:
    words = [*command.split()[:-2], "-fsyntax-only", source]
    return subprocess.run(words, check=False, cwd=shown, capture_output=True, text=True).stderr


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
class Commands(unittest.TestCase):
    def test_every_kernel_is_read_without_a_message(self) -> None:
        kernels = [each for each in commands() if each["file"].endswith((".cu", ".cuh"))]
        self.assertEqual(
            {each["file"] for each in kernels}, {str(path) for name in PROGRAMS for path in (ROOT / name).glob("*.cu*")}
        )
        with ThreadPoolExecutor() as pool:
            said = pool.map(lambda each: said_of(each["command"], each["file"], ROOT), kernels)
        self.assertEqual([text for text in said if text], [])

    def test_a_mistake_is_an_error(self) -> None:
        command = next(each["command"] for each in commands() if each["file"].endswith("05_fa2/row.cu"))
        text = (ROOT / "05_fa2/row.cu").read_text()
        for old, new in (("__syncthreads();", "__syncthread();"), ("blockDim.x", "blockDim.w")):
            with self.subTest(new), tempfile.TemporaryDirectory() as directory:
                self.assertIn(old, text)
                (Path(directory) / "own.cu").write_text(text.replace(old, new, 1))
                self.assertIn("own.cu:", said_of(command, "own.cu", Path(directory)))


class ProblemMatchers(unittest.TestCase):
    def setUp(self) -> None:
        tasks = json.loads((ROOT / ".vscode/tasks.json").read_text())["tasks"]
        with_places = [task["problemMatcher"] for task in tasks if task["problemMatcher"]]
        self.matchers = with_places[0]
        for others in with_places[1:]:  # one screen, whichever task it is of
            self.assertEqual([m["pattern"] for m in others], [m["pattern"] for m in self.matchers])

    def assert_all_found(self, text: str, expected: set[tuple[str, int]]) -> None:
        lines = text.splitlines()
        self.assertTrue(expected, text)
        self.assertEqual(set().union(*(found(matcher, lines) for matcher in self.matchers)), expected, text)

    def test_reports_of_the_device(self) -> None:
        for name in REPORTS:
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                program = f"{directory}/program"
                subprocess.run(
                    [ROOT / "simcc/simcc", f"{name}.cu", "-o", program], check=True, cwd=BROKEN, capture_output=True
                )
                text = subprocess.run([program], check=False, capture_output=True, text=True, timeout=120).stderr
                places = re.findall(r"^=========     at .*?([^ ]+):(\d+)$", text, re.MULTILINE)
                self.assert_all_found(text, {(file, int(line)) for file, line in places})

    def test_messages_of_compilers(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "own.cu").write_text("__global__ void k(int *x)\n{\n\tx[0] = y;\n}\n")
            for cc, cxx in (("gcc", "g++"), ("clang", "clang++")):
                if shutil.which(cxx):
                    command = ["env", f"CC={cc}", f"CXX={cxx}", str(ROOT / "simcc/simcc"), "-c", "own.cu"]
                    said = subprocess.run(
                        command, check=False, cwd=directory, capture_output=True, text=True, timeout=120
                    )
                    with self.subTest(cxx):
                        self.assert_all_found(said.stderr, {("own.cu", 3)})
        self.assert_all_found('own.cu(3): error: identifier "y" is undefined\n', {("own.cu", 3)})
