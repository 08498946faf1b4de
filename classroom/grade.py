#!/usr/bin/env python3
"""Grades a submission, or looks at one without grading it: `make grade`, `make check-submission` and the autograder.

classroom/README.md has the rules and the points. Nothing of a submission counts but the text between the marker lines
of tasks (judge/submission.py), as the tokens that judge/region.py recognizes; judge/course.py puts it into the
teacher's own files.

Exit status: 0 graded and written; 1 --require was not reached, or --check found something; 2 a mistake in the command
line or a submission that cannot be used; 3 this machine cannot (a compiler, a disk that is full): of a folder, all that
it can are graded.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "simcc"))

import collect
from driver.counterpart import counterpart
from judge import cases as casebook
from judge import results as told
from judge import sandbox
from judge import submission as handed_in
from judge.build import Builder, Failure, alone, folder_of, run_quietly
from judge.course import Course
from judge.once import Once
from judge.results import Results, TaskResult
from judge.sandbox import Environment
from judge.submission import Submission, Unusable, one_line, readable
from judge.tokens import Refusal
from judge.verdict import NOT_JUDGED, SOMETHING_ELSE, Criterion, Judge, nothing_to_grade
from lib.files import give_up, run_tool
from lib.tasks import Task, TaskError, read_text, rows_of

CLASSROOM = Path(__file__).resolve().parent
ROOT = CLASSROOM.parent
COURSE = re.compile(r".*\.(py|c|h|cu|cuh|tsv|mk|S|edits)|names|simcc|Makefile")
PAUSE = 0.5  # seconds, from one to the next file that says how far the grading of a student is
INDEX = ".students"  # of a folder's results
EPILOG = """\
CC and CXX choose the compiler. GRADE_SANDBOX=bwrap|namespaces|user|limits insists on one. GRADE_CPU_SECONDS=4 and
GRADE_MEMORY_MB=1024 are of one run of one kernel, GRADE_REGION_SECONDS=20 of all runs of a region,
GRADE_COMPILE_SECONDS=20 of one compilation. GRADE_JOBS=2: how many tasks are judged at a time.
"""


class Grader:
    """Of one class. Regions with the same tokens are judged once, whoever handed them in."""

    def __init__(self, course: Course, only: str | None, scratch: Path, secret: str = "") -> None:
        """`secret`: cases are drawn from it, the key and a region."""
        self.course, self.scratch, self.secret = course, scratch, secret
        self.cc = os.environ.get("CC") or "gcc"
        self.cxx = os.environ.get("CXX") or counterpart("c++", self.cc)
        self.tasks = chosen(course.tasks, only)
        self.cases = casebook.read_cases(CLASSROOM / "judge/cases.tsv")
        self.needs = {
            task: (name, float(most)) for _, (task, name, most, _) in rows_of(CLASSROOM / "judge/needs.tsv", 4)
        }
        asked = [path for path in (CLASSROOM / "student/predictions.txt", ROOT / "predictions.txt") if path.exists()]
        self.questions = list(casebook.parse_predictions(read_text(asked[0]))[0]) if asked else []
        self._device: Once[None] = Once()
        self._judges: Once[Judge] = Once()
        self._judged: Once[dict[str, Criterion]] = Once()

    def judge_of(self, chapter: str) -> Judge:
        """Builds what does not depend on a submission, when it is first asked for."""
        return self._judges.get(chapter, lambda: self._make_judge(chapter))

    def _make_judge(self, chapter: str) -> Judge:
        self._device.get(None, self._build_device)
        builder = Builder(self.course, self.course.chapter(chapter), self.cc, self.cxx, self.scratch)
        builder.build_kit()
        return Judge(self.course, builder)

    def _build_device(self) -> None:
        """The simulated device, once: links then need not look at its sources."""
        if os.environ.get("SIM_LIB"):
            return
        base = os.environ.get("SIM_BUILD") or str(ROOT / "simcc/build")
        command = ["make", "-s", "-C", str(ROOT / "simcc"), "lib", f"CC={self.cc}", f"CXX={self.cxx}"]
        with alone(ROOT):
            run_quietly(command, "the simulated device does not build")
        library = Path(base, folder_of(self.cxx.split()), "libsim.a")
        if library.exists():
            os.environ["SIM_LIB"] = str(library)

    def prepare(self) -> None:
        for chapter in dict.fromkeys(task.chapter for task in self.tasks):
            builder = self.judge_of(chapter).builder
            for name in filter(lambda name: name.endswith(".cu"), builder.chapter.base):
                builder.solved_object(name)

    # ---- a submission ----

    def read(self, path: Path | collect.HandIn) -> Submission:
        known = frozenset(task.id for task in self.course.tasks)
        entries = handed_in.entries_in(path) if isinstance(path, Path) else path.entries()
        given, others = self.course.given_files(), self.course.other_files()
        return handed_in.read_entries(entries, given, known, self.course.is_untouched, others)

    @cached_property
    def basis(self) -> str:
        """Of all that decides about points but the submission: the class, the course, and how it is judged."""
        found = hashlib.sha256(repr((self.secret, self.course.key, self.cc, self.cxx)).encode())
        found.update(repr([sandbox.limit(name) for name in sandbox.LIMITS]).encode())
        for name in ("classroom", "common", "simcc", "tools/lib", *self.course.chapters):
            for path in sorted((ROOT / name).rglob("*")):
                own = path.relative_to(ROOT)
                if COURSE.fullmatch(path.name) and path.is_file() and not {"tests", "build"}.intersection(own.parts):
                    with contextlib.suppress(FileNotFoundError):  # of somebody who is writing another one
                        found.update(f"\n{own}\n".encode() + path.read_bytes())
        return found.hexdigest()

    def grade(
        self,
        path: Path | collect.HandIn,
        save: Callable[[Results], None],
        tasks: list[Task] | None = None,
        known: Mapping[str, TaskResult] | None = None,
    ) -> Results:
        """Of the chosen tasks, or `tasks`, which are of these. `save` is called after each. What is `known` of the same
        submission, class and course is taken over."""
        results = Results([TaskResult(task) for task in tasks or self.tasks])
        how, why = sandbox.kind()
        kinds = {"bwrap": "in bwrap, with limits", "namespaces": "in namespaces of their own, with limits"}
        kinds["user"] = f"as another user, with limits ({why})"
        results.notes.append(f"submissions run {kinds.get(how, f'with limits alone ({why})')}")
        try:
            submission = self.read(path)
            if known is not None:
                results.checksum = hashlib.sha256(f"{self.basis} {submission.checksum}".encode()).hexdigest()
                results.take_over(known)
            self._grade(submission, results, save)
        except Unusable as error:
            results.no_points("not there", f"not graded: {_unusable(path, error)}")
        except Exception as error:  # whatever one submission does to the grader, the next one is graded
            results.failure = str(error) if isinstance(error, Environment) else f"{type(error).__name__}: {error}"
            first = results.failure.partition("\n")[0]  # what follows may quote the teacher's files
            results.no_points("not graded", f"not graded: {first}; this is the grader's failure, not yours")
        results.complete = True
        save(results)
        return results

    def seen(self, hand: collect.HandIn) -> Results:
        """What is said of a hand-in as a whole, that is not graded in this call."""
        results = Results([], complete=True)
        try:
            if not hand.is_absent:
                results.doubt = self._of_another_class(self.read(hand))
        except Unusable as error:
            results.trouble = f"not graded: {_unusable(hand, error)}"
        return results

    def _grade(self, submission: Submission, results: Results, save: Callable[[Results], None]) -> None:
        results.notes += submission.remarks
        results.doubt = self._of_another_class(submission)
        results.notes += [results.doubt] * bool(results.doubt)
        if submission.unread and any(each.task.id not in submission.regions for each in results.tasks):
            results.also = f"a task is missing, and not read: {', '.join(submission.unread[:3])}"
        self._read_predictions(submission, results)
        save(results)
        with ThreadPoolExecutor(_jobs()) as pool:
            left = [each for each in results.tasks if not each.criteria]
            jobs = {pool.submit(self._criteria_of, each.task, submission): each for each in left}
            try:
                for job in as_completed(jobs):
                    jobs[job].criteria, jobs[job].checksum = job.result(), results.checksum
                    save(results)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # a signal, or a machine that cannot

    def _of_another_class(self, submission: Submission) -> str:
        """What says so: its own table, or given files that are not those of this class."""
        rows = [line.split("\t") for line in submission.texts.get("class.tsv", "").splitlines()]
        for chapter, *variant in rows:
            graded = list(self.course.chosen.get(chapter, variant))
            if len(variant) == 2 and variant != graded:
                its, ours = (readable(" ".join(each).removesuffix(" -"))[:40] for each in (variant, graded))
                return f"class.tsv of this submission says {its} for {chapter}; graded as {ours}: is it another KEY?"
        if self.course.is_teacher and len(submission.altered) > 1:
            files = ", ".join(sorted(submission.altered)[:2])
            return f"{files} differ outside of the tasks: if the student did not change them, is it another KEY?"
        return ""

    def _criteria_of(self, task: Task, submission: Submission) -> dict[str, Criterion]:
        region = self._region_of(task, submission)
        if isinstance(region, Failure):
            how = "it is refused: " * (region.category == "refused")
            criteria = nothing_to_grade(region.category, f"not graded: {how}{region.message}", region.hint)
        else:
            regions, missing = self._neighbors_of(task, submission)
            regions[task.id] = region
            key = (task.id, missing, *sorted(regions.items()))
            criteria = self._judged.get(key, lambda: self._judge_region(task, regions, missing))
        need, most = self.needs.get(task.id, ("", 0))
        if need and not criteria[need].passed and (most <= 1 or criteria[need].times > most):
            lost = Criterion(False, category="not counted", message=f"not counted: this task is its {told.NAMES[need]}")
            lost = criteria[need] if criteria[need].category == NOT_JUDGED else lost
            criteria = {name: lost if each.passed else each for name, each in criteria.items()}
        return {
            name: replace(each, message=self.course.located(each.message, task.chapter, submission))
            for name, each in criteria.items()
        }

    def _judge_region(self, task: Task, regions: dict[str, str], missing: str) -> dict[str, Criterion]:
        seed = (self.secret + (self.course.key or ""), " ".join(regions[task.id].split()))
        cases = casebook.cases_of(self.cases, task.chapter, *seed)
        return self.judge_of(task.chapter).criteria_of(task, regions, cases, missing)

    def _region_of(self, task: Task, submission: Submission) -> str | Failure:
        """As it is compiled."""
        region = submission.regions.get(task.id)
        if region is None:
            return Failure("not there", self._missing(task, submission))
        if self.course.is_untouched(task.id, region.text):
            how = f"make hint N={task.number} helps to begin."
            return Failure("not done", "not done: the task is as it was handed out", how)
        try:
            return self.course.compiled(task.id, region)
        except Refusal as refusal:
            return Failure("refused", f"{region.file}:{refusal.line}: {refusal.why}")

    def _neighbors_of(self, task: Task, submission: Submission) -> tuple[dict[str, str], str]:
        """In a hand-out, which has no solutions: the student's own regions in this task's kernels, and which of them
        cannot be had, why."""
        regions, missing = {}, []
        for other in () if self.course.is_teacher else self.course.chapter(task.chapter).tasks:
            if other.id != task.id and set(other.kernels) & set(task.kernels):
                region = self._region_of(other, submission)
                if isinstance(region, Failure):
                    kinds = {"not done": "is not written yet", "not there": "is missing", "refused": "is refused"}
                    missing.append(f"{other.id} {kinds[region.category]}")
                else:
                    regions[other.id] = region
        return regions, ", ".join(missing)

    def _missing(self, task: Task, submission: Submission) -> str:
        for name, ids in self.course.chapter(task.chapter).places.items():
            place = f"{task.chapter}/{name}"
            if task.id in ids and place in submission.problems:
                return f"{place} {submission.problems[place]}"
        if task.id in submission.others:
            return f"{task.id} is missing: {submission.others[task.id]}"
        return f"{task.id} is missing: no lines '// task {task.id}: ...' and '// end {task.id}', and no {task.id}.cu"

    # ---- predictions ----

    def _read_predictions(self, submission: Submission, results: Results) -> None:
        problem = submission.problems.get("predictions.txt", "is missing")
        if "predictions.txt" not in submission.texts:
            results.notes.append(f"predictions.txt {problem}; predictions earn no points")
        given, problems = casebook.parse_predictions(submission.texts.get("predictions.txt", ""))
        results.notes += problems[:3] + (["..."] if len(problems) > 3 else [])
        for each in (each for each in results.tasks if not each.criteria):
            for question in self.questions:
                if question.split()[0] in each.task.kernels and given.get(question) is not None:
                    right = casebook.is_right(given[question], self.judge_of(each.task.chapter).model(question))
                    verdict = "is right" if right else "is not within 1 %"
                    each.predictions.append(f"{question}: {given[question]:,} bytes {verdict}")

    # ---- make check-submission ----

    def check(self, path: Path) -> int:
        try:
            submission = self.read(path)
        except Unusable as error:
            raise Unusable(_unusable(path, error)) from error
        given, problems = casebook.parse_predictions(submission.texts.get("predictions.txt", ""))
        count = sum(given.get(question) is not None for question in self.questions)
        lines = {task.id: self._check_task(task, submission) for task in self.tasks}
        remarks = [*filter(None, [self._of_another_class(submission)]), *problems, *submission.remarks]
        found = bool(remarks) or any(said not in ("fine", "not begun") for said in lines.values())
        for name, words in (
            ("predictions.txt", f"{count} of {len(self.questions)} predictions"),
            ("WORKLOG.md", "is there (read by people)"),
        ):
            lines[name] = words if name in submission.texts else submission.problems.get(name, "is missing")
        for name, words in lines.items():
            print(told.wrapped(words, f"{name:<19}", " " * 19), end="")
        for remark in remarks:
            print(told.wrapped(remark, "note:", "      "), end="")
        print("\nSomething to look at above." if found else "\nThis can be handed in.", "Nothing was graded.")
        return 1 if found else 0

    def _check_task(self, task: Task, submission: Submission) -> str:
        outcome: str | Path | Failure = self._region_of(task, submission)
        if isinstance(outcome, str):
            outcome = self.judge_of(task.chapter).builder.program({task.id: outcome}, task.id)
        if not isinstance(outcome, Failure) or outcome.category == "not done":
            return "not begun" if isinstance(outcome, Failure) else "fine"
        said = outcome.message if outcome.category == "not there" else f"{outcome.category}: {outcome.message}"
        return self.course.located(said, task.chapter, submission)


def _unusable(path: Path | collect.HandIn, error: Unusable) -> str:
    return f"SUBMISSION={path}: {error}"


def _jobs() -> int:
    given = os.environ.get("GRADE_JOBS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else min(4, len(os.sched_getaffinity(0)))


def chosen(tasks: list[Task], only: str | None) -> list[Task]:
    """Of ONLY=. Raises collect.Wrong."""
    if only is None:
        return tasks
    names = {task.id: {task.id, task.chapter, task.chapter.partition("_")[0]} for task in tasks}
    words = only.split(",")
    for word in words:
        if not any(word in own for own in names.values()):
            raise collect.Wrong(f"ONLY={word}: expected chapters and tasks of classroom/tasks.tsv, as 04 and 05.skip")
    return [task for task in tasks if names[task.id].intersection(words)]


def _shown(names: list[str], width: int = 50) -> list[str]:
    """In one line, and cut in the middle: "..." marks the cut. Names that would look the same stay as they are."""
    lines = [one_line(name) for name in names]
    cut = [line if len(line) <= width else f"{line[: width // 2]}...{line[3 - width // 2 :]}" for line in lines]
    return [short if cut.count(short) == 1 else line for short, line in zip(cut, lines)]


def _names_in(paths: list[Path]) -> list[str]:
    """Of each submission: what its results are called, in one line, never too long for a file's name."""
    names: dict[str, None] = {}
    for path in paths:
        stem, whole = (
            one_line(name).encode()[:200].decode(errors="ignore") for name in (collect.stem(path.name), path.name)
        )
        forms = itertools.chain((stem, whole), (f"{stem}-{number}" for number in itertools.count(2)))
        names[next(name for name in forms if name and name not in names)] = None
    return list(names)


