"""Judging a region: its kernels run case by case, and what that is worth, criterion by criterion.

What runs a kernel (runner.c) knows no right answer; what knows them (judge.c) reads the files that it leaves.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lib.tasks import Task

from . import sandbox
from .build import HINTS, Builder, Failure
from .cases import CRITERIA, Case
from .course import Course
from .once import Once
from .sandbox import Environment

LEAST_SHARE = 0.4  # of the closed form's bytes: a kernel that asks for fewer does something else
MOST_HAZARDS = 50  # of a kind that are kept; all are read: launches stand behind them
UNFOLLOWED = "too much synchronization to find every race"  # kind of a hazard, of a launch past a limit of racecheck
TOOLS = tuple(reason for reason in HINTS if reason.endswith("check"))
COMMAND = re.compile(r"[;:.]?[^;:.]*: \./\w+ (--.*)$")  # the end of a hint: what to do, and with which command
WRONG_ACCESS = ("cudaErrorIllegalAddress", "cudaErrorMisalignedAddress")
ATOMICS = "atomics"
WRONG_VALUES = ("wrong result", "NaN or infinity")
NOT_JUDGED = "not judged"  # in a hand-out: which task is to blame cannot be said
SOMETHING_ELSE = "did something else"
LAUNCH_REFUSED = ("cudaErrorInvalidConfiguration", "cudaErrorInvalidValue")


@dataclass(frozen=True)
class Criterion:
    passed: bool
    ran: bool = False  # False: nothing was found out, because of something else
    category: str = ""
    message: str = ""
    hint: str = ""
    times: float = 0  # of a budget: how many times as many bytes as the closed form has


PASSED = Criterion(True, True)


def not_counted(why: str) -> Criterion:
    return Criterion(False, category="not counted", message=f"not counted: {why}")


def not_judged(why: str) -> dict[str, Criterion]:
    return dict.fromkeys((*CRITERIA, "hbm", "hazards"), Criterion(False, category=NOT_JUDGED, message=why))


@dataclass(frozen=True)
class Bytes:
    """What a model is compared with."""

    counts: str  # requested or footprint
    formula: str
    yours: int
    budget: int
    ideal: int | None = None
    written: tuple[int, int] = (0, 0)  # of these bytes; yours, and of the closed form

    def hint(self) -> str:
        """What is over: writes, reads, or both."""
        if self.formula == ATOMICS:
            return HINTS["over budget in atomics"]
        (yours, budget), reads = self.written, HINTS["over budget"]
        if yours <= budget:
            return reads
        writes = HINTS["over budget in writes"]
        return f"{writes} {reads}" if self.yours - yours > self.budget - budget else writes

    def text(self, kernel: str) -> str:
        ideal = f", ideal {self.ideal:,}" if self.ideal is not None else ""
        return f"{kernel}: yours {self.yours:,}, budget {self.budget:,} ({self.counts}, {self.formula}){ideal} bytes"


@dataclass
class Run:
    """Of one kernel on one case."""

    kernel: str
    case: Case
    failure: Failure | None = None
    hazards: list[dict] = field(default_factory=list)
    warnings: list[dict] = field(default_factory=list)  # of the device: between the lanes of one warp
    bytes: list[Bytes] = field(default_factory=list)  # the first is the headline
    seconds: float = 0  # of CPU time

    def criterion(self) -> Criterion:
        """The first hazard is told with the failure: it is its reason. Of wrong values without one, that is the first
        warning. A fresh case tells what kind of mistake it is, and where to look, never what it was run on."""
        failure, fresh = self.failure, self.case.criterion == "fresh"
        if failure is None:
            return PASSED
        warnings = self.warnings if failure.category in WRONG_VALUES and not self.hazards else []
        told = [hazard_text(hazard, not fresh) for hazard in [*self.hazards, *warnings][:1]]
        hint = f"{failure.hint} {self.case.hint(self.kernel)}".strip()
        if failure.category == "does not end":
            hint = failure.hint
        elif self.hazards:
            hint = hazard_hint(self.hazards[0]) or failure.hint
        elif warnings:
            hint = f"{hazard_hint(warnings[0])} {self.case.hint(self.kernel)}".strip()
        message = f"{failure.category}, {self.kernel} {self.case.options}: {'; '.join([*told, failure.message])}"
        if fresh:
            message = f"{self.kernel}: {'; '.join([failure.category, *told])}"
        return Criterion(False, True, failure.category, message, hint)


def nothing_to_grade(category: str, message: str, hint: str = "") -> dict[str, Criterion]:
    criteria = dict.fromkeys((*CRITERIA, "hbm", "hazards"), not_counted("as above"))
    criteria["plain"] = Criterion(False, True, category, message, hint or HINTS.get(category, ""))
    return criteria


def hazard_text(hazard: dict, placed: bool) -> str:
    def at(side: dict) -> str:
        """The name that a #line gave, [ID/]NAME, and the line."""
        parts = (side.get("file") or hazard.get("file") or "").split("/")
        name = "/".join(parts[-2:]) if re.match(r"\d\d\.", parts[-2] if len(parts) > 1 else "") else parts[-1]
        return f"@@{name}:{side['line']}@@"

    warning = " warning" if hazard.get("severity") == "warning" else ""
    text, other = f"{hazard.get('tool')}{warning}: {hazard.get('kind')}", hazard.get("other")
    if placed:
        text += f" at {at(hazard)}" if hazard.get("line") else ""
        text += f" of {hazard['space']} memory" if hazard.get("space") else ""
        text += f" ({hazard['array']})" if hazard.get("array") else ""
        text += f", other side {at(other)}" if isinstance(other, dict) and other.get("line") else ""
    return re.sub(r"[^ -~]", "?", text)


