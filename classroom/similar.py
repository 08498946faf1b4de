#!/usr/bin/env python3
"""Which students have the same text, or nearly, in a task: `make similar SUBMISSIONS=bulk.zip [RESULTS=DIR]`.

Reads what `make grade SUBMISSIONS=` reads. Writes RESULTS/similar.csv, the pairs, and RESULTS/similar.html, both texts
side by side of those that are remarkable; both for their owner's eyes only (0600). Nothing leaves this machine.

A region is compared by its tokens, without comments, blanks and the lines of the hand-out's stub; all names that a
student chose are the same name. The score is the share of common runs of five tokens (k-grams, k = 5: the fingerprints
of Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003). Their paper keeps some of a document's fingerprints, since it
has millions of lines; a region has about ten, so all are kept. TEACHING.md says what this cannot know.
"""

from __future__ import annotations

import argparse
import html
import itertools
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import collect
import grade
import handout
from judge import submission, words
from judge.course import Course
from judge.region import MOST_CHARACTERS
from judge.results import csv_line
from judge.tokens import Refusal, Token, tokens_of
from lib.files import give_up, replace_file, run_tool
from lib.tasks import TaskError, solutions_of

ROOT = Path(__file__).resolve().parents[1]
RUN = 5  # tokens; k of the paper
LEAST = 0.8  # score of a pair that is listed
RARE_STUDENTS, RARE_SHARE = 3, 1 / 20  # a run of tokens is rare if no more students have it, or no greater share
RARE_RUNS = 8  # of a remarkable pair; one token that differs from the published solution makes five
FEW = 10  # hand-ins of a task; with fewer, nobody knows what is common

Runs = Counter[tuple[str, ...]]


@dataclass
class Text:
    """A region of a student, with the tokens that are its student's own work."""

    student: str
    shown: str
    tokens: list[tuple[str, int]]  # as they are compared, and their lines

    @cached_property
    def form(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.tokens)

    @cached_property
    def runs(self) -> Runs:
        return Counter(self.form[at : at + RUN] for at in range(max(1, len(self.form) - RUN + 1)))

    def lines_with(self, runs: set[tuple[str, ...]]) -> set[int]:
        at = (at for at in range(len(self.form)) if self.form[at : at + RUN] in runs)
        return {line for first in at for _, line in self.tokens[first : first + RUN]}


@dataclass
class Pair:
    task: str
    score: float
    one: Text
    other: Text
    rare: set[tuple[str, ...]]

    @property
    def is_remarkable(self) -> bool:
        return len(self.rare) >= RARE_RUNS


def compared(token: Token, given: frozenset[str]) -> str:
    """A name that the student chose is any name; 1.0f is 1.f."""
    if token.kind == "word":
        return token.text if token.text in given else "name"
    if token.kind == "number" and (match := re.fullmatch(r"([0-9.]+(?:[eE][+-]?\d+)?)[fFlLuU]*", token.text)):
        return f"{float(match[1]):g}"
    return f"#{token.text}" if token.kind == "pragma" else token.text


def lines_of(text: str, given: frozenset[str]) -> dict[int, list[str]]:
    """The tokens of each line; of what is no C, its words."""
    lines: dict[int, list[str]] = {}
    try:
        for token in tokens_of(text):
            lines.setdefault(token.line, []).append(compared(token, given))
    except Refusal:
        lines = {number: line.split() for number, line in enumerate(text.split("\n"), 1)}
    return lines


def own_text(student: str, text: str, stub: str, given: frozenset[str]) -> Text:
    handed_out = list(lines_of(stub, given).values())
    own = {line: tokens for line, tokens in lines_of(text, given).items() if tokens not in handed_out}
    return Text(student, text, [(token, line) for line, tokens in own.items() for token in tokens])


