#!/usr/bin/env python3
"""The judge's mutation score.

    mutants.py [--only REGEX] FILE.edits|FILE.tsv...

Each entry of a FILE.edits (tools/lib/edits.py has the syntax) is a submission: the solved chapter of its name with a
few texts replaced. Judged, it has to lose exactly the criteria it says, and keep every other of its chapter:

    @ CHAPTER what is wrong with it
    class: KEY                     of the class with that key
    loses TASK: criteria           plain shapes inputs fresh hbm hazards; "all", "rest" = hbm hazards
    loses TASK: category           it loses all, and the first reason is of that category
    says TASK: words               these words are in what is said about it
    keeps all

Of a FILE.tsv each line is one, of one replacement, wherever its text stands:

    TASK[/CLASS]  criteria, category or "keeps"[: words]  what is wrong with it  old text  new text

Of ../faults/CHAPTER.edits, whose entries are planted in the chapter's program as well, those that say what they lose
are submissions.

An entry that does not apply counts as one that was not caught. One grader judges all of a class, so the
chapters' own halves are built once, and regions that nobody touched are judged once. Prints a line for each
that is not as it should be, and the score; exit 1 unless it is 100 %.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))  # as a program
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "classroom"))
import grade
from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS
from judge import results as told
from judge.course import Course
from lib import edits
from lib.tasks import TaskError, read_tasks, rows_of

ROOT = Path(__file__).resolve().parents[2]
CRITERIA = tuple(told.WEIGHTS)
CHAPTERS = {task.id: task.chapter for task in read_tasks(ROOT / "classroom/tasks.tsv")}
CLASSES = {"": None, "caps": CLASS_OF_CAPS, "windows": CLASS_OF_WINDOWS}


@dataclass
class Mutant:
    edit: edits.Edit
    key: str | None = None
    loses: dict[str, set[str]] = field(default_factory=dict)  # task: criteria
    categories: dict[str, str] = field(default_factory=dict)  # task: of its first reason
    says: dict[str, str] = field(default_factory=dict)

    @property
    def is_wrong(self) -> bool:
        return bool(self.loses)


def mutant_of(edit: edits.Edit) -> Mutant:
    mutant = Mutant(edit, edit.header.get("class"))
    for key, value in edit.header.items():
        verb, _, task = key.partition(" ")
        if verb == "says":
            mutant.says[task] = value
        elif verb == "loses":
            names = set(value.replace("rest", "hbm hazards").split())
            known = names <= set(CRITERIA)
            mutant.loses[task] = names if known else set(CRITERIA)
            if not known and value != "all":
                mutant.categories[task] = value
        elif key not in ("keeps", "class") or (key == "keeps" and value != "all"):
            edit.fail(f"'{key}': expected 'class: KEY', 'loses TASK: ...', 'says TASK: words' or 'keeps all'")
    if bool(mutant.loses) == ("keeps" in edit.header):
        edit.fail("expected 'keeps all' or 'loses TASK: ...'")
    return mutant


def row_of(path: Path, number: int, fields: list[str]) -> Mutant:
    """Of a FILE.tsv."""
    place, loses, what, old, new = fields
    task, _, of_class = place.partition("/")
    loses, _, says = loses.partition(": ")
    header = {f"says {task}": says, **({"keeps": "all"} if loses == "keeps" else {f"loses {task}": loses})}
    edit = edits.Edit(str(path), number, CHAPTERS.get(task, place), what, header)
    edit.replacements.append(edits.Replacement(number, True, None, old, new))
    if task not in CHAPTERS or of_class not in CLASSES:
        edit.fail("expected a task of tasks.tsv, or one of these with /caps or /windows")
    if of_class:
        header["class"] = CLASSES[of_class]
    return mutant_of(edit)


def read_one(path: Path) -> list[Mutant]:
    if path.suffix == ".tsv":
        return [row_of(path, number, fields) for number, fields in rows_of(path, 5)]
    found = edits.read(path)
    return [mutant_of(edit) for edit in (of_faults(path, found) if path.parent.name == "faults" else found)]


def of_faults(path: Path, entries: list[edits.Edit]) -> list[edits.Edit]:
    """The submissions among the faults of a chapter: their names are words, and the header is half another suite's."""
    for entry in entries:
        entry.name, entry.words = path.stem, entry.name
        entry.header = {key: value for key, value in entry.header.items() if " " in key}
    return [entry for entry in entries if entry.header]