def hazard_hint(hazard: dict) -> str:
    """Of its kind, of what the device advises, or of its tool."""
    tool, advice = hazard.get("tool", ""), hazard.get("advice") or ""
    advised = (hint for reason, hint in HINTS.items() if f"{tool}: " in reason and reason.partition(": ")[2] in advice)
    return HINTS.get(hazard.get("kind", "")) or next(advised, HINTS.get(tool, ""))


class Runner(sandbox.Session):
    """What a program's runs have in common; each writes into a directory of its own in `scratch`."""

    def __init__(self, program: Path, scratch: Path) -> None:
        self.program = program
        seconds = sandbox.limit("cpu_seconds")
        super().__init__(
            output=scratch / "output.txt",
            cpu_seconds=seconds,
            memory_mb=sandbox.limit("memory_mb"),
            read=[program],
            write=[scratch],
            environment={
                "SIM_CHECK": ",".join(TOOLS),
                "SIM_THREADS": "1",
                "SIM_TIMEOUT": str(seconds * sandbox.limit("clock_factor")),
            },
        )


class Judge:
    """Of one chapter. The same program, kernel and case are run once."""

    def __init__(self, course: Course, builder: Builder) -> None:
        self.course, self.builder, self.chapter = course, builder, builder.chapter
        self._runs: Once[Run] = Once()
        self._asking = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None  # the judge, once something was asked

    def criteria_of(
        self, task: Task, regions: Mapping[str, str], cases: Sequence[Case], missing: str = ""
    ) -> dict[str, Criterion]:
        """Of a task whose region is as it is compiled. In a hand-out `regions` has those of its neighbors, too, and
        `missing` says why its kernels cannot be complete. There only what holds whatever the neighbors do is a verdict:
        what is wrong with the region alone, and what the kernels do right."""
        alone = {task.id: regions[task.id]}
        others = ", ".join(each for each in regions if each != task.id)
        program = self.builder.program(alone if missing else regions, task.id)
        if isinstance(program, Failure) and others and not missing:
            missing = f"together with {others} it {_cannot_be_built(program)}"
            program = self.builder.program(alone, task.id)
        if isinstance(program, Failure):
            how = _cannot_be_built(program)
            return nothing_to_grade(program.category, f"not graded: it {how}: {program.message}", program.hint)
        if missing:
            return not_judged(missing)
        runs: list[Run] = []
        try:
            scratch = tempfile.TemporaryDirectory(prefix="out-", dir=self.builder.scratch)
            with scratch as out, Runner(program, Path(out)) as runner:
                for kernel in task.kernels:
                    runs += self._all_cases(runner, kernel, cases, sum(run.seconds for run in runs))
                    if _is_endless(runs):
                        break
        finally:
            if self.course.is_teacher:  # in a hand-out its neighbors are in the same program
                self.builder.discard(program)
        criteria = _criteria(task.kernels, runs)
        if program in self.builder.lacking_return:
            lost = {name: each for name, each in criteria.items() if each.ran and not each.passed}
            criteria |= {name: replace(each, hint=HINTS["no return"]) for name, each in lost.items()}
        lost = [each for each in criteria.values() if each.ran and not each.passed]
        if others and lost:
            why = f"{task.id}, {others} are in the same kernels, and one of them is wrong: "
            for name, each in criteria.items():
                if not each.passed:
                    first = each if each.ran else lost[0]
                    criteria[name] = replace(first, ran=False, category=NOT_JUDGED, message=why + first.message)
        return criteria

    def model(self, question: str) -> int:
        """The bytes of "KERNEL options" by its closed form."""
        kernel, *options = question.split()
        return self._judge("-", "--kernel", kernel, *options)["models"][0]["bytes"]

    def _all_cases(self, runner: Runner, kernel: str, cases: Sequence[Case], spent: float) -> list[Run]:
        """Up to the first that fails of each criterion; none behind a plain case that is wrong, nor when all CPU time
        of a region is `spent`."""
        runs: list[Run] = []
        for case in cases:
            failed = {run.case.criterion for run in runs if run.failure}
            if "plain" in failed or _is_endless(runs):
                break
            if case.criterion not in failed:
                run = self._run_once(runner, kernel, case)
                spent, most = spent + run.seconds, sandbox.limit("region_seconds")
                if spent > most and not _is_endless([run]):
                    past = f"its runs took more than {most} seconds of CPU time together"
                    run = replace(run, failure=Failure("does not end", past), bytes=[])
                runs.append(replace(run, case=self._checked(runner, kernel, case) if run.failure else case))
        return runs

    def _run_once(self, runner: Runner, kernel: str, case: Case) -> Run:
        key = (runner.program, kernel, case.order, case.options)
        return self._runs.get(key, lambda: self._run(runner, kernel, case))

    def _checked(self, runner: Runner, kernel: str, case: Case) -> Case:
        """Its hint without a command that does not fail: nobody should look for a mistake where none shows."""
        hint = case.hint(kernel)
        if command := COMMAND.search(hint):
            options = re.sub(r"--kernel \w+|--trace|--json -", "", command[1])
            if self._run_once(runner, kernel, replace(case, options=options)).failure is None:
                hint = hint[: command.start()]
        return replace(case, hints=(hint,))

    # ---- one case ----

    def _run(self, runner: Runner, kernel: str, case: Case) -> Run:
        options = ["--kernel", kernel, *case.options.split()]
        out = runner.output.parent / secrets.token_hex(8)  # the run makes it, perhaps as another user
        result = runner.run([str(runner.program), "--save", str(out), *options], SIM_ORDER=case.order)
        launches, hazards, warnings = _read_report(out / "report.jsonl")
        diary, said = _head(out / "run.txt"), _head(runner.output)
        trouble, failure = _machines_fault(result, diary, said), _failure(result, hazards, diary, said)
        if not failure and not launches:  # it ran to its end
            trouble = "the device's report cannot be read"
        if trouble:
            raise Environment(f"{self.chapter.name}: {kernel} {case.options}: {trouble}")
        run = Run(kernel, case, failure, hazards, warnings, seconds=result.seconds)
        if run.failure is None:
            verdict = self._judge(str(out), *options)
            run.failure = _wrong_values(verdict)
            run.bytes = _bytes(verdict, launches) if run.failure is None else []
        shutil.rmtree(out, ignore_errors=True)
        return run

    def _judge(self, directory: str, *options: str) -> dict:
        with self._asking:
            judge = self._process = self._process or self._start()
            with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
                judge.stdin.write(os.fsencode("\t".join([directory, *options])) + b"\n")
            said = judge.stdout.readline()
            if not said.endswith(b"\n"):
                self._process = None
                why = judge.stderr.read().decode("utf-8", "replace").splitlines() or ["it crashed"]
                judge.wait()
                raise Environment(f"{self.chapter.name}: judge {' '.join(options)}: {why[0]}")
        return json.loads(said)

    def _start(self) -> subprocess.Popen[bytes]:
        kind, value = self.chapter.variant
        command = [str(self.builder.kit / "judge"), f"{kind}={value.replace('-', '0')}"]
        pipe = subprocess.PIPE  # it ends with the grader, which closes its input
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def _cannot_be_built(why: Failure) -> str:
    return "is refused" if why.category == "refused" else why.category


