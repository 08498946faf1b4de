"""Tables as files, as every program and tool of this course writes them.

Lines that start with "# " say where the numbers come from, the last of them names the columns; then a row a line, cells
separated by tabs. Lines of the form "# key: value" are notes. "NaN" in a column of numbers, "-" in one of text: not
measured. Columns may be added, none is renamed: read them by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .files import InputError, read_text, replace_file

# Columns of no negative number.
COUNTED = re.compile(r"(\w+_)?(bytes|ms|requests|sectors|wavefronts|flop|launches|blocks)")


class TableError(InputError):
    """One line: FILE:LINE: what is wrong."""


class Record(dict[str, str]):
    """A row by its columns' names. Raises TableError for a column that the file does not have."""

    def __init__(self, path: str | Path, cells: Iterable[tuple[str, str]]) -> None:
        super().__init__(cells)
        self.path = path

    def __missing__(self, column: str) -> str:
        raise TableError(f"{self.path}: expected a column {column}")

    def whole(self, column: str) -> int:
        """Raises TableError for what is no count, too."""
        if not re.fullmatch("[0-9]{1,18}", self[column]):
            raise TableError(f"{self.path}: {column}: expected a whole number, got '{self[column]}'")
        return int(self[column])


@dataclass
class Table:
    about: list[str]  # the lines before the columns, without "# "
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    path: str | Path = "-"

    @property
    def title(self) -> str:
        return self.about[0] if self.about else ""

    @property
    def notes(self) -> dict[str, str]:
        found = (re.match(r"(\w+): *(.*?)\s*$", line) for line in self.about)
        return {match[1]: match[2] for match in found if match}

    def records(self) -> list[Record]:
        return [Record(self.path, zip(self.columns, row)) for row in self.rows]

    def column(self, name: str) -> list[str]:
        """The cells of a column; none where there is no such column."""
        return [row[self.columns.index(name)] for row in self.rows] if name in self.columns else []


def parse(text: str, path: str | Path = "-") -> Table:
    """Raises TableError for text that is no such table."""
    about: list[str] = []
    rows: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            if rows:
                raise TableError(f"{path}:{number}: a comment after the first row")
            about.append(line[1:].removeprefix(" "))
            continue
        cells = line.split("\t")
        if not about:
            raise TableError(f"{path}:{number}: expected a line of columns, '# name<TAB>name...', before the rows")
        expected = about[-1].count("\t") + 1
        if len(cells) != expected:
            raise TableError(f"{path}:{number}: expected {expected} cells, got {len(cells)}")
        for name, cell in zip(about[-1].split("\t"), cells):
            if COUNTED.fullmatch(name) and re.match(r"-.|[+-]?inf", cell, re.IGNORECASE):
                raise TableError(f"{path}:{number}: {name} is {cell}, expected 0 or more, or NaN")
        rows.append(cells)
    if not about:
        raise TableError(f"{path}: expected a line of columns, '# name<TAB>name...'")
    return Table(about[:-1], about[-1].split("\t"), rows, path)


def read(path: str | Path) -> Table:
    return parse(read_text(path, TableError), path)


def read_as(path: str | Path, columns: list[str], what: str) -> Table:
    found = read(path)
    if found.columns != columns:
        raise TableError(f"{path}: not a table of {what}")
    return found


def number(cell: str | None) -> float:
    """NaN for a column that is not there, too."""
    try:
        return float(cell) if cell is not None else math.nan
    except ValueError:
        return math.nan


def cell_text(value: object) -> str:
    """None is NaN, nothing "-"; a tab or a line's end within a text becomes a blank."""
    return "NaN" if value is None else re.sub(r"[\t\n\r]+", " ", str(value)) or "-"


def write(path: str | Path, about: Iterable[str], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Replaces the file, whole or not at all."""
    head = [f"# {line}" for line in about] + ["# " + "\t".join(columns)]
    body = ["\t".join(cell_text(cell) for cell in row) for row in rows]
    replace_file(path, "\n".join(head + body) + "\n")