@dataclass
class Asked:
    """Of the grading of a folder, on the command line."""

    roster: list[collect.Student] | None = None
    deadline: collect.Deadline = field(default_factory=collect.Deadline)
    assignment: str | None = None  # on Canvas
    merges: bool = False  # the tasks that are graded join those of the results that are there
    resumes: bool = False
    regrade: str | None = None
    call: dict[str, str | None] = field(default_factory=dict)  # as it was given


def asked_of(options: argparse.Namespace) -> Asked:
    """What goes on with results that are there need not say again what they were asked for with. Raises Wrong."""
    names = ("roster", "due", "penalty", "assignment")
    call = {name: getattr(options, name) for name in names}
    if options.resume == "1" or options.regrade is not None:
        there = read_index(options.results).get("call", {})
        call = {name: there.get(name) if given is None else given for name, given in call.items()}
    return Asked(
        collect.read_roster(Path(call["roster"])) if call["roster"] is not None else None,
        collect.Deadline.of(call["due"], call["penalty"]),
        call["assignment"],
        options.only is not None,
        options.resume == "1",
        options.regrade,
        call,
    )


@dataclass
class Row:
    """Of the table."""

    hand: collect.HandIn
    name: str  # of its results
    results: Results
    is_due: bool = True  # in this call
    late: tuple[str, ...] = ("", "", "")
    is_old: bool = False  # of an earlier call
    is_usable: bool = True
    line: str = ""

    @property
    def is_whole(self) -> bool:
        return all(each.is_known for each in self.results.tasks)

    @property
    def flags(self) -> list[str]:
        results, hand = self.results, self.hand
        found = {
            "absent": hand.is_absent,
            "not on the roster": not hand.is_known,
            "handed in twice": any(each.startswith("handed in twice") for each in (*hand.remarks, *hand.said)),
            "not usable": not self.is_usable,
            "not graded": not self.is_whole,
            SOMETHING_ELSE: bool(results.flagged),
            "another class?": bool(results.doubt),
            "late": self.late[2].endswith(("day", "days", "days not known")),
            "late?": self.late[2] == "not known",
        }
        return [flag for flag, is_so in found.items() if is_so]