def _is_endless(runs: Sequence[Run]) -> bool:
    return bool(runs and runs[-1].failure and runs[-1].failure.category == "does not end")


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(10_000).decode("utf-8", "replace")
    except OSError:
        return ""


def _read_report(path: Path) -> tuple[list[dict], list[dict], list[dict]]:
    """Launches, hazards of level error, the most telling first, and warnings, those first that read what is not yet
    written. A launch past a limit of racecheck is a hazard: it may have races that nobody saw. Of a report that is cut
    off there are no launches: their sums would be too small."""
    launches, found, seen = [], {"error": [], "warning": []}, Counter()
    hazards, warnings = found.values()
    try:
        with path.open("rb") as file:
            for line in file:
                record = json.loads(line)
                if record.get("type") != "hazard":
                    launches.append(record)
                    if not record.get("racecheck", {}).get("complete", True):
                        hazards.append({"tool": "racecheck", "kind": UNFOLLOWED})
                elif (severity := record.get("severity")) in found:
                    kind = severity, record.get("tool"), record.get("kind")
                    seen[kind] += 1
                    found[severity] += [record] * (seen[kind] <= MOST_HAZARDS)
    except (OSError, ValueError, AttributeError):
        launches = []
    hazards.sort(key=lambda hazard: TOOLS.index(hazard["tool"]) if hazard.get("tool") in TOOLS else len(TOOLS))
    warnings.sort(key=lambda warning: (warning.get("tool") != "racecheck", warning.get("kind") != "RAW"))
    return launches, hazards, warnings


