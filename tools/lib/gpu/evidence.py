"""Counters that others published of their GPUs, beside what the simulated device counts of kernels of ours in the same
shapes: gpu/accuracy.

published.tsv has what was published and what of a launch record it is, sources.tsv where, and counted.tsv the counts of
each launch, so that a page can be made without running anything.
"""

from __future__ import annotations

import ast
import json
import operator
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .. import table

QUANTITIES = {
    "global": ("bytes", "requests", "sectors"),
    "shared": ("bytes", "requests", "wavefronts", "ideal_wavefronts", "conflicts"),
}
# Where each is in a launch record.
COUNTERS = {
    f"{space}_{operation}_{quantity}": (space, operation, quantity)
    for space, quantities in QUANTITIES.items()
    for operation in ("load", "store", "atomic")
    for quantity in quantities
}
EXPECTED = ("equal", "arbitration", "unexplained")
MOST_ARBITRATION = Fraction(30, 100)  # of the wavefronts counted; chosen after the fact: 26 % is the most there is
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Launch:
    """A kernel of gpu/accuracy with its numbers; `part`: the share of its blocks that is run; `quick`: or long."""

    program: str
    options: str
    part: int
    quick: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.program, self.options

    @property
    def arguments(self) -> list[str]:
        kernel, *numbers = self.options.split()
        return [kernel, str(self.part), *numbers]


@dataclass(frozen=True)
class Row:
    source: str
    launch: Launch
    metric: str
    published: str
    formula: str  # over COUNTERS
    expect: str
    reason: str
    counts: Counts  # of the whole launch

    @property
    def ours(self) -> Fraction:
        return evaluate(self.formula, self.counts)

    @property
    def surplus(self) -> Fraction:
        """Of the published number above ours."""
        return Fraction(self.published) - self.ours

    @property
    def accesses(self) -> str:
        return self.formula.rpartition("_")[0]

    @property
    def wavefronts(self) -> int:
        """Of the same accesses, where the row counts wavefronts or conflicts of one operation; 0 of any other."""
        return self.counts.get(f"{self.accesses}_wavefronts", 0)

    @property
    def counted(self) -> str:
        """Our number with the digits that were published."""
        digits = len(self.published.partition(".")[2])
        value = self.ours
        return str(value) if digits == 0 and value.denominator == 1 else f"{float(value):.{digits}f}"

    @property
    def word(self) -> str:
        """equal, arbitration or unexplained; "" for what is none of these, or worse than `expect` says."""
        if self.counted == self.published:
            return "equal"
        if self.expect == "arbitration":
            return self.expect if 0 < self.surplus <= MOST_ARBITRATION * self.wavefronts else ""
        return "" if self.expect == "equal" else self.expect


def evaluate(formula: str, counts: Counts) -> Fraction:
    """Sums, products and quotients of counts, exactly. Raises ValueError for anything else."""

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Name) and node.id in counts:
            return Fraction(counts[node.id])
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return Fraction(node.value)
        raise ValueError(f"expected counters and + - * /, got '{formula}'")

    try:
        return value(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"'{formula}': {error}") from None


# ---- the files ----


@dataclass(frozen=True)
class Evidence:
    """All of gpu/accuracy: sources by name, rows in the order of the sources, counts of the whole launch by its key."""

    sources: dict[str, dict[str, str]]
    rows: list[Row]
    counts: dict[tuple[str, str], Counts]

    @property
    def launches(self) -> list[Launch]:
        return list(dict.fromkeys(row.launch for row in self.rows))

    def of(self, source: str) -> list[Row]:
        return [row for row in self.rows if row.source == source]

    def is_held_by_an_instruction(self, row: Row) -> bool:
        """Whether a counter of the instructions, of the same launch and accesses, was published and is equal."""
        return any(
            other.launch == row.launch
            and not other.metric.startswith("l1tex__data")
            and (f"{row.accesses}_wavefronts" in other.formula or f"{row.accesses}_conflicts" in other.formula)
            and other.word == "equal"
            for other in self.of(row.source)
        )

    def word(self, row: Row) -> str:
        """As the page has it: an arbitration that no other counter holds is only a surplus."""
        return "surplus" if row.word == "arbitration" and not self.is_held_by_an_instruction(row) else row.word

    def verdict(self, row: Row) -> str:
        """The word; with it how far off the published number is, and why."""
        word, ours = self.word(row), row.ours
        if word == "equal":
            return word
        off = f"{float(row.surplus / ours):+.3%}".replace("%", " %") if ours else f"{float(row.surplus):+,.0f}"
        return f"{word or 'NOT ' + row.expect}, {off}" + (f": {row.reason}" if word and row.reason != "-" else "")

    def failures(self) -> list[str]:
        """A line for each row that is not as it was."""
        return [
            f"{self.sources[row.source]['gpu']}, {row.launch.options}, {row.metric}: published {row.published}, "
            f"counted {row.counted}: {self.verdict(row)}"
            for row in self.rows
            if not row.word
        ]