def read_index(into: Path) -> dict:
    """Whose results are in a directory, of which tasks, and how they were asked for."""
    try:
        found = json.loads((into / INDEX).read_text(encoding="utf-8"))
        texts = [*found["tasks"], *(text for text in found["call"].values() if text is not None)]
        for row in found["rows"]:
            texts += [row["name"], row["label"], row["platform"]]
            collect.Student(**row["student"])
        return found if all(isinstance(text, str) for text in texts) else {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


class Table:
    """The results of a folder, in files that at every moment say what is known: NAME.json also keeps it."""

    def __init__(self, grader: Grader, into: Path, hands: list[collect.HandIn], asked: Asked) -> None:
        self.into, self.asked = into, asked
        of_class = hashlib.sha256(repr((grader.secret, grader.course.key)).encode()).hexdigest()[:16]
        there = read_index(into) if asked.merges or asked.regrade is not None else {}
        if there.get("class", of_class) != of_class and not asked.resumes:
            raise collect.Wrong(f"RESULTS={into}: these results are of another KEY= than this call; nothing was graded")
        chosen = {task.id for task in grader.tasks} | set(there.get("tasks", ()))
        if asked.regrade is not None and not asked.merges and there:  # all that the table has
            grader.tasks = [task for task in grader.tasks if task.id in there["tasks"]] or grader.tasks
            chosen = {*there["tasks"]}
        self.tasks = [task for task in grader.course.tasks if task.id in chosen]
        names = _names_in([Path(_own_name(hand)) for hand in hands])
        self.rows = [Row(hand, name, Results([])) for hand, name in zip(hands, names)]
        for old in there.get("rows", ()):
            if old["name"] not in names:
                hand = collect.HandIn(old["label"], student=collect.Student(**old["student"]), platform=old["platform"])
                hand.remarks = ["not handed in again"]
                self.rows.append(Row(hand, old["name"], Results([]), is_due=False, is_old=True))
        self.labels = Counter(one_line(row.hand.label) for row in self.rows)
        for row in self.rows:
            self.show(row, Results([]))
        rows = [
            {"name": row.name, "label": hand.label, "platform": hand.platform, "student": asdict(hand.student)}
            for row, hand in ((row, row.hand) for row in self.rows)
        ]
        everything = {"tasks": [task.id for task in self.tasks], "class": of_class, "call": asked.call, "rows": rows}
        told.write_file(self.into / INDEX, json.dumps(everything, indent=1) + "\n")

    def chosen(self, name: str) -> list[Row]:
        """Those that REGRADE=name means."""

        def texts(row: Row) -> set[str]:
            own = (row.name, row.hand.label, *asdict(row.hand.student).values())
            return {text.casefold() for text in own if isinstance(text, str)}

        return [row for row in self.rows if name.casefold() in texts(row)]

    def known(self, row: Row) -> dict[str, TaskResult]:
        return told.read_state(self.into / f"{row.name}.json", self.tasks)

    def show(self, row: Row, results: Results) -> None:
        """Puts `results`, of this call's tasks or of some, together with what is known of the others."""
        hand, mine = row.hand, {each.task.id: each for each in results.tasks}
        *late, share = self.asked.deadline.judged(hand)
        row.late = tuple(late)
        for each in mine.values():
            each.share = share
        others = self.known(row) if set(mine) != {task.id for task in self.tasks} else {}
        if not (self.asked.merges or self.asked.regrade is not None):
            others = {}
        tasks = [mine.get(task.id) or others.get(task.id) or TaskResult(task) for task in self.tasks]
        if hand.is_absent:
            for each in (each for each in tasks if not each.criteria):
                each.criteria = nothing_to_grade("not there", "not handed in")
        row.results = replace(results, tasks=tasks)
        row.is_usable = bool(results.failure) or not results.trouble
        if others and results.trouble:
            row.results.trouble, row.results.also = "", results.trouble
            row.results.notes = [*results.notes, results.trouble]
        also = [*hand.remarks, *hand.said]
        row.results.also = "; ".join(filter(None, (row.results.also, *also)))
        row.results.notes = [*row.results.notes, *also]
        if share < 1:
            total = f"{told.points(told.final_of(row.results.tasks))} of {told.points(row.results.score)} points stay"
            row.results.notes.append(f"handed in {row.late[2]} late, {row.late[0]} by the {row.late[1]}: {total}")
        row.line = self.line_of(row)

    def line_of(self, row: Row) -> str:
        results, student = row.results, row.hand.student
        cells = [told.points(each.score) if each.is_known else "" for each in results.tasks]
        total, final = (
            told.points(each) if row.is_whole else "" for each in (results.score, told.final_of(results.tasks))
        )
        twins = self.labels[one_line(row.hand.label)] > 1  # they differ in what is not shown
        label = f"{row.hand.label} ({row.name}.txt)" if twins and not row.hand.is_absent else row.hand.label
        left = [each.task.id for each in results.tasks if not each.criteria]
        left_out = f"not graded yet: {', '.join(left[:3])}{', ...' * (len(left) > 3)}" if left else ""
        remark = results.remark or left_out
        who = (student.id, student.name, student.email)
        most = told.points(results.most)
        return told.csv_line(label, total, most, *cells, remark, *who, *row.late, final, ", ".join(row.flags))

    def write(self) -> None:
        title = ("submission", "points", "of", *(task.id for task in self.tasks), "remark")
        more = ("id", "name", "e-mail", "handed in", "clock", "late", "final", "flags")
        lines = [told.csv_line(*title, *more), *(row.line for row in self.rows)]
        told.write_file(self.into / "results.csv", "".join(lines))

    def write_for_platforms(self, tasks: list[Task]) -> None:
        """Of this call's tasks, since a week is an assignment of its own there, and where it is known who is who. An
        absent student has no grade."""
        asked, most = self.asked, told.points(sum(task.points for task in tasks))
        for platform, file in (("Moodle", "moodle.csv"), ("Canvas", "canvas.csv")):
            lines = []
            for row in self.rows:
                student, mine = row.hand.student, [each for each in row.results.tasks if each.task in tasks]
                is_known = all(each.is_known for each in mine)
                points = told.points(told.final_of(mine)) if is_known else ""
                number = student.moodle if platform == "Moodle" else student.canvas
                if not row.is_old and (number or asked.roster is not None and row.hand.is_known):
                    own = student.id if asked.roster is not None and student.id != number else ""
                    lines.append((number, student.name, own, student.email, "" if row.hand.is_absent else points))
            if lines and platform == "Moodle":
                told.write_file(self.into / file, told.moodle_csv(lines, most))
            elif lines:
                own = "FlashAttention: " + ", ".join(dict.fromkeys(task.chapter for task in tasks))
                told.write_file(self.into / file, told.canvas_csv(lines, asked.assignment or own, most))
            else:
                (self.into / file).unlink(missing_ok=True)


def _own_name(hand: collect.HandIn) -> str:
    student = hand.student
    return f"{student.name}_{student.id}".strip("_").replace("/", "_") if student.name or student.id else hand.label


def grade_folder(grader: Grader, folder: Path, into: Path, asked: Asked | None = None) -> int:
    """Every hand-in of a folder or a bulk download, one after the other, whatever becomes of one of them."""
    asked = asked or Asked()
    tasks, chapters = [task.id for task in grader.course.tasks], grader.course.chapters
    hands, left_out = collect.collect(folder, tasks, chapters, into)
    if asked.roster is not None:
        hands = collect.enroll(hands, asked.roster)
    if not hands:
        give_up("grade", 2, f"SUBMISSIONS={folder}: no zip and no directory in it")
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Environment(f"RESULTS={into}: cannot be made") from error
    table = Table(grader, into, hands, asked)
    if asked.regrade is not None:
        again = table.chosen(asked.regrade)
        if len(again) != 1 or again[0].hand.is_absent:
            what = f"fits {', '.join(row.name for row in again)}" if len(again) > 1 else "nobody of that name handed in"
            give_up(
                "grade", 2, f"REGRADE={asked.regrade}: {what}; expected a name, an ID or a submission of results.csv"
            )
        for row in table.rows:
            row.is_due = row is again[0]
    failed = 0
    for row, shown in zip(table.rows, _shown([row.name for row in table.rows])):
        written = float("-inf")

        def save(found: Results, row: Row = row) -> None:
            nonlocal written
            if found.complete or time.monotonic() > written + PAUSE:
                table.show(row, found)
                told.write_file(into / f"{row.name}.json", told.gradescope(row.results, state=True))
                written = time.monotonic()

        if row.is_due and not row.hand.is_absent:
            known = {} if not asked.resumes else table.known(row)
            grader.grade(row.hand, save, known=known)
        elif row.is_due and asked.regrade is None:
            save(Results([], complete=True))
        else:
            table.show(row, grader.seen(row.hand))
        results = row.results
        if row.is_due:
            told.write_file(into / f"{row.name}.txt", told.human(results))
        failed += bool(results.failure)
        table.write()
        remark = "  not usable" if not row.is_usable else "  look at it" if results.remark else ""
        total = told.points(results.score) if row.is_whole else ""
        print(f"{shown:<50} {total:>7}/{told.points(results.most)}{'  not graded' if results.failure else remark}")
    table.write_for_platforms(grader.tasks)
    for line, shown in zip(left_out, _shown([line.rpartition(": left out: ")[0] for line in left_out])):
        print(f"{shown:<50} left out: {line.rpartition(': left out: ')[2]}")
    for row in table.rows:
        if not row.hand.is_known:
            print(one_line(f"{row.hand.label}: {row.hand.remarks[0]}"))
    print(f"results: {into}/results.csv, and a .json and a .txt for each")
    if failed:
        give_up("grade", 3, f"{failed} of {len(table.rows)} submissions not graded; the remarks in results.csv say why")
    return 0


# ---- the command line ----


def parse() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "grade", description=__doc__, epilog=EPILOG, allow_abbrev=False, formatter_class=form
    )
    add = parser.add_argument
    which = "a tree, a zip of it, a task's file; default: this tree"
    add("--submission", metavar="PATH", help=which)
    add("--submissions", metavar="PATH", help="a bulk download or a folder, graded into --results DIR")
    add("--key", help="the class (make handout CLASS=KEY); its cases are drawn from classroom/secret")
    add("--only", metavar="LIST", help="chapters or tasks, separated by commas: 04_fa1,05.skip")
    add("--results", metavar="FILE", help="results.json as Gradescope reads it, rewritten after every task")
    add("--junit", metavar="FILE", help="JUnit XML")
    add("--require", metavar="PERCENT", help="exit 1 when fewer points than that were reached")
    of_folder = "of --submissions: "
    add("--roster", metavar="CSV", help=f"{of_folder}who is in the class: name, id, e-mail")
    add("--due", metavar="TIME", help=f"{of_folder}2027-03-01T23:59")
    add("--penalty", metavar="PERCENT/day", help=f"{of_folder}what a late hand-in loses for each day that has begun")
    add("--assignment", metavar="TITLE", help=f"{of_folder}the column of canvas.csv; default: its chapters")
    resume = {"nargs": "?", "const": "1", "default": "0", "choices": ("0", "1")}
    add("--resume", **resume, help=f"{of_folder}what is complete of the same submissions is not graded again")
    add("--regrade", metavar="NAME", help=f"{of_folder}grades this one again, and leaves the others as they are")
    add("--check", action="store_true", help="only looks: what is there, is it taken, does it compile")
    add("--prepare", action="store_true", help="only builds what does not depend on a submission")
    options = filled(parser, "submission", "submissions", "results", "junit")
    for name in ("submission", "junit", "require", "check"):
        if options.submissions and getattr(options, name):
            give_up("grade", 2, f"{name.upper()}= is of one submission, SUBMISSIONS= of a class; expected one of both")
    for name in ("roster", "due", "penalty", "assignment", "resume", "regrade"):
        if getattr(options, name) not in (None, "0") and not options.submissions:
            give_up("grade", 2, f"{name.upper()}= is of SUBMISSIONS=, which is missing")
    options.submission = options.submission or ROOT
    options.require = None if options.require is None else percent_of(options.require)
    return options


