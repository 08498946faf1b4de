"""The tasks of the classroom: the table classroom/tasks.tsv, and the regions in the chapters' sources.

A region is what lies between two lines of a .cu or .cuh, both of which stay in a hand-out:

    // task ID: title
    ... the chapter's own lines, which are the solution; in a hand-out the stub
    // end ID

A task may have several regions, in neighboring files; they have the same text but for their indentation. Texts of
tasks (classroom/tasks/ID/stub.cu and the like) are kept without any. Used by classroom/handout.py and hint.py and by
tests/classroom/mutants.py; a hand-out has this file, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .files import InputError

BEGIN = re.compile(r"([ \t]*)// task ([^\s:]+):")
END = re.compile(r"\s*// end (\S+)\s*$")
NOT_TEXT = "is no text: it has bytes of value 0 (UTF-16?); save it as UTF-8"


class TaskError(InputError):
    """One line: where, and what is wrong."""


@dataclass(frozen=True)
class Task:
    number: int  # of `make hint N=...`
    id: str
    chapter: str
    kernels: list[str]  # those that cannot be right without it
    title: str
    lines: int  # about how many the solution takes
    points: float


@dataclass
class Part:
    """A piece of a source: what is given (id None), or a region."""

    id: str | None
    text: str
    indent: str = ""  # of a region's first marker


def read_text(path: Path) -> str:
    """Whatever bytes a file has come back when it is written; line ends stay."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from error


def rows_of(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of a file of rows whose fields tabs separate; # for comments, anywhere."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != columns:
                raise TaskError(f"{path}:{number}: {len(fields)} fields, expected {columns} separated by tabs")
            yield number, fields


def read_tasks(path: Path) -> list[Task]:
    tasks: list[Task] = []
    for number, (name, chapter, kernels, title, lines, points) in rows_of(path, 6):
        if not lines.isdigit() or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", points):
            raise TaskError(f"{path}:{number}: lines '{lines}', points '{points}': expected numbers")
        if any(task.id == name for task in tasks):
            raise TaskError(f"{path}:{number}: task {name} stands there twice")
        tasks.append(Task(len(tasks) + 1, name, chapter, kernels.split(","), title, int(lines), float(points)))
    return tasks


def read_sources(directory: Path, patterns: Iterable[str] = ("*.cu", "*.cuh")) -> dict[str, str]:
    """{file name: text} of a chapter's sources, by default those that may have regions."""
    paths = sorted(path for pattern in patterns for path in directory.glob(pattern))
    return {path.name: read_text(path) for path in paths}


def take_apart(where: str, text: str) -> list[Part]:
    """The parts of a source, in their order; the lines of the markers are in the given ones."""
    parts = [Part(None, "")]
    for line in re.findall(r"[^\n]*\n|[^\n]+$", text):
        inside = parts[-1].id
        if inside is not None:
            if not (end := END.match(line)):
                parts[-1].text += line
                continue
            if end[1] != inside:
                raise TaskError(f"{where}: '// end {end[1]}' where '// end {inside}' was expected")
            parts.append(Part(None, ""))
        parts[-1].text += line
        if begin := BEGIN.match(line):
            parts.append(Part(begin[2], "", begin[1]))
    if parts[-1].id is not None:
        raise TaskError(f"{where}: no line '// end {parts[-1].id}'")
    return parts


def indented(text: str, indent: str) -> str:
    """A task's text as it stands in a source. Lines of the preprocessor begin at the margin."""
    return re.sub(r"^(?=[^#\n])", indent, text, flags=re.MULTILINE)


def without_indent(where: str, part: Part) -> str:
    """The text of a region as the text of its task is kept."""
    lines = re.findall(r"[^\n]*\n", part.text)
    for line in lines:
        if not line.startswith((part.indent, "#", "\n")):
            raise TaskError(f"{where}: task {part.id}: less indented than its marker: {line.strip()}")
    return "".join(line if line.startswith("#") else line[len(part.indent) :] or "\n" for line in lines)


def fill(where: str, text: str, texts: Mapping[str, str]) -> tuple[str, int]:
    """A source with texts in its regions, those of other tasks as they are; and how many regions were filled."""
    parts = take_apart(where, text)
    regions = [part for part in parts if part.id in texts]
    for part in regions:
        part.text = indented(texts[part.id or ""], part.indent)
    return "".join(part.text for part in parts), len(regions)


def places_of(where: str, sources: Mapping[str, str]) -> dict[str, list[str]]:
    """{file name: IDs of its regions} of the files that hold any."""
    found = {}
    for name, text in sources.items():
        if regions := [part.id for part in take_apart(f"{where}/{name}", text) if part.id is not None]:
            found[name] = regions
    return found


def solutions_of(where: str, sources: Mapping[str, str]) -> dict[str, str]:
    """{ID: text} of a chapter's own regions; two of one ID that differ are a mistake in the chapter."""
    solutions: dict[str, str] = {}
    for name, text in sources.items():
        for part in take_apart(f"{where}/{name}", text):
            if part.id is not None:
                own = without_indent(f"{where}/{name}", part)
                if solutions.setdefault(part.id, own) != own:
                    raise TaskError(f"{where}/{name}: task {part.id}: not the same lines as in its first place")
    return solutions
