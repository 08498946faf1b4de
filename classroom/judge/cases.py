"""What a region is run on (cases.tsv), drawn; and predictions.txt.

The numbers of every case, and the shapes of fresh ones, are drawn from words: a region's tokens, the chapter, and in a
class the key and the teacher's classroom/secret. The same region draws the same cases, today and tomorrow, on any
machine; nobody knows them before it is written, so no region can hold a table of results; without the secret nobody
else knows them at all.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lib.tasks import TaskError, rows_of

CRITERIA = ("plain", "shapes", "inputs", "fresh")


@dataclass(frozen=True)
class Case:
    line: int
    chapter: str
    criterion: str
    order: str
    options: str
    hints: tuple[str, ...]  # of all kernels; "KERNEL: ..." of that one

    @property
    def is_ordinary(self) -> bool:
        """Random inputs and no mask in them: every number counts, and is asked for."""
        return "--masked" not in self.options and "--input" not in self.options

    def hint(self, kernel: str) -> str:
        own = [hint.partition(": ")[2] for hint in self.hints if hint.startswith(f"{kernel}: ")]
        return own[0] if own else self.hints[0]


def read_cases(path: Path) -> list[Case]:
    cases = []
    for number, (chapter, criterion, order, options, hint) in rows_of(path, 5):
        if criterion not in CRITERIA:
            raise TaskError(f"{path}:{number}: criterion '{criterion}': expected {', '.join(CRITERIA)}")
        cases.append(Case(number, chapter, criterion, order, options, tuple(hint.split(" | "))))
    return cases


def _drawn(options: str, *seed: str) -> str:
    """With one of the values of each {...}."""
    count = itertools.count()

    def draw(values: Sequence[object]) -> str:
        text = "\0".join([*seed, str(next(count))])
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        return str(values[int(digest[:8], 16) % len(values)])

    def number(match: re.Match) -> str:
        return draw([n for n in range(int(match[1]), int(match[2]) + 1) if not match[3] or n % int(match[3])])

    options = re.sub(r"\{seed\}", lambda _: draw(range(1000, 1_000_000_000)), options)
    options = re.sub(r"\{(\d+)\.\.(\d+)(?:!(\d+))?\}", number, options)
    options = re.sub(r"\{([^{}]*\|[^{}]*)\}", lambda match: draw(match[1].split("|")), options)
    if re.search(r"[{}]", options):
        raise TaskError(f"cases.tsv: what is {{...}} in '{options}'?")
    return options


def cases_of(cases: list[Case], chapter: str, *seed: str) -> list[Case]:
    """The cases of a chapter, with what is to be drawn."""
    mine = [case for case in cases if case.chapter == chapter]
    return [replace(case, options=_drawn(case.options, *seed, chapter, str(case.line))) for case in mine]


# ---- predictions.txt ----


def parse_predictions(text: str) -> tuple[dict[str, int | None], list[str]]:
    """{question: bytes, None where nothing was said}, and what could not be read.

    fa1_paper --seq 512 --dim 64 --heads 2 = 1 234 567      kernel, options, "=", bytes; what follows # is a comment
    """
    told: dict[str, int | None] = {}
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("#")[0]
        if not line.strip():
            continue
        question, sign, answer = line.partition("=")
        question, answer = " ".join(question.split()), " ".join(answer.split())
        if not sign or not re.fullmatch(r"\w+(?: --[\w-]+(?: [\w.]+)?)*", question, re.ASCII):
            shown = re.sub(r"[^ -~]", "?", line[:60])
            problems.append(f"predictions.txt:{number}: expected 'kernel options = bytes', got '{shown}'")
            continue
        told[question] = None
        digits = re.sub(r"[\s,_']", "", re.sub(r" ?bytes?$", "", answer, flags=re.IGNORECASE))
        if re.fullmatch(r"[0-9]{1,18}", digits):
            told[question] = int(digits)
        elif not re.fullmatch(r"[?._-]*", answer):
            shown = re.sub(r"[^ -~]", "?", answer[:40])
            problems.append(f"predictions.txt:{number}: expected a number of bytes after '=', got '{shown}'")
    return told, problems


def is_right(predicted: int | None, actual: int) -> bool:
    """Within 1 %."""
    return predicted is not None and abs(predicted - actual) <= actual / 100
