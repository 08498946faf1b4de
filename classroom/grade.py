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
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from judge import cases as casebook
from judge import results as told
from judge import sandbox
from judge import submission as handed_in
from judge.build import Builder, Failure, run_quietly
from judge.course import Course
from judge.once import Once
from judge.results import Results, TaskResult
from judge.sandbox import Environment
from judge.submission import Submission, Unusable, one_line, readable
from judge.tokens import Refusal
from judge.verdict import NOT_JUDGED, Criterion, Judge, nothing_to_grade
from lib.files import give_up, run_tool
from lib.tasks import Task, TaskError, read_text, rows_of

CLASSROOM = Path(__file__).resolve().parent
ROOT = CLASSROOM.parent
EPILOG = """\
CC and CXX choose the compiler. GRADE_SANDBOX=bwrap|namespaces|limits insists on one. GRADE_CPU_SECONDS=4 and
GRADE_MEMORY_MB=1024 are of one run of one kernel, GRADE_COMPILE_SECONDS=20 of one compilation. GRADE_JOBS=2: how many
tasks are judged at a time.
"""


class Grader:
    """Of one class. Regions with the same tokens are judged once, whoever handed them in."""

    def __init__(self, course: Course, only: str | None, scratch: Path, secret: str = "") -> None:
        """`secret`: cases are drawn from it, the key and a region."""
        self.course, self.scratch, self.secret = course, scratch, secret
        self.cc = os.environ.get("CC") or "gcc"
        self.cxx = os.environ.get("CXX") or _counterpart(self.cc)
        self.tasks = _chosen(course.tasks, only)
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
        run_quietly(command, "the simulated device does not build")
        library = Path(base, "_".join(os.path.basename(word) for word in self.cxx.split()), "libsim.a")
        if library.exists():
            os.environ["SIM_LIB"] = str(library)

    def prepare(self) -> None:
        for chapter in dict.fromkeys(task.chapter for task in self.tasks):
            builder = self.judge_of(chapter).builder
            for name in filter(lambda name: name.endswith(".cu"), builder.chapter.base):
                builder.solved_object(name)

    # ---- a submission ----

    def read(self, path: Path) -> Submission:
        known = frozenset(task.id for task in self.course.tasks)
        return handed_in.read(path, self.course.given_files(), known, self.course.is_untouched)

    def grade(self, path: Path, save: Callable[[Results], None], tasks: list[Task] | None = None) -> Results:
        """Of the chosen tasks, or `tasks`, which are of these. `save` is called after each."""
        results = Results([TaskResult(task) for task in tasks or self.tasks])
        how, why = sandbox.kind()
        kinds = {"bwrap": "in bwrap, with limits", "namespaces": "in namespaces of their own, with limits"}
        results.notes.append(f"submissions run {kinds.get(how, f'with limits alone ({why})')}")
        try:
            self._grade(self.read(path), results, save)
        except Unusable as error:
            results.no_points("not there", f"not graded: SUBMISSION={path}: {error}")
        except Exception as error:  # whatever one submission does to the grader, the next one is graded
            results.failure = str(error) if isinstance(error, Environment) else f"{type(error).__name__}: {error}"
            first = results.failure.partition("\n")[0]  # what follows may quote the teacher's files
            results.no_points("not graded", f"not graded: {first}; this is the grader's failure, not yours")
        results.complete = True
        save(results)
        return results

    def refuse(self, path: Path, save: Callable[[Results], None]) -> Results:
        results = Results([TaskResult(task) for task in self.tasks])
        results.no_points("not there", f"not graded: SUBMISSION={path}: it is a link, expected a zip or a directory")
        results.complete = True
        save(results)
        return results

    def _grade(self, submission: Submission, results: Results, save: Callable[[Results], None]) -> None:
        results.notes += submission.remarks
        results.doubt = self._of_another_class(submission)
        results.notes += [results.doubt] * bool(results.doubt)
        self._read_predictions(submission, results)
        save(results)
        with ThreadPoolExecutor(_jobs()) as pool:
            jobs = {pool.submit(self._criteria_of, each.task, submission): each for each in results.tasks}
            try:
                for job in as_completed(jobs):
                    jobs[job].criteria = job.result()
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
        for each in results.tasks:
            for question in self.questions:
                if question.split()[0] in each.task.kernels and given.get(question) is not None:
                    right = casebook.is_right(given[question], self.judge_of(each.task.chapter).model(question))
                    verdict = "is right" if right else "is not within 1 %"
                    each.predictions.append(f"{question}: {given[question]:,} bytes {verdict}")

    # ---- make check-submission ----

    def check(self, path: Path) -> int:
        submission = self.read(path)
        given, problems = casebook.parse_predictions(submission.texts.get("predictions.txt", ""))
        count = sum(given.get(question) is not None for question in self.questions)
        lines = {task.id: self._check_task(task, submission) for task in self.tasks}
        remarks = [*problems, *submission.remarks]
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


def _counterpart(cc: str) -> str:
    command = [sys.executable, str(ROOT / "simcc/passes/counterpart.py"), "c++", cc]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Environment(f"CC={cc}: no C++ compiler goes with it")
    return done.stdout.strip()


def _jobs() -> int:
    given = os.environ.get("GRADE_JOBS", "")
    return int(given) if given.isdigit() and int(given) > 0 else min(4, len(os.sched_getaffinity(0)))