def filled(parser: argparse.ArgumentParser, *paths: str) -> argparse.Namespace:
    """The options, none of them empty: "" would be the path of this directory. `paths`: of which type these are."""
    options = parser.parse_args()
    for name, value in vars(options).items():
        if value == "" and name != "key":  # of which more is said elsewhere
            give_up(parser.prog, 2, f"{name.upper()}= (--{name}) is empty; expected a value, or not this option")
        if name in paths and value is not None:
            setattr(options, name, Path(value))
    return options


def percent_of(text: str) -> float:
    percent = float(text) if re.fullmatch(r"[0-9]{1,3}(\.[0-9]*)?", text) else -1
    if not 0 <= percent <= 100:
        give_up("grade", 2, f"REQUIRE={text}: expected a part of the points in percent, 0 to 100")
    return percent


def run(options: argparse.Namespace, scratch: Path) -> int:
    course, secret = Course(ROOT, options.key), ""
    if course.is_teacher and options.key is not None:
        import handout

        try:
            handout.key_of(options.key, "KEY= (--key)")
        except TaskError as error:
            give_up("grade", 2, str(error))
        secret = handout.secret()
    grader = Grader(course, options.only, scratch, secret)
    if options.submissions and not options.results:
        give_up("grade", 2, "SUBMISSIONS= needs RESULTS=, a directory for the results")
    sandbox.check_machine()
    if options.prepare:
        grader.prepare()
    elif options.submissions:
        return grade_folder(grader, options.submissions, options.results, asked_of(options))
    elif options.check:
        return grader.check(options.submission)
    else:
        return grade_one(grader, options)
    return 0


def grade_one(grader: Grader, options: argparse.Namespace) -> int:
    def save(results: Results) -> None:
        if options.results:
            told.write_file(options.results, told.gradescope(results))
        if options.junit:
            told.write_file(options.junit, told.junit(results))

    results = grader.grade(options.submission, save)
    if results.failure:
        raise Environment(results.failure)
    if results.trouble:
        raise Unusable(results.trouble)
    print(told.human(results), end="")
    return 1 if options.require is not None and results.score < results.most * options.require / 100 else 0


def _stop(number: int, _: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one would end what cleans up
    sandbox.stop()  # the tasks that are being judged end at once, and are not graded
    sys.exit(128 + number)


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)
    os.umask(0o077)
    scratch = Path(tempfile.mkdtemp(prefix="grade-")).resolve()
    try:
        return run(parse(), scratch)
    except (Unusable, collect.Wrong, Environment, TaskError, ValueError, OSError) as error:
        if isinstance(error, (Unusable, collect.Wrong)):
            give_up("grade", 2, one_line(str(error)))
        give_up("grade", 3, readable(str(error)).strip())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    run_tool("grade", main)