def _machines_fault(result: sandbox.Outcome, diary: str, said: str) -> str:
    """Why a run is not to be judged: it could not write what it had to, which no region can bring about."""
    unwritten = re.search(r"(?m)^runner: .*(?:cannot be written|No space left).*$", said)
    if unwritten:
        return unwritten[0]
    ended_well = not (result.status or result.signal or result.timeout)
    return "it ended well, and has saved nothing" if ended_well and not re.search("(?m)^saved$", diary) else ""


def _failure(result: sandbox.Outcome, hazards: list[dict], diary: str, said: str) -> Failure | None:
    """Why there is nothing to compare, by what the runner wrote, and what it said."""
    steps = dict(line.partition(" ")[::2] for line in diary.splitlines())
    if result.timeout or any(hazard.get("kind") == "endless_loop" for hazard in hazards):
        past = f"it ran past its {sandbox.limit('cpu_seconds')} seconds of CPU time"
        slept = "it was still running when the time was up"
        return Failure("does not end", slept if result.timeout == "clock" else past)
    status = steps.get("launched", "cudaSuccess")
    if "cannot" in steps or status in LAUNCH_REFUSED:
        return Failure("launch refused", steps.get("cannot", status))
    if status != "cudaSuccess":
        return Failure("wrong access" if status in WRONG_ACCESS else "launch failed", status)
    if "saved" in steps and result.status <= 1 and not result.signal:
        return None
    if re.search(r"out of (?:host )?memory", said):
        return Failure("out of memory", "it asked for more memory than there is")
    how = f"signal {result.signal}" if result.signal else f"status {result.status}"
    return Failure("crash", f"the program ended ({how}) before its results were written")


def _wrong_values(verdict: dict) -> Failure | None:
    if not (wrong := verdict.get("wrong")):
        return None
    message = " ".join(wrong["text"].partition("  around it")[0].split())
    return Failure(wrong["category"], message, HINTS["plain form"] if verdict.get("is_plain_form") else "")