def _chosen(tasks: list[Task], only: str | None) -> list[Task]:
    if only is None:
        return tasks
    words = only.split(",")
    for word in words:
        if not any(word in (task.id, task.chapter) for task in tasks):
            give_up("grade", 2, f"--only {word}: expected chapters and tasks of classroom/tasks.tsv")
    return [task for task in tasks if task.id in words or task.chapter in words]


def _shown(names: list[str], width: int = 50) -> list[str]:
    """In one line, and cut in the middle: "..." marks the cut. Names that would look the same stay as they are."""
    lines = [one_line(name) for name in names]
    cut = [line if len(line) <= width else f"{line[: width // 2]}...{line[3 - width // 2 :]}" for line in lines]
    return [short if cut.count(short) == 1 else line for short, line in zip(cut, lines)]


def _names_in(paths: list[Path]) -> dict[Path, str]:
    """Of each submission: what its results are called, in one line, never too long for a file's name."""
    names: dict[Path, str] = {}
    for path in paths:
        stem, whole = (
            one_line(name).encode()[:200].decode(errors="ignore")
            for name in (path.stem if path.suffix.lower() == ".zip" else path.name, path.name)
        )
        forms = itertools.chain((stem, whole), (f"{stem}-{number}" for number in itertools.count(2)))
        names[path] = next(name for name in forms if name and name not in names.values())
    return names


def grade_folder(grader: Grader, folder: Path, into: Path) -> int:
    """Every zip and every directory of a folder, one after the other, whatever becomes of one of them."""
    try:
        there = sorted(folder.iterdir())
    except OSError:
        give_up("grade", 2, f"SUBMISSIONS={folder}: expected a directory of zips and directories")
    paths = [path for path in there if (path.is_dir() or path.suffix.lower() == ".zip") and path.name[0] != "."]
    if not paths:
        give_up("grade", 2, f"SUBMISSIONS={folder}: no zip and no directory in it")
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Environment(f"RESULTS={into}: cannot be made") from error
    table = told.csv_line("submission", "points", "of", *(task.id for task in grader.tasks), "remark")
    failed = 0
    names = _names_in(paths)
    for (path, name), shown in zip(names.items(), _shown(list(names.values()))):
        into_file = into / f"{name}.json"
        is_link = path.is_symlink()  # to whatever lies elsewhere, as one within a submission
        judge = grader.refuse if is_link else grader.grade
        results = judge(path, lambda found, to=into_file: told.write_file(to, told.gradescope(found)))
        told.write_file(into / f"{name}.txt", told.human(results))
        total, *scores = (told.points(each.score) for each in (results, *results.tasks))
        most, failed = told.points(results.most), failed + bool(results.failure)
        if results.failure:  # no 0 either
            total, scores = "", [""] * len(scores)
        twins = (
            sum(one_line(path.name) == one_line(other.name) for other in paths) > 1
        )  # they differ in what is not shown
        table += told.csv_line(
            f"{path.name} ({name}.txt)" if twins else path.name, total, most, *scores, results.remark
        )
        told.write_file(into / "results.csv", table)
        remark = "  not usable" if results.trouble else "  look at it" if results.remark else ""
        print(f"{shown:<50} {total:>7}/{most}{'  not graded' if results.failure else remark}")
    others = [path.name for path in there if path not in paths]
    for shown in _shown(others):
        print(f"{shown:<50} left out: expected zips and directories, not hidden")
    print(f"results: {into}/results.csv, and a .json and a .txt for each")
    if failed:
        give_up("grade", 3, f"{failed} of {len(paths)} submissions not graded; the remarks in results.csv say why")
    return 0


# ---- the command line ----


def parse() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "grade", description=__doc__, epilog=EPILOG, allow_abbrev=False, formatter_class=form
    )
    add = parser.add_argument
    which = "a tree, a zip of it, a task's file; default: this tree"
    add("--submission", metavar="PATH", type=Path, default=ROOT, help=which)
    add("--submissions", metavar="DIR", type=Path, help="grades every zip and directory in DIR into --results DIR")
    add("--key", help="the class (make handout CLASS=KEY); its cases are drawn from classroom/secret")
    add("--only", metavar="LIST", help="chapters or tasks, separated by commas: 04_fa1,05.skip")
    add("--results", metavar="FILE", type=Path, help="results.json as Gradescope reads it, rewritten after every task")
    add("--junit", metavar="FILE", type=Path, help="JUnit XML")
    add("--require", metavar="PERCENT", type=float, help="exit 1 when fewer points than that were reached")
    add("--check", action="store_true", help="only looks: what is there, is it taken, does it compile")
    add("--prepare", action="store_true", help="only builds what does not depend on a submission")
    return parser.parse_args()


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
        return grade_folder(grader, options.submissions, options.results)
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


def _stop(*_: object) -> NoReturn:
    sandbox.stop()  # the tasks that are being judged end at once, and are not graded
    sys.exit(130)


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    os.umask(0o077)
    scratch = Path(tempfile.mkdtemp(prefix="grade-")).resolve()
    try:
        return run(parse(), scratch)
    except (Unusable, Environment, TaskError, ValueError, OSError) as error:
        if isinstance(error, Unusable):
            give_up("grade", 2, one_line(str(error)))
        give_up("grade", 3, readable(str(error)).strip())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    run_tool("grade", main)
