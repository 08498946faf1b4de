"""The teacher's side of a grading: the chapters of a class, their tasks, and a region put into its places.

In the course every other task of a chapter is solved, so a mistake is charged once. A hand-out has no solutions: there
the other tasks are the student's own, or as they were handed out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lib import edits, tasks

from . import words
from .region import MOST_CHARACTERS, rewrite
from .submission import PLACE, Region, Submission, markers_of
from .tokens import Refusal, Token, tokens_of


def tokens_or_text(text: str) -> tuple[Token, ...] | str:
    """What decides whether two regions are the same: their tokens, wherever they stand."""
    try:
        return tuple(Token(token.kind, token.text, 0) for token in tokens_of(text))
    except Refusal:
        return text


@dataclass
class Chapter:
    name: str
    variant: tuple[str, str]  # kind and value, as class.tsv has them
    tasks: list[tasks.Task]
    given: dict[str, str]  # the .cu and .cuh as they were handed out
    base: dict[str, str]  # the same with every task solved; in a hand-out as `given`
    headers: dict[str, str]  # the .h
    stubs: dict[str, str]  # by task

    @cached_property
    def places(self) -> dict[str, list[str]]:
        """{file: the IDs of its regions}"""
        return tasks.places_of(self.name, self.given)

    def needed(self, name: str) -> list[str]:
        """The files that compiling `name` reads, itself included."""
        everything = {**self.base, **self.headers}
        return [each for each in everything if name in edits.affected(everything, {**everything, each: ""})]

    def spliced(self, regions: Mapping[str, str]) -> dict[str, str]:
        """The sources with regions {task: as it is compiled} in all of their places.

        A region's lines are those of a file ID/NAME, from 1; the others have the numbers of the file as handed out.
        """
        held = {name for name, ids in self.places.items() if regions.keys() & set(ids)}
        spliced = {name: self._spliced_file(name, self.base[name], regions) for name in held}
        return {**self.base, **spliced}

    def _spliced_file(self, name: str, text: str, regions: Mapping[str, str]) -> str:
        given = markers_of(self.given[name])
        out = [f'#line 1 "{name}"\n']
        for part in tasks.take_apart(name, text):
            if part.id in regions:
                out.append(f'#line 1 "{part.id}/{name}"\n{regions[part.id]}')
            else:
                out.append(part.text)
            if part.id is not None:
                out.append(f'#line {given["end", part.id]} "{name}"\n')
        return "".join(out)


@dataclass
class Course:
    """`root` is the course's or the hand-out's own directory; `key` is of a class, None without."""

    root: Path
    key: str | None
    tasks: list[tasks.Task] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.classroom = self.root / "classroom"
        self.tasks = tasks.read_tasks(self.classroom / "tasks.tsv")
        self.is_teacher = (self.classroom / "handout.py").exists()
        if not self.is_teacher:  # chapters may be handed out one after the other
            there = self.classroom / "judge/original"
            self.tasks = [task for task in self.tasks if (there / task.chapter).is_dir()]
        self._chapters: dict[str, Chapter] = {}
        self._names: dict[str, words.Names] = {}

    @cached_property
    def chosen(self) -> dict[str, tuple[str, str]]:
        if self.is_teacher:
            import handout

            return handout.class_of_key(self.key or None)
        rows = tasks.rows_of(self.root / "class.tsv", 3)
        return {chapter: (variant, value) for _, (chapter, variant, value) in rows}

    def chapter(self, name: str) -> Chapter:
        if name not in self._chapters:
            mine = [task for task in self.tasks if task.chapter == name]
            headers = {path.name: tasks.read_text(path) for path in sorted((self.root / name).glob("*.h"))}
            given, base, stubs = self._sources(name, mine)
            self._chapters[name] = Chapter(name, self.chosen[name], mine, given, base, headers, stubs)
        return self._chapters[name]

    def _sources(self, name: str, mine: list[tasks.Task]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        if not self.is_teacher:
            given = tasks.read_sources(self.classroom / "judge/original" / name)
            return given, given, tasks.solutions_of(name, given)
        import handout

        solved, stubs = handout.solved_sources(name, *self.chosen[name]), handout.stubs_of(name, self.chosen)
        given = {file: tasks.fill(f"{name}/{file}", text, stubs)[0] for file, text in solved.items()}
        return given, solved, stubs

    @cached_property
    def chapters(self) -> list[str]:
        return list(dict.fromkeys(task.chapter for task in self.tasks))

    def given_files(self) -> dict[str, str]:
        """{"04_fa1/paper.cu": its text as handed out} of the files that hold tasks."""
        files = {}
        for name in self.chapters:
            chapter = self.chapter(name)
            files.update({f"{name}/{file}": chapter.given[file] for file in chapter.places})
        return files

    def other_files(self) -> frozenset[str]:
        """Names of the chapters' files that hold none."""
        chapters = map(self.chapter, self.chapters)
        return frozenset(file for chapter in chapters for file in chapter.given if file not in chapter.places)

    def names_of(self, task: str) -> words.Names:
        if task not in self._names:
            path = self.classroom / "tasks" / task / "names"
            names = words.parse_names(tasks.read_text(path), path)
            names.constants = self._constants_of(task) - names.variables
            self._names[task] = names
        return self._names[task]

    def _constants_of(self, task: str) -> set[str]:
        """Constants that each file of the task declares above it, or includes: the constant of a class among them."""
        chapter = self.chapter(next(each.chapter for each in self.tasks if each.id == task))
        found = []
        for name in (name for name, ids in chapter.places.items() if task in ids):
            above = chapter.given[name].split("\n")[: markers_of(chapter.given[name])["task", task] - 1]
            included = [chapter.given[each] for each in chapter.needed(name) if each != name and each in chapter.given]
            found.append(set().union(*map(words.constants_of, ["\n".join(above), *included])))
        return set.intersection(*found) if found else set()

    def is_untouched(self, task: str, text: str) -> bool:
        chapter = next(each.chapter for each in self.tasks if each.id == task)
        stub = self.chapter(chapter).stubs[task]
        return len(text) <= MOST_CHARACTERS and tokens_or_text(text) == tokens_or_text(stub)

    def compiled(self, task: str, region: Region) -> str:
        """The region as it is compiled. Raises Refusal; its line is that of the student's file."""
        try:
            return rewrite(region.text, self.names_of(task))
        except Refusal as refusal:
            raise Refusal(refusal.line + region.line - 1, refusal.why) from None

    def located(self, text: str, chapter: str, submission: Submission) -> str:
        """A message's places in the student's own files and lines."""
        given = self.chapter(chapter).given

        def place(match: re.Match) -> str:
            task, name, line = match[1], match[2], int(match[3])
            if region := submission.regions.get(task or ""):
                return f"{Path(region.file).name}:{line + region.line - 1}"
            before = [(at, marker) for marker, at in markers_of(given.get(name, "")).items() if at <= line]
            if before:
                at, marker = max(before)
                line += submission.markers.get((f"{chapter}/{name}", *marker), at) - at
            return f"{name}:{line}"

        return PLACE.sub(place, text)
