"""What the steps of a report share: where things are, how much time is left, and what each step came to."""

from __future__ import annotations

import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import table
from ..chapters import PROGRAMS
from ..files import replace_file
from . import StepError, runner
from .runner import Job

# Variables of the make that called us, or of a test, which would change what a job does.
NOT_OURS = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "OUT", "DEVICE", "ARCH", "CC", "CXX", "CFLAGS")
NOT_OURS += ("SIM_REPORT", "SIM_TRACE", "SIM_CHECK", "SIM_ORDER", "SIM_GPU")
ENVIRONMENT: dict[str, str | None] = {**dict.fromkeys(NOT_OURS), "NO_COLOR": "1", "NO_PEER": "1"}


def _cell(value: object) -> object:
    """A float as C's %.15g has it."""
    return f"{value:.15g}" if isinstance(value, float) else value


@dataclass
class KernelProgram:
    """One of simcc/tests/broken_kernels, as it was built."""

    name: str
    variant: str  # broken, fixed, correct
    source: Path
    program: Path


@dataclass
class Report:
    root: Path  # the repository
    out: Path  # where the report goes
    work: Path  # a directory of its own, outside both
    seconds: float  # for all steps
    jobs: int = 4
    nvcc: Path = Path("nvcc")
    arch: str = ""
    kernels: str = "*"  # which of simcc/tests/broken_kernels
    cases: Path | None = None
    simulated: Path | None = None  # what the simulated device counted elsewhere
    keep_simulated: Path | None = None  # where to keep what it counts here
    only: Sequence[str] = ()  # steps; none: all
    chapters: Sequence[str] = ()  # none: all
    kept: dict[str, float] = field(default_factory=dict)  # seconds that a step finds left by those before it
    trees: dict[str, Path] = field(default_factory=dict)  # copies of the course: "cuda", "sim"
    tools: dict[str, Path | None] = field(default_factory=dict)
    about: list[str] = field(default_factory=list)  # what every table says first
    kernel_programs: list[KernelProgram] = field(default_factory=list)
    unknown_metrics: list[str] = field(default_factory=list)  # which this ncu or GPU does not have
    steps: list[tuple[str, str, float, str]] = field(default_factory=list)  # name, status, seconds, what came of it
    summary: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.end = time.monotonic() + self.seconds
        self.data, self.logs = self.work / "data", self.work / "logs"
        for directory in (self.data, self.logs):
            directory.mkdir(exist_ok=True)

    @property
    def left(self) -> float:
        return self.end - time.monotonic()

    def end_before(self, *steps: str) -> float:
        """When a step that could take all the time ends, so that these steps get theirs."""
        return self.end - sum(self.kept.get(name, 0) for name in steps)

    @property
    def programs(self) -> list[str]:
        """The chapters this report is about."""
        return [chapter for chapter in PROGRAMS if not self.chapters or chapter in self.chapters]

    def program(self, tree: str, chapter: str) -> Path:
        """A program of a tree. StepError if it was not built."""
        path = self.trees[tree] / chapter / PROGRAMS[chapter] if tree in self.trees else None
        if path is None or not os.access(path, os.X_OK):
            raise StepError(f"{chapter} was not built")
        return path

    def job(self, log: str, seconds: float, command: Sequence[str | Path], **more: str | None) -> Job:
        """A job whose output is kept as logs/LOG; more: variables of its environment."""
        return Job(command, min(seconds, self.left), self.logs / log, environment={**ENVIRONMENT, **more})

    def run(self, log: str, seconds: float, command: Sequence[str | Path], **more: str | None) -> Job:
        return runner.run(self.job(log, seconds, command, **more))

    def write_table(self, name: str, about: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        table.write(
            self.data / name,
            [*self.about, *about.split("\n")],
            columns,
            ([_cell(cell) for cell in row] for row in rows),
        )

    def step(self, name: str, function: Callable[[Report], tuple[str, str]]) -> None:
        """Runs one step: its function returns (status, what came of it).

        status: "done", "cut short" (no time left), "not here" (the machine lacks something), "failed". A step that
        raises has failed; the others go on.
        """
        if self.only and name != "pack" and name not in self.only:
            return
        runner.check_stopped()
        start = time.monotonic()
        status, said = "cut short", "no time was left for it"
        if self.left > 3:
            try:
                status, said = function(self)
            except (StepError, table.TableError, OSError) as error:
                status, said = "failed", str(error)
            except Exception as error:  # a mistake of ours is no reason to lose the other steps
                status, said = "failed", f"{type(error).__name__}: {error}"
                (self.logs / f"{name}.traceback").write_text(traceback.format_exc())
        said = " ".join(said.split())
        took = time.monotonic() - start
        self.steps.append((name, status, took, said[:300]))
        self.say(f"{name:<12} {status:<9} {took:6.1f} s  {said[:120]}")
        self.write_summary()

    def say(self, line: str) -> None:
        print(line, flush=True)
        with (self.out / "log.txt").open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def tell(self, *lines: str) -> None:
        """Lines for the summary, below the table of steps."""
        self.summary += lines

    def tell_table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A heading and a table, in Markdown; nothing without rows."""
        lines = [["" if cell is None else str(_cell(cell)).replace("|", "\\|") for cell in row] for row in rows]
        if lines:
            head = [f"## {title}", "", f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
            self.tell(*head, *(f"| {' | '.join(line)} |" for line in lines), "")

    def write_summary(self) -> None:
        """After every step: whatever ends us, the summary is there."""
        columns = ["| step | status | s | what came of it |", "|---|---|---|---|"]
        lines = ["# Report of a GPU", "", *self.about, "", *columns]
        for name, status, took, said in self.steps:
            escaped = said.replace("|", "\\|")
            lines.append(f"| {name} | {status} | {took:.1f} | {escaped} |")
        replace_file(self.out / "summary.md", "\n".join([*lines, "", *self.summary]) + "\n")

    @property
    def exit_status(self) -> int:
        """0 when no step failed."""
        return 1 if any(status == "failed" for _, status, *_ in self.steps) else 0

    def find_tool(self, name: str) -> Path | None:
        """A program by name: in PATH, beside nvcc, or where NVIDIA's packages put it."""
        cuda = self.nvcc.parent.parent
        nsight = sorted(Path("/opt/nvidia/nsight-compute").glob(f"*/{name}"))
        places = [cuda / "bin" / name, cuda / name / name, *nsight, Path("/usr/local/cuda/bin", name)]
        for path in [shutil.which(name), *places]:
            if path and os.access(path, os.X_OK) and Path(path).is_file():
                return Path(path)
        return None
