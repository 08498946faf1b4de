"""The house rules that no compiler checks: how long a chapter's file may be, what a kernel file is free of, which
lines are those of a task, and which way the harness includes. (That a task's lines lie inside one function, braces
paired: their stubs compile, classroom_stubs.)"""

from __future__ import annotations

import re
import subprocess
import unittest
from pathlib import Path

from lib import tasks
from lib.chapters import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
# The chapters that have more than 14 entries. 00: two pages and a first program beside eight kernels. 06:
# backward_split is three kernels, and its launcher a file of its own.
MORE = {"00_gpu": 16, "06_backward": 15}
# What a lesson should not have to explain: choices of the preprocessor, macros of ours, and the classroom's traces.
SCAFFOLDING = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|else|elif|define)\b|HANDOUT|\(void\)|TODO|// solution", re.MULTILINE
)


def entries_of(chapter: str) -> list[str]:
    """A chapter's entries that git keeps, or would; of a copy without git all that lie there."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", chapter]
    listed = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True).stdout.split()
    files = listed or [str(path.relative_to(ROOT)) for path in (ROOT / chapter).iterdir()]
    return sorted({name.split("/")[1] for name in files if (ROOT / name).exists()})


def kernel_sources() -> dict[str, str]:
    """{path: text} of all .cu and .cuh files of the chapters."""
    paths = [path for chapter in PROGRAMS for path in sorted((ROOT / chapter).glob("*.cu*"))]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def functions_of(path: Path) -> dict[str, str]:
    """{name: text, with what stands before the name} of the functions of a file."""
    function = r"^(?:template <[^\n]*\n)?[^\n#/{}]*?\b(\w+)\([^{};]*?\)\n\{\n.*?^\}\n"
    return {match[1]: match[0] for match in re.finditer(function, path.read_text(), re.MULTILINE | re.DOTALL)}


class Lengths(unittest.TestCase):
    def test_a_kernel_file_is_read_in_one_sitting(self) -> None:
        lengths = {path: len(text.splitlines()) for path, text in kernel_sources().items() if path.endswith(".cu")}
        self.assertGreater(len(lengths), 30)
        self.assertEqual({path: lines for path, lines in lengths.items() if lines > 149}, {})

    def test_a_chapters_listing_is_a_table_of_contents(self) -> None:
        for chapter in PROGRAMS:
            entries = entries_of(chapter)
            self.assertLessEqual(len(entries), MORE.get(chapter, 14), f"{chapter}: {entries}")


class Harness(unittest.TestCase):
    def test_includes_go_one_way(self) -> None:
        """In the order of common/README.md. Kills: a report that launches, a measurement that knows of reports."""
        page = (ROOT / "common/README.md").read_text().partition("\n## ")[0]
        listed = re.findall(r"^    ([a-z_]+(?:/|\.[ch])) ", page, re.MULTILINE)
        rooms = [re.sub(r"/$|\.[ch]$", "", name) for name in listed]
        self.assertEqual(rooms[-1], "main")
        upward = []
        for path in sorted((ROOT / "common").rglob("*.[ch]")):
            name = str(path.relative_to(ROOT / "common"))
            for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
                ranks = [
                    next((i for i, room in enumerate(rooms) if of == f"{room}.h" or of.startswith(f"{room}/")), None)
                    for of in (name.removesuffix(".c") + ".h" if name.endswith(".c") else name, included)
                ]
                if None not in ranks and ranks[0] < ranks[1]:
                    upward.append(f"{name} includes {included}")
        self.assertEqual(upward, [])

    def test_the_walk_of_one_number_is_there(self) -> None:
        """Kills: a function that was renamed or moved while common/README.md still names it."""
        text = (ROOT / "common/README.md").read_text()
        walk = re.findall(r"^\| (\d) \| \[[^]]+\]\(([^)]+)\) \| `(\w+)` \|", text, re.MULTILINE)
        self.assertEqual([number for number, _, _ in walk], list("12345678"))
        for _, file, function in walk:
            defined = rf"^(?:static )?(?:\w+ \*?)+{function}\(|^NUMBER\({function},"
            self.assertRegex((ROOT / "common" / file).read_text(), re.compile(defined, re.MULTILINE), file)


class KernelFiles(unittest.TestCase):
    def test_hold_the_lesson_and_nothing_else(self) -> None:
        found = {path: SCAFFOLDING.findall(text) for path, text in kernel_sources().items()}
        self.assertEqual({path: words for path, words in found.items() if words}, {})

    def test_what_stays_the_same_from_chapter_04_to_05_is_one_text_and_the_rest_a_screen(self) -> None:
        self.assertEqual((ROOT / "04_fa1/row.cuh").read_bytes(), (ROOT / "05_fa2/row.cuh").read_bytes())
        shown = subprocess.run(["diff", "-w", "04_fa1/row.cu", "05_fa2/row.cu"], cwd=ROOT, capture_output=True).stdout
        self.assertIn(shown.count(b"\n"), range(1, 30), "what changes fits a screen")
        # One rule in two languages: how many keys at once.
        self.assertIn("KEYS_AT_ONCE = D <= 64 ? 8 : 4;", (ROOT / "05_fa2/row.cuh").read_text())
        self.assertIn("return d <= 64 ? 8 : 4;", (ROOT / "05_fa2/fa2.h").read_text())

    def test_what_chapter_09_takes_from_06_and_08_is_one_text(self) -> None:
        """Chapters include nothing of each other. Kills a function that was mended in one of them only."""
        for taken, ours, least in (
            ("06_backward/tile_products.cuh", "09_variants/tiles.cuh", 5),
            ("06_backward/tile_rows.cuh", "09_variants/tiles.cuh", 4),
            ("06_backward/rows.cuh", "09_variants/tiles.cuh", 3),
            ("08_decode/tile.cuh", "09_variants/decode.cuh", 8),
        ):
            theirs, functions = functions_of(ROOT / taken), functions_of(ROOT / ours)
            both = theirs.keys() & functions.keys()
            self.assertGreaterEqual(len(both), least, f"{taken} and {ours}: {both}")
            for name in both:
                self.assertEqual(theirs[name], functions[name], f"{name} in {taken} and {ours}")


class Tasks(unittest.TestCase):
    def test_every_task_has_its_lines_and_every_line_its_task(self) -> None:
        """In pairs of markers, each a line of its own, around something; all regions of a task have one text."""
        found = set()
        for chapter in PROGRAMS:
            sources = tasks.read_sources(ROOT / chapter)
            solutions = tasks.solutions_of(chapter, sources)
            self.assertTrue(all(text.strip() for text in solutions.values()), f"{chapter}: an empty region")
            for name, text in sources.items():
                regions = [part for part in tasks.take_apart(name, text) if part.id is not None]
                marks = re.findall(r"//\s*(?:task|end)\s+\d\d\.\S+", text)
                self.assertEqual(len(marks), 2 * len(regions), f"{chapter}/{name}")
                titles = re.findall(r"^\s*// task ([^\s:]+): (.*)$", text, re.MULTILINE)
                found |= {(chapter, *title) for title in titles}
        table = tasks.read_tasks(ROOT / "classroom/tasks.tsv")
        self.assertEqual(found, {(task.chapter, task.id, task.title) for task in table})
