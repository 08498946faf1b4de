"""Runs the chapters' programs over the cases of a GPU and says which are right. The programs verify themselves."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import table
from ..chapters import PROGRAMS, ROOT
from . import StepError, runner
from .runner import Job

CASES = ROOT / "tests/cuda/cases.tsv"
KINDS = ("random", "large-logits", "very-negative", "constant", "one-hot", "ramp")
COLUMNS = ("chapter", "options", "verdict", "status", "kernels_verified", "seconds", "said")


@dataclass
class Verdict:
    chapter: str
    options: str
    verdict: str  # right, wrong, empty (nothing was verified), too slow, not run
    status: int | None
    kernels: int  # that were verified
    took: float | None
    said: str

    @property
    def right(self) -> bool:
        return self.verdict == "right"

    def cells(self) -> list[object]:
        took = None if self.took is None else f"{self.took:.2f}"
        return [self.chapter, self.options, self.verdict, self.status, self.kernels, took, self.said]


def _judge(chapter: str, options: str, job: Job) -> Verdict:
    kernels = len(re.findall(r"^\S+\s+verified\b", job.output(), re.MULTILINE))
    if job.status is None:
        verdict = "not run"
    elif job.timed_out:
        verdict = "too slow"
    elif job.status:
        verdict = "wrong"
    else:
        verdict = "right" if kernels else "empty"  # a program that ran nothing has shown nothing
    said = {"right": "-", "not run": "no time left"}.get(verdict) or job.last_line()
    return Verdict(chapter, options, verdict, job.status, kernels, job.took, said)


def verify(
    tree: Path,
    chapters: Collection[str],
    cases: Path = CASES,
    jobs: int = 4,
    seconds: float = 3600,
    environment: Mapping[str, str | None] | None = None,
) -> list[Verdict]:
    """A verdict for each case of these chapters, whose programs lie in `tree`: at most `jobs` at a time, `seconds` for
    all. A case that had no time left counts as not run, never as right. StepError when there is no case."""
    with tempfile.TemporaryDirectory(prefix="verify.") as scratch:
        asked: list[tuple[str, str, Job]] = []
        for case in table.read(cases).records():
            chapter = case["chapter"]
            if chapter not in chapters:
                continue
            program = tree / chapter / PROGRAMS[chapter]
            for kind in KINDS if case["inputs"] == "all" else (case["inputs"],):
                options = f"{case['options']} --input {kind}"
                command = [program, *options.split(" "), "--repeat", "1", "--warmup", "0", "--quiet"]
                log = Path(scratch, str(len(asked)))
                job = Job(command, float(case["seconds"]), log, environment=environment or {})
                asked.append((chapter, options, job))
        if not asked:
            raise StepError(f"{cases} has no case of {', '.join(chapters)}")
        # The long ones first: they decide when all is done.
        order = sorted((job for *_, job in asked), key=lambda job: -job.seconds)
        runner.run_all(order, jobs, time.monotonic() + seconds)
        return [_judge(*each) for each in asked]


def sums(verdicts: Collection[Verdict]) -> list[str]:
    """ "CHAPTER RIGHT of ALL", in the order of the chapters."""
    right: dict[str, list[bool]] = {}
    for verdict in verdicts:
        right.setdefault(verdict.chapter, []).append(verdict.right)
    return [f"{chapter} {sum(each)} of {len(each)}" for chapter, each in sorted(right.items())]
