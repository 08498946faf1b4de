"""Grading, for tests: submissions made from a class's solutions, and what the grader says of them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from collections.abc import Iterator
from pathlib import Path

import grade
import handout
from judge import results as told
from judge.cases import CRITERIA, Case
from judge.course import Course

ROOT = Path(__file__).resolve().parents[2]
GRADE = ROOT / "classroom/grade.py"
# Classes whose chapters all have the first variant of theirs, and the second one: keys found by trying.
CLASS_OF_CAPS = "class of caps 2257315"  # softcap everywhere
CLASS_OF_WINDOWS = "class of windows 244847"  # window; 02: sink; 03: relu
ALL = (*CRITERIA, "hbm", "hazards")  # what a task is judged by
THOROUGH = bool(os.environ.get("LONG"))
only_when_thorough = unittest.skipUnless(THOROUGH, "LONG=1 (make test-all) only")


def run(
    *command: str | Path,
    environment: dict[str, str] | None = None,
    given: str = "",
    directory: Path = ROOT,
) -> subprocess.CompletedProcess:
    """CC and CXX are the caller's. Standard input, output and error are text."""
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **(environment or {})},
        input=given,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        cwd=directory,
        timeout=900,
    )


def run_grader(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess:
    return run(sys.executable, GRADE, *arguments, environment=environment)


def tool(*arguments: str | Path, directory: Path = ROOT) -> subprocess.CompletedProcess:
    return run(sys.executable, handout.__file__, *arguments, directory=directory)


class Scratch(unittest.TestCase):
    """Has a scratch directory for each test."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.scratch = Path(directory.name)

    def succeeded(self, done: subprocess.CompletedProcess) -> subprocess.CompletedProcess:
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def hand_out(self, name: str, key: str | None = None, solved: bool = False, but: str = "") -> Path:
        """In a new directory; `but`: the task that stays as it was handed out."""
        tree = self.scratch / name
        done = self.succeeded(tool(tree, *(["--class", key] if key else [])))
        self.assertEqual(done.stderr, "")
        if solved:
            self.succeeded(tool("--solve", tree, *(["--except", but] if but else [])))
        return tree


class Graded(Scratch):
    """Has one grader for all tests of a class of students."""

    graders: dict[str | None, grade.Grader] = {}

    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.shared = Path(directory.name)
        cls.graders = {}

    @classmethod
    def grader(cls, key: str | None = None) -> grade.Grader:
        if key not in cls.graders:
            scratch = cls.shared / f"class-{len(cls.graders)}"
            scratch.mkdir()
            cls.graders[key] = grade.Grader(Course(ROOT, key), None, scratch)
        return cls.graders[key]

    def tree(self, name: str, key: str | None = None, solved: bool = True) -> Path:
        """The files that count of a hand-out, with all tasks solved or as they were handed out."""
        course = self.grader(key).course
        for chapter in course.chapters:
            sources = course.chapter(chapter)
            directory = self.scratch / name / chapter
            directory.mkdir(parents=True)
            for file in sources.places:
                text = (sources.base if solved else sources.given)[file]
                (directory / file).write_bytes(text.encode("utf-8", "surrogateescape"))
        return self.scratch / name

    def replace(self, path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text, path)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def grade(self, path: Path, *chosen: str, key: str | None = None) -> told.Results:
        """Of the chapters and tasks that are named; all without."""
        grader = self.grader(key)
        tasks = [task for task in grader.tasks if not chosen or task.id in chosen or task.chapter in chosen]
        return grader.grade(path, lambda _: None, tasks)

    def said(self, results: told.Results, task: str) -> str:
        """What is said about a task, as one line."""
        return " ".join(told.explained(self.of(results, task)).split())

    def of(self, results: told.Results, task: str) -> told.TaskResult:
        return next(each for each in results.tasks if each.task.id == task)


def case(criterion: str = "plain", options: str = "--seq 8", hint: str = "Look.") -> Case:
    return Case(7, "01_naive", criterion, "forward", options, tuple(hint.split(" | ")))


@contextlib.contextmanager
def temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def zipped(directory: Path) -> Path:
    path = directory.with_name(f"{directory.name}.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(directory.rglob("*")):
            archive.write(file, file.relative_to(directory))
    return path


def read_json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