def given_names(course: Course, task: str) -> frozenset[str]:
    """What means the same in every submission: the words of the language, and the names of the task's place."""
    names = course.names_of(task)
    scoped = {part for pair in names.scoped for part in pair}
    mine = (names.variables, names.members, names.functions, names.templates, names.types, names.declared)
    language = (words.ARITHMETIC, words.VECTORS, words.STATEMENTS, words.OTHER_WORDS, words.BUILT_IN, words.CONSTANTS)
    return frozenset().union(*mine, names.constants, scoped, *language, words.COMPONENTS, words.FUNCTIONS)


def score_of(one: Runs, other: Runs) -> float:
    return 2 * sum((one & other).values()) / (sum(one.values()) + sum(other.values()))


def pairs_of(task: str, texts: list[Text], published: Text) -> list[Pair]:
    """Those of a score of LEAST, the rarest first. Equal texts are compared once."""
    texts = [text for text in texts if text.form]
    students = Counter(run for text in texts for run in text.runs)
    most = max(RARE_STUDENTS, len(texts) * RARE_SHARE)
    rare = {run for run, number in students.items() if number <= most} - set(published.runs)
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], float] = {}
    found = []
    for one, other in itertools.combinations(texts, 2):
        both = (one.form, other.form)
        if both not in known:
            known[both] = score_of(one.runs, other.runs)
        if known[both] >= LEAST:
            found.append(Pair(task, known[both], one, other, rare & one.runs.keys() & other.runs.keys()))
    return sorted(found, key=lambda pair: (-pair.is_remarkable, -pair.score, -len(pair.rare)))


def said_of(task: str, texts: list[Text], published: Text) -> str:
    """How many have the same text: what to expect of this task."""
    forms = Counter(text.form for text in texts if text.form)
    parts = [f"{task}: {sum(forms.values())} handed in something"]
    if number := forms.pop(published.form, 0):
        parts.append(f"{number} as the published solution")
    if shared := sorted((number for number in forms.values() if number > 1), reverse=True):
        parts.append(f"the same among themselves: {', '.join(map(str, shared))}")
    if len([text for text in texts if text.form]) < FEW:
        parts.append(f"fewer than {FEW}: what is rare is not known")
    return "; ".join(parts)


def texts_of(course: Course, tasks: list, hands: list[collect.HandIn]) -> tuple[dict[str, list[Text]], list[str]]:
    given = course.given_files()
    known = frozenset(task.id for task in course.tasks)
    names = {task.id: given_names(course, task.id) for task in tasks}
    stubs = {task.id: course.chapter(task.chapter).stubs[task.id] for task in tasks}
    texts: dict[str, list[Text]] = {task.id: [] for task in tasks}
    unread = []
    for hand in hands:
        if hand.is_absent:
            continue
        try:
            found = submission.read_entries(hand.entries(), given, known, course.is_untouched)
        except submission.Unusable as error:
            unread.append(f"{hand.label}: not compared: {error}")
            continue
        for task in texts.keys() & found.regions.keys():
            text = found.regions[task].text
            if len(text) <= MOST_CHARACTERS:
                texts[task].append(own_text(hand.student.name or hand.label, text, stubs[task], names[task]))
            else:
                unread.append(f"{hand.label}: {task}: not compared: {len(text)} characters")
    return texts, unread


# ---- what is written ----

PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>Similar regions</title>
<style>body{font:15px sans-serif;margin:2em} div{display:flex;gap:1em} pre{flex:1;background:#f4f4f4;padding:.6em}
mark{background:#ffe08a}</style>
<h1>Similar regions</h1>
<p>Marked lines hold what few others have. Equal texts are a reason to ask, and no proof: this page does not know who
wrote a text first, whether both had it from elsewhere, or whether they were allowed to work together.</p>
"""


def column(text: Text, marked: set[int]) -> str:
    lines = enumerate(submission.readable(text.shown).rstrip("\n").split("\n"), 1)
    shown = (f"<mark>{html.escape(line)}</mark>" if at in marked else html.escape(line) for at, line in lines)
    return f"<pre><b>{html.escape(submission.one_line(text.student))}</b>\n" + "\n".join(shown) + "</pre>"


def page_of(said: list[str], pairs: list[Pair], unread: list[str]) -> str:
    lines = (f"<li>{html.escape(each)}" for each in [*said, *map(submission.one_line, unread)])
    out = [PAGE, "<ul>", *lines, "</ul>\n"]
    for pair in (pair for pair in pairs if pair.is_remarkable):
        sides = (column(text, text.lines_with(pair.rare)) for text in (pair.one, pair.other))
        out.append(f"<h2>{pair.task}: {pair.score:.0%}</h2>\n<div>{''.join(sides)}</div>\n")
    return "".join(out)


def table_of(pairs: list[Pair]) -> str:
    lines = [csv_line("task", "score", "one", "other", "rare runs", "remarkable", "to the letter")]
    for pair in pairs:
        same = "yes" if pair.one.shown.split() == pair.other.shown.split() else ""
        names, remarkable = (pair.one.student, pair.other.student), "yes" if pair.is_remarkable else ""
        lines.append(csv_line(pair.task, f"{pair.score:.2f}", *names, len(pair.rare), remarkable, same))
    return "".join(lines)


def write_private(path: Path, text: str) -> None:
    """Readable by its owner only, also where a file of that name was, whose mode would stay."""
    if path.is_file():
        path.chmod(0o600)
    replace_file(path, text)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="similar", description=__doc__.split("\n")[0])
    parser.add_argument("--submissions", metavar="BULK", help="as make grade takes it")
    parser.add_argument("--results", default=ROOT / "build/similar", metavar="DIR")
    parser.add_argument("--key", help="that the hand-out was made with")
    parser.add_argument("--only", metavar="TASKS", help="chapters and tasks: 04_fa1,05.skip")
    parser.add_argument("--roster", help="as make grade takes it")
    return grade.filled(parser, "submissions", "results", "roster")


def main() -> int:
    options = parse()
    os.umask(0o077)
    if options.submissions is None:
        give_up("similar", 2, "of whom? make similar SUBMISSIONS=bulk.zip [RESULTS=DIR] [KEY=key] [ONLY=04_fa1]")
    try:
        if options.key is not None:
            handout.key_of(options.key, "KEY= (--key)")
        course = Course(ROOT, options.key)
        tasks = grade.chosen(course.tasks, options.only)
        ids = [task.id for task in course.tasks]
        hands, left_out = collect.collect(options.submissions, ids, course.chapters, options.results)
        if options.roster:
            hands = collect.enroll(hands, collect.read_roster(options.roster))
    except (collect.Wrong, TaskError) as error:
        give_up("similar", 2, submission.one_line(str(error)))
    try:
        options.results.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        give_up("similar", 3, f"RESULTS={options.results}: cannot be made: {error.strerror}")
    texts, unread = texts_of(course, tasks, hands)
    said, pairs = [], []
    for task in tasks:
        chapter = course.chapter(task.chapter)
        solution = solutions_of(task.chapter, chapter.base)[task.id]
        published = own_text("the course", solution, chapter.stubs[task.id], given_names(course, task.id))
        if texts[task.id]:
            said.append(said_of(task.id, texts[task.id], published))
            pairs += pairs_of(task.id, texts[task.id], published)
    remarkable = sum(pair.is_remarkable for pair in pairs)
    write_private(options.results / "similar.csv", table_of(pairs))
    write_private(options.results / "similar.html", page_of(said, pairs, [*left_out, *unread]))
    print("\n".join([*said, *map(submission.one_line, [*left_out, *unread])]))
    print(f"{len(pairs)} similar pairs, {remarkable} of them remarkable: {options.results}/similar.html")
    return 0


if __name__ == "__main__":
    run_tool("similar", main)