def read(paths: Iterable[str | Path]) -> list[Mutant]:
    return [mutant for path in paths for mutant in read_one(Path(path))]


class Bench:
    """Judges mutants, in a scratch directory."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.graders: dict[str | None, grade.Grader] = {}
        self.told: dict[str, str] = {}  # what a student reads

    def judge_all(self, mutants: list[Mutant]) -> list[str]:
        """What is wrong with the grades of each, or nothing."""
        for key in {mutant.key for mutant in mutants}:
            chapters = sorted({mutant.edit.name for mutant in mutants if mutant.key == key})
            self._open(key, chapters)
        with ThreadPoolExecutor(int(os.environ.get("GRADE_JOBS") or 2)) as pool:
            return list(pool.map(self.judge, mutants))

    def _open(self, key: str | None, chapters: list[str]) -> None:
        scratch = self.scratch / f"class-{len(self.graders)}"
        scratch.mkdir()
        grader = grade.Grader(Course(ROOT, key), ",".join(chapters), scratch)
        grader.prepare()
        self.graders[key] = grader

    def judge(self, mutant: Mutant) -> str:
        grader, name = self.graders[mutant.key], mutant.edit.name
        chapter = grader.course.chapter(name)
        try:
            planted = mutant.edit.apply(chapter.base)
        except edits.EditError as error:
            return str(error)
        with tempfile.TemporaryDirectory(dir=self.scratch) as tree:
            directory = Path(tree, name)
            directory.mkdir()
            for file, text in planted.items():
                (directory / file).write_bytes(text.encode("utf-8", "surrogateescape"))
            results = grader.grade(Path(tree), lambda _: None, chapter.tasks)
        self.told[f"{name} {mutant.edit.words}"] = told.human(results)
        return "; ".join(_differences(mutant, results))


def _differences(mutant: Mutant, results: told.Results) -> list[str]:
    wrong = [results.trouble] if results.trouble else []
    for each in results.tasks:
        should = mutant.loses.get(each.task.id, set())
        for name, criterion in each.criteria.items():
            if criterion.passed and name in should:
                wrong.append(f"{each.task.id} keeps {name}")
            elif not criterion.passed and name not in should:
                wrong.append(f"{each.task.id} loses {name} ({criterion.category}: {criterion.message})")
        category = mutant.categories.get(each.task.id)
        first = each.criteria["plain"]
        if category and first.category != category:
            wrong.append(f"{each.task.id}: '{first.category}: {first.message}', expected '{category}'")
        words = mutant.says.get(each.task.id, "")
        said = " ".join(told.explained(each).split())
        if words not in said:
            wrong.append(f"{each.task.id}: '{words}' is not in: {said}")
    wrong += [
        f"no grade of {task}"
        for task in {**mutant.loses, **mutant.says}
        if task not in {each.task.id for each in results.tasks}
    ]
    return wrong


def score(mutants: list[Mutant], scratch: Path) -> tuple[list[str], str]:
    """What is wrong, a line each, and the score."""
    outcomes = Bench(scratch).judge_all(mutants)
    lines = [
        f"{Path(mutant.edit.path).name}:{mutant.edit.line}: {mutant.edit.name}: {mutant.edit.words}:\n    {outcome}"
        for mutant, outcome in zip(mutants, outcomes)
        if outcome
    ]
    wrong_ones = sum(mutant.is_wrong for mutant in mutants)
    words = f" ({wrong_ones} wrong ones lose what they should, {len(mutants) - wrong_ones} right ones keep all points)"
    good = len(mutants) - len(lines)
    return lines, f"mutation score {good} of {len(mutants)}{'' if lines else words}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose words match")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    try:
        mutants = [mutant for mutant in read(options.files) if re.search(options.only, mutant.edit.words)]
    except (edits.EditError, TaskError, re.error) as error:
        parser.error(str(error))
    if not mutants:
        parser.error("no such entries")
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        lines, total = score(mutants, Path(scratch))
    print("\n".join([*lines, f"table: {total}"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