def _bytes(verdict: dict, launches: list[dict]) -> list[Bytes]:
    """Bytes of the matrices, of the statistics and of atomics, each against its closed form."""
    sums, written = {"requested": 0, "footprint": 0}, {"requested": 0, "footprint": 0}
    atomic = statistics = 0
    for tensor in (tensor for launch in launches for tensor in launch.get("tensors", ())):
        requested, footprint = tensor["requested"], tensor["footprint"]
        if tensor["name"] in verdict["statistics"]:
            statistics += sum(requested.get(f"{kind}_bytes", 0) for kind in ("read", "write", "atomic"))
            continue
        atomic += requested.get("atomic_bytes", 0)
        sums["requested"] += requested["read_bytes"] + requested["write_bytes"]
        sums["footprint"] += footprint["read_bytes"] + footprint["write_bytes"]
        written["requested"] += requested["write_bytes"]
        written["footprint"] += footprint["write_bytes"]
    found = []
    for model in verdict["models"]:
        yours = sums[model["counts"]]
        writes = written[model["counts"]], model["write_bytes"]
        found.append(Bytes(model["counts"], model["formula"], yours, model["bytes"], verdict["ideal_bytes"], writes))
    found.append(Bytes("requested", ATOMICS, atomic, verdict["atomic_bytes"]))
    found.append(Bytes("requested", ", ".join(verdict["statistics"]), statistics, verdict["statistic_bytes"]))
    return found


# ---- criteria ----


def _criteria(kernels: list[str], runs: list[Run]) -> dict[str, Criterion]:
    counted = [(run, each) for run in runs if run.case.is_ordinary for each in run.bytes if each.budget]
    for run, each in counted:
        if each.yours < LEAST_SHARE * each.budget:
            few = "far fewer than the kernel has to move, so it computed something else. Your teacher sees a flag."
            return nothing_to_grade(SOMETHING_ELSE, f"{each.text(run.kernel)}: {few}")
    criteria = {}
    for name in CRITERIA:
        mine = [run for run in runs if run.case.criterion == name]
        criteria[name] = next((run.criterion() for run in mine if run.failure), PASSED)
        if criteria[name].passed and {run.kernel for run in mine} != set(kernels):
            criteria[name] = not_counted("it was not run" if name == "plain" else "the plain case comes first")
    right = criteria["plain"].passed and criteria["shapes"].passed
    criteria["hbm"] = _budget(runs) if right else not_counted("the result comes first")
    criteria["hazards"] = _hazards(runs) if right else not_counted("the result comes first")
    return criteria


def _budget(runs: list[Run]) -> Criterion:
    over = [(run, each) for run in runs for each in run.bytes if each.yours > each.budget]
    if not over:
        headlines = {run.kernel: run.bytes[0].text(run.kernel) for run in reversed(runs) if run.bytes}
        return replace(PASSED, message="; ".join(reversed(list(headlines.values()))))
    run, each = next((pair for pair in over if pair[0].case.criterion != "fresh"), over[0])
    message = f"{each.text(run.kernel)}, with {run.case.options}"
    if run.case.criterion == "fresh":
        message = f"{run.kernel}: over its budget on a fresh case"
    times = max(each.yours / (each.budget or 1) for _, each in over)
    return Criterion(False, True, "over budget", message, each.hint(), times)


def _hazards(runs: list[Run]) -> Criterion:
    """A warning costs no points, since the results are right in every order of threads; it is told."""
    found = [(run, hazard) for run in runs for hazard in run.hazards]
    warned = [(run, warning) for run in runs for warning in run.warnings]
    if not found and not warned:
        return PASSED
    run, hazard = next((each for each in found or warned if each[0].case.criterion != "fresh"), (found or warned)[0])
    message = f"{run.kernel}: {hazard_text(hazard, run.case.criterion != 'fresh')}"
    message += f" (and {len(found or warned) - 1} more)" if len(found or warned) > 1 else ""
    if not found:
        return replace(PASSED, message=f"{message}. {hazard_hint(hazard)}")
    hint = f"{hazard_hint(hazard)} A result that came out right by luck is not right."
    return Criterion(False, True, "hazard", message, hint)