def read(folder: Path, counted: dict[tuple[str, str], Counts] | None = None) -> Evidence:
    """`counted` in place of counted.tsv, if given. Raises table.TableError for files that do not fit together."""
    path = folder / "published.tsv"
    sources = {record["source"]: record for record in table.read(folder / "sources.tsv").records()}
    counts = counted if counted is not None else read_counts(folder / "counted.tsv")
    rows = []
    for record in table.read(path).records():
        where = f"{path}: {record['source']}, {record['options']}, {record['metric']}"
        if record["source"] not in sources:
            raise table.TableError(f"{where}: no such line in sources.tsv")
        if record["expect"] not in EXPECTED:
            raise table.TableError(f"{where}: expected one of {', '.join(EXPECTED)}, got '{record['expect']}'")
        try:
            launch = Launch(record["program"], record["options"], record.whole("part"), record["run"] == "quick")
            float(Fraction(record["published"]))
            evaluate(record["counted"], dict.fromkeys(COUNTERS, 1))
        except (ValueError, OverflowError) as error:
            raise table.TableError(f"{where}: {error}") from None
        if counted != {} and launch.key not in counts:
            raise table.TableError(f"{where}: not in counted.tsv: make accuracy counts it")
        cells = (record[name] for name in ("metric", "published", "counted", "expect", "reason"))
        rows.append(Row(record["source"], launch, *cells, counts.get(launch.key, {})))
    order = list(sources)
    return Evidence(sources, sorted(rows, key=lambda row: order.index(row.source)), counts)


def read_counts(path: Path) -> dict[tuple[str, str], Counts]:
    return {
        (record["program"], record["options"]): {name: record.whole(name) for name in COUNTERS}
        for record in table.read(path).records()
    }


def write_counts(path: Path, launches: Iterable[Launch], counts: Mapping[tuple[str, str], Counts]) -> None:
    about = [
        "What the simulated device counts of the launches of published.tsv, in the shapes that were published. Made by "
        "make accuracy; the same on every machine."
    ]
    rows = [[*launch.key, *(counts[launch.key][name] for name in COUNTERS)] for launch in launches]
    table.write(path, about, ["program", "options", *COUNTERS], rows)


# ---- counting ----


def build(folder: Path, programs: Iterable[str], output: Path, simcc: Path) -> None:
    """Raises subprocess.CalledProcessError."""
    output.mkdir(parents=True, exist_ok=True)
    for program in programs:
        subprocess.run([simcc, folder / f"{program}.cu", "-o", output / program], check=True)


def records(program: Path, arguments: Iterable[str]) -> list[dict[str, Any]]:
    """The launches of a program."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report"
        environment = {**os.environ, "SIM_REPORT": str(report), "SIM_CHECK": "memcheck", "SIM_GPU": "h200"}
        subprocess.run([program, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
        found = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    return [record for record in found if record["type"] == "launch"]


def count(program: Path, launch: Launch) -> Counts:
    """The counts of the whole launch: those of the part that is run, times `part`."""
    (record,) = records(program, launch.arguments)
    return {name: launch.part * record[space][op][quantity] for name, (space, op, quantity) in COUNTERS.items()}
