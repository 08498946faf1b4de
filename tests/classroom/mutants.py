#!/usr/bin/env python3
"""The grader's mutation score.

    mutants.py SCRATCH FILE.edits...

Each entry of a file (tools/lib/edits.py has the syntax) is a submission: the chapter of its name with a few texts
replaced. Graded, it has to lose exactly the criteria it says, and keep every other of its chapter:

    @ CHAPTER what is wrong with it
    loses TASK: criteria           plain shapes inputs fresh hbm hazards; "all", "rest" = hbm hazards
    loses chapter: category        every task loses all, and the first reason is of that category
    keeps all

An entry that does not apply, or changes no file that is graded, counts as one that was not caught. Prints a line for
each that is not as it should be, and the score; exit 1 unless it is 100 %. MUTANT=REGEX takes entries by their words,
MUTANT_JOBS=2 is how many are graded at a time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from lib import edits, tasks

GRADE = ["perl", str(ROOT / "classroom/grade.pl")]
CODE = ("plain", "shapes", "inputs", "fresh", "hbm", "hazards")
TOLD = {
    "correct on the plain case": "plain",
    "any shape": "shapes",
    "hard inputs": "inputs",
    "fresh cases": "fresh",
    "memory budget": "hbm",
    "no hazards": "hazards",
    "prediction": "predict",
}


@dataclass
class Mutant:
    edit: edits.Edit
    loses: dict[str, set[str]]  # task: criteria
    category: str | None  # of a whole chapter that is lost
    whole: bool = False  # graded with all tasks of its chapter

    @property
    def is_wrong(self) -> bool:
        return bool(self.loses or self.category)


def mutant_of(edit: edits.Edit) -> Mutant:
    loses = {}
    for key, value in edit.header.items():
        if key not in ("keeps", "loses chapter") and not key.startswith("loses "):
            edit.fail(f"'{key}': expected 'loses TASK: criteria', 'loses chapter: category' or 'keeps all'")
        if key.startswith("loses ") and key != "loses chapter":
            words = value.replace("all", " ".join(CODE)).replace("rest", "hbm hazards").split()
            loses[key.split()[1]] = set(words)
    return Mutant(edit, loses, edit.header.get("loses chapter"))


def grade(directory: Path, only: str) -> str:
    """The grades as JUnit; RuntimeError with what was said where there are none."""
    report = directory / "junit.xml"
    command = [*GRADE, "--submission", str(directory), "--only", only, "--junit", str(report)]
    result = subprocess.run(command, env={**os.environ, "GRADE_CPU_SECONDS": "2"}, capture_output=True, check=False)
    if result.returncode != 0:
        raise RuntimeError("it was not graded: " + os.fsdecode(result.stdout + result.stderr))
    return report.read_text(encoding="utf-8")


def compare(mutant: Mutant, report: str) -> list[str]:
    """What is wrong with the grades."""
    wrong, seen = [], set()
    for case in xml.fromstring(report).iter("testcase"):
        task, _, told = case.get("name", "").partition(": ")
        criterion = TOLD.get(told, told)
        failure = case.find("failure")
        category = failure.get("message", "") if failure is not None else None
        should = criterion != "predict" and bool(mutant.category or criterion in mutant.loses.get(task, ()))
        seen.add(task)
        if (category is not None) != should:
            wrong.append(f"{task} keeps {criterion}" if category is None else f"{task} loses {criterion} ({category})")
        if mutant.category and criterion == "plain" and category != mutant.category:
            wrong.append(f"{task}: '{category}', expected '{mutant.category}'")
    wrong += [f"no grade of {task}" for task in mutant.loses if task not in seen]
    return wrong if seen else [*wrong, "no grades at all"]


def judge(mutant: Mutant, directory: Path, predictions: str) -> str:
    """Plants and grades one; what is wrong with its grades, or nothing."""
    chapter = mutant.edit.name
    sources = tasks.read_sources(ROOT / chapter)
    graded = tasks.places_of(chapter, sources)
    try:
        planted = mutant.edit.apply(sources)
        if all(planted[name] == sources[name] for name in graded):
            mutant.edit.fail("no file that is graded changes")
        shutil.rmtree(directory, ignore_errors=True)
        (directory / chapter).mkdir(parents=True)
        for name, text in planted.items():
            with (directory / chapter / name).open("w", encoding="utf-8", newline="") as file:
                file.write(text)
        (directory / "predictions.txt").write_text(predictions)
        # One task alone, but for the first of each file and chapter: what nobody touched must keep its points too.
        only = chapter if mutant.whole or len(mutant.loses) != 1 else next(iter(mutant.loses))
        wrong = compare(mutant, grade(directory, only))
    except (edits.EditError, RuntimeError) as error:
        return str(error)
    if not wrong:
        shutil.rmtree(directory)
    return "; ".join(wrong)


def main() -> int:
    if len(sys.argv) < 3:
        print("usage: mutants.py SCRATCH FILE.edits...", file=sys.stderr)
        return 2
    scratch, seen = Path(sys.argv[1]), set()
    mutants = [mutant_of(edit) for path in sys.argv[2:] for edit in edits.read(path)]
    mutants = [mutant for mutant in mutants if re.search(os.environ.get("MUTANT", ""), mutant.edit.words)]
    if not mutants:
        print(f"no submissions in {' '.join(sys.argv[2:])}", file=sys.stderr)
        return 2
    for mutant in mutants:
        mutant.whole = (mutant.edit.path, mutant.edit.name) not in seen
        seen.add((mutant.edit.path, mutant.edit.name))
    answers = subprocess.run([*GRADE, "--answers"], capture_output=True, text=True, check=True).stdout
    with ThreadPoolExecutor(int(os.environ.get("MUTANT_JOBS") or 2)) as pool:
        outcomes = list(
            pool.map(lambda numbered: judge(numbered[1], scratch / f"m{numbered[0]}", answers), enumerate(mutants))
        )
    for mutant, outcome in zip(mutants, outcomes):
        if outcome:
            print(f"{Path(mutant.edit.path).name}: {mutant.edit.name}: {mutant.edit.words}:\n    {outcome}")
    good, wrong_ones = outcomes.count(""), sum(mutant.is_wrong for mutant in mutants)
    right_ones = len(mutants) - wrong_ones
    words = f" ({wrong_ones} wrong ones caught as they should be, {right_ones} right ones keep all points)"
    print(f"table: mutation score {good} of {len(mutants)}{words if good == len(mutants) else ''}")
    return 0 if good == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
