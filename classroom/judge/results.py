"""What is told: a table for people, results.json for Gradescope, JUnit XML, lines of CSV. Files appear whole or not."""

from __future__ import annotations

import csv
import io
import json
import textwrap
import xml.etree.ElementTree as xml
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lib.files import replace_file
from lib.tasks import Task, rows_of

from .sandbox import Environment
from .submission import one_line, readable
from .verdict import NOT_JUDGED, SOMETHING_ELSE, Criterion, nothing_to_grade

_ROWS = [row for _, row in rows_of(Path(__file__).with_name("criteria.tsv"), 3)]
WEIGHTS = {name: int(percent) for name, percent, _ in _ROWS}
NAMES = {name: words for name, _, words in _ROWS}
COLUMNS = {name: {"hbm": "memory"}.get(name, name) for name in NAMES}


def points(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


@dataclass
class TaskResult:
    task: Task
    criteria: dict[str, Criterion] = field(default_factory=dict)  # none: not graded yet
    predictions: list[str] = field(default_factory=list)  # "KERNEL OPTIONS: right"
    checksum: str = ""  # of all that the criteria depend on; none: they may not be used again
    share: float = 1.0  # of the points, which a late hand-in keeps
    failed: bool = False  # not graded, by a failure of the grader's own

    @property
    def full(self) -> bool:
        return bool(self.criteria) and all(criterion.passed for criterion in self.criteria.values())

    @property
    def unjudged(self) -> float:
        """Points."""
        share = sum(WEIGHTS[name] for name, criterion in self.criteria.items() if criterion.category == NOT_JUDGED)
        return self.task.points * share / 100

    @property
    def score(self) -> float:
        share = sum(WEIGHTS[name] for name, criterion in self.criteria.items() if criterion.passed)
        return round(self.task.points * share / 100, 2)

    @property
    def final(self) -> float:
        return self.score * self.share

    @property
    def is_known(self) -> bool:
        return bool(self.criteria) and not self.failed


def final_of(tasks: Iterable[TaskResult]) -> float:
    return sum(each.final for each in tasks)


@dataclass
class Results:
    tasks: list[TaskResult]
    notes: list[str] = field(default_factory=list)
    trouble: str = ""  # why nothing of the submission can be used, or why it is not graded
    doubt: str = ""  # whether it is of this class
    failure: str = ""  # of the grader itself: then these are no points
    complete: bool = False
    checksum: str = ""  # of the submission, the class and the course
    also: str = ""  # a further remark

    @property
    def score(self) -> float:
        return round(sum(each.score for each in self.tasks), 2)

    @property
    def most(self) -> float:
        return round(sum(each.task.points for each in self.tasks), 2)

    def no_points(self, category: str, trouble: str) -> None:
        self.trouble = trouble
        for each in self.tasks:
            each.criteria = nothing_to_grade(category, trouble)
            each.failed, each.checksum = bool(self.failure), ""

    def take_over(self, known: Mapping[str, TaskResult]) -> None:
        """What was found out about the same submission, class and course."""
        for at, each in enumerate(self.tasks):
            old = known.get(each.task.id)
            if old and old.checksum == self.checksum and not old.failed:
                self.tasks[at] = old

    @property
    def flagged(self) -> list[str]:
        """The tasks that did something else: far too few bytes."""
        return [
            each.task.id for each in self.tasks if any(of.category == SOMETHING_ELSE for of in each.criteria.values())
        ]

    @property
    def remark(self) -> str:
        flagged = self.flagged
        own = self.trouble or (f"look at {', '.join(flagged)}: {SOMETHING_ELSE}" if flagged else self.doubt)
        return "; ".join(filter(None, (own, self.also)))


def write_file(path: str | Path, text: str) -> None:
    try:
        replace_file(path, text)
    except OSError as error:
        raise Environment(f"RESULTS={path}: cannot be written: {error.strerror}") from error


# ---- the table ----


def wrapped(text: str, first: str, rest: str) -> str:
    """Lines of 80 columns; `first` stands before the text, `rest` before its other lines."""
    first += "" if first.endswith(" ") or not first else " "
    lines = textwrap.wrap(one_line(text), 80, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return "\n".join(lines or [first.rstrip()]) + "\n"


def _row(first: str, cells: list[str], last: str) -> str:
    columns = "".join(f"{cell:<{len(name) + 1}}" for cell, name in zip(cells, COLUMNS.values()))
    return f"{first:<18} {columns}{last:>9}\n"


def _mark(criterion: Criterion | None) -> str:
    if criterion is None or criterion.passed:
        return "ok" if criterion else ""
    return "NO" if criterion.ran else "?" if criterion.category == NOT_JUDGED else "-"


def table(results: Results) -> str:
    text = _row("task", list(COLUMNS.values()), "points")
    chapter = ""
    for each in results.tasks:
        text += "\n" if chapter not in ("", each.task.chapter) else ""
        chapter = each.task.chapter
        marks = [_mark(each.criteria.get(name)) for name in COLUMNS]
        own = "?" if each.unjudged else points(each.score)
        text += _row(each.task.id, marks, f"{own}/{points(each.task.points)}")
    return text + f"\n{'all tasks':<60}{points(results.score) + '/' + points(results.most):>9}\n"


def explained(each: TaskResult) -> str:
    """Every point that is missing, and why. What is lost only because of another criterion is one line."""
    text, follow, lost = "", [], 0.0
    unjudged: dict[tuple[str, str], list[str]] = {}
    for name, criterion in each.criteria.items():
        share = each.task.points * WEIGHTS[name] / 100
        if criterion.passed:
            if criterion.message:  # of a budget, or a warning
                label = "warning (no points lost)" if name == "hazards" else NAMES[name]
                text += wrapped(criterion.message, f"  {label}:", "      ")
        elif criterion.category == NOT_JUDGED:
            unjudged.setdefault((criterion.message, criterion.hint), []).append(NAMES[name])
        elif criterion.category == "not counted":
            follow.append(NAMES[name])
            lost += share
        else:
            text += wrapped(criterion.message, f"  -{points(share)} {NAMES[name]}:", "      ")
            if criterion.hint:
                text += wrapped(criterion.hint, "      hint:", "      ")
    for (message, hint), names in unjudged.items():
        what = "" if len(names) == len(NAMES) else f", {', '.join(names)}"
        text += wrapped(message, f"  {NOT_JUDGED}{what}:", "      ")
        text += wrapped(hint, "      hint:", "      ") if hint else ""
    if follow:
        text += wrapped(f"{', '.join(follow)}: not counted without the above", f"  -{points(lost)}", "      ")
    return text


def predicted(results: Results) -> str:
    """The tasks of a kernel share what was predicted of it."""
    lines = dict.fromkeys(line for each in results.tasks for line in each.predictions)
    return "".join(wrapped(line, "prediction (no points):", "      ") for line in lines)


def human(results: Results) -> str:
    text = table(results)
    lost = [each for each in results.tasks if not each.full]
    told = [each for each in results.tasks if not each.full or each.criteria["hazards"].message]
    if lost:
        text += "\nok: has its points   NO: has not   -: not counted, because of another\n"
        if unjudged := sum(each.unjudged for each in lost):
            text += f"?: not judged in this tree, {points(unjudged)} points: your teacher's has all tasks solved\n"
    for each in told:
        text += "\n" + wrapped(each.task.title, f"{each.task.id}:", "    ") + explained(each)
    predictions = predicted(results)
    text += f"\n{predictions}" if predictions else ""
    text += "\n" + "".join(wrapped(note, "note:", "      ") for note in results.notes) if results.notes else ""
    return text


# ---- files ----


def gradescope(results: Results, state: bool = False) -> str:
    """gradescope-autograders.readthedocs.io, "Output format". No test is hidden: that would hide the total.
    `state`: also what a later call needs to go on from here, as the "extra_data" of that format."""
    tests = [
        {
            "name": f"{each.task.chapter}: {each.task.title}",
            "number": each.task.id,
            "score": each.score,
            "max_score": each.task.points,
            "status": "passed" if each.full else "failed",
            "output_format": "text",
            "output": explained(each) or "all points",
            "tags": [each.task.chapter],
            "visibility": "visible",
        }
        for each in results.tasks
    ]
    output = one_line(results.trouble) + "\n" if results.trouble else table(results)
    output += predicted(results) + "".join(f"note: {one_line(note)}\n" for note in results.notes)
    if not results.complete:
        output += "The grader was stopped before it had graded everything.\n"
    extra = {}
    if state:
        judged = {each.task.id: {**vars(each), "task": each.task.id} for each in results.tasks}
        # A text, since it is written quicker than what is indented, and keeps its order.
        extra["extra_data"] = {"judged": json.dumps(judged, default=vars, ensure_ascii=False)}
    whole = {"score": results.score, "output": output, "output_format": "text", "stdout_visibility": "hidden"}
    return json.dumps({**whole, **extra, "tests": tests}, indent=3, sort_keys=True, ensure_ascii=False) + "\n"


def read_state(path: Path, tasks: list[Task]) -> dict[str, TaskResult]:
    """{task: what was found out}; nothing of a file that is not there, or not ours."""
    try:
        judged = json.loads(json.loads(path.read_text(encoding="utf-8"))["extra_data"]["judged"])
        found = {}
        for task in (task for task in tasks if task.id in judged):
            own = {**judged[task.id], "task": task}
            own["criteria"] = {name: Criterion(**fields) for name, fields in own["criteria"].items()}
            if own["criteria"].keys() == NAMES.keys():
                found[task.id] = TaskResult(**own)
        return found
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def junit(results: Results) -> str:
    """A suite a chapter, a case a task and criterion."""
    root = xml.Element("testsuites")
    suites: dict[str, xml.Element] = {}
    for each in results.tasks:
        chapter = each.task.chapter
        if chapter not in suites:
            suites[chapter] = xml.SubElement(root, "testsuite", name=chapter)
        for name, criterion in each.criteria.items():
            place = {"classname": chapter, "name": f"{each.task.id}: {NAMES[name]}"}
            case = xml.SubElement(suites[chapter], "testcase", place)
            if not criterion.passed:
                why = readable("\n".join(filter(None, (criterion.message, criterion.hint))))
                xml.SubElement(case, "failure", message=criterion.category).text = why
    for node in (root, *suites.values()):
        node.set("tests", str(len(list(node.iter("testcase")))))
        node.set("failures", str(len(list(node.iter("failure")))))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def csv_line(*fields: object) -> str:
    texts = [one_line(str(value)) for value in fields]
    # a spreadsheet would take it for a formula
    texts = [f"'{text}" if text.startswith(("=", "+", "-", "@")) else text for text in texts]
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(texts)
    return line.getvalue()


MOODLE = ("Identifier", "Full name", "ID number", "Email address", "Grade", "Maximum Grade", "Last modified (grade)")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def moodle_csv(rows: list[tuple[str, str, str, str, str]], most: str) -> str:
    """Of (number, name, ID, e-mail, points): for "Upload grading worksheet" of an assignment, which reads Identifier,
    Grade and the last column (mod/assign/feedback/offline/importgradeslib.php, locallib.php: no time is older than any
    grade, so one that is there stays), and for docs.moodle.org/en/Grade_import, which maps an ID or an e-mail."""
    lines = (
        (f"Participant {number}" if number else "", name, own, email, points, most, "")
        for number, name, own, email, points in rows
    )
    return csv_line(*MOODLE) + "".join(csv_line(*line) for line in lines)


def canvas_csv(rows: list[tuple[str, str, str, str, str]], assignment: str, most: str) -> str:
    """Of (number, name, ID, e-mail, points): for "Import" in the gradebook (lib/gradebook_importer.rb): a student is
    found by ID, else by the SIS columns, else by name; an assignment by "Title (ID)" or its title, or is made."""
    title = csv_line(*CANVAS, assignment) + csv_line("Points Possible", "", "", "", "", most)
    return title + "".join(csv_line(name, number, own, email, "", points) for number, name, own, email, points in rows)
