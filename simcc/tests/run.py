#!/usr/bin/env python3
"""Runs suites, one more than there are cores at a time (some wait for a program); prints a line for each as it ends.

    run.py BUILD_DIR TESTS suite...         make test; make -C simcc test T="counts trace"
    run.py BUILD_DIR TESTS 'trace:the_*'    of a suite of unittest the tests whose names match

A suite NAME of TESTS, a directory, is test_NAME.py, of unittest (suite.py); PART_WHAT is PART/test_WHAT.py, or else
PART/PART.py if that makes suites of files (see OF_FILES); simcc_NAME is test_NAME.py beside this file;
any other is BUILD_DIR/NAME, of Criterion. It fails if a test fails, if it ends before its results are written, or if it
held another number of tests than expected.tsv says: a suite that lost its tests is no green one. All run in TESTS,
wherever this was called. Ends with what failed, and the sums alone on a line.

Reads: TESTS/expected.tsv; SUITE_TIMEOUT, seconds for a suite (900); LOG_LINES, of a failed suite's output that are
printed (60). Writes: BUILD_DIR/log/SUITE.log, its output, and BUILD_DIR/xml/SUITE.xml, JUnit's. Exit status: 0; 1
something failed; 2 usage; 130 interrupted: what still ran is ended, too.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

HERE = Path(__file__).resolve().parent
# The makes that the tests start are a user's, and nobody's submakes. (support.py reads WERROR before it takes it away.)
NOT_PASSED_ON = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "WERROR"}
TO_CLEAN_UP = 5  # seconds, of what is ended
try:
    TIMEOUT = float(os.environ.get("SUITE_TIMEOUT", "900"))
    LOG_LINES = int(os.environ.get("LOG_LINES", "60"))
except ValueError:
    print("run.py: SUITE_TIMEOUT, LOG_LINES: expected numbers", file=sys.stderr)
    sys.exit(2)


class Test(NamedTuple):
    name: str
    outcome: str  # passed, failed or skipped
    message: str


@dataclass
class Result:
    suite: str
    seconds: float
    cpu: float  # seconds
    log: Path
    tests: list[Test] = field(default_factory=list)
    problem: str = ""  # what is wrong with the suite

    def count(self, outcome: str) -> int:
        found = sum(test.outcome == outcome for test in self.tests)
        # What is wrong with a suite as a whole counts as one failed test.
        return max(found, 1) if outcome == "failed" and self.problem else found


class Groups:
    """The process groups that run, each a suite and all it started."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen] = set()
        self.ended = False

    def run(self, command: list[str | Path], log: Path, directory: Path) -> tuple[int | None, float]:
        """The exit status, None when the time was up and the group was killed; and seconds of CPU time."""
        left_out = NOT_PASSED_ON - ({"WERROR"} if Path(command[2]).parent == HERE else set())
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment["TEST_BUILD"] = str(log.parent.parent)
        with log.open("wb") as output, self.lock:
            if self.ended:
                return 130, 0.0
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            try:
                process = subprocess.Popen(command, cwd=directory, env=environment, start_new_session=True, **streams)
            except OSError as error:
                output.write(f"cannot run {command[0]}: {error.strerror}\n".encode())
                return 127, 0.0
            self.running.add(process)
        try:
            end = time.monotonic() + TIMEOUT
            while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                if time.monotonic() > end:
                    return None, cpu_seconds(process.pid)
                time.sleep(0.02)
            cpu = cpu_seconds(process.pid)
            return process.wait(), cpu
        finally:
            end_group(process)
            with self.lock:
                self.running.discard(process)

    def end_all(self) -> None:
        with self.lock:
            self.ended = True
            running = list(self.running)
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        end = time.monotonic() + TO_CLEAN_UP
        for process in running:
            end_group(process, max(0, end - time.monotonic()))


def cpu_seconds(pid: int) -> float:
    """Of a process that has ended but was not waited for, or still runs, with the children it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def end_group(process: subprocess.Popen, seconds: float = TO_CLEAN_UP) -> None:
    """A moment to clean up for one that still runs, then no more."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # and what it left behind
    process.wait()


# ---- one suite ----


# What makes a suite of each file in a directory, or of each chapter.
OF_FILES = {"answers": "answers/tried.py", "cases": "cases/cases.py", "faults": "faults/faults.py"}


def command_of(suite: str, build: Path, tests: Path, results: Path) -> list[str | Path]:
    name, _, pattern = suite.partition(":")
    part, _, what = name.partition("_")
    places = [tests / f"test_{name}.py", tests / part / f"test_{what}.py", tests / OF_FILES.get(part, "none")]
    places += [HERE / f"test_{what}.py"] if part == "simcc" else []
    for place in places:
        if place.exists():
            return [sys.executable, HERE / "suite.py", place, results, *([pattern] if pattern else [])]
    return [build / name, "-j1", "--color=never", f"--xml={results}"]


def expected_numbers(tests: Path) -> dict[str, int]:
    """Of suites: how many tests they have. Raises OSError, ValueError."""

    def numbers(path: Path) -> dict[str, int]:
        lines = path.read_text().splitlines()
        return {name: int(number) for name, number in (line.split() for line in lines if not line.startswith("#"))}

    own = {f"simcc_{name}": number for name, number in numbers(HERE / "expected.tsv").items()}
    return {**own, **numbers(tests / "expected.tsv")}


def read_results(path: Path) -> list[Test]:
    """The tests of a file as JUnit, Criterion and unittest write it. Raises xml.ParseError."""
    text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", path.read_text(encoding="utf-8", errors="replace"))
    tests = []
    for suite in xml.fromstring(text.encode()).iter("testsuite"):
        for case in suite.iter("testcase"):
            name = case.get("name", "") if case.get("classname") else f"{suite.get('name')}::{case.get('name')}"
            failures = [*case.iter("failure"), *case.iter("error")]
            message = "\n".join(failure.text or failure.get("message", "") for failure in failures)
            outcome = "failed" if failures else "skipped" if case.find("skipped") is not None else "passed"
            tests.append(Test(name, outcome, message))
    return tests


def what_is_wrong(result: Result, status: int | None, written: bool, wanted: int | None) -> str:
    """With the suite as a whole, or nothing; wanted is its number of tests, None: it is listed nowhere."""
    if failed := sum(test.outcome == "failed" for test in result.tests):
        return f"{failed} failed"
    if status is None:
        return f"still running after {TIMEOUT:g} s"
    if not written:
        return f"ended with status {status} before its results were written"
    if status != 0:
        return f"exit status {status}"
    if wanted is None:
        return "has no line in expected.tsv"
    if len(result.tests) != wanted:
        return f"holds {len(result.tests)} tests, expected.tsv says {wanted}"
    return ""


def run_suite(suite: str, build: Path, tests: Path, expected: dict[str, int], groups: Groups) -> Result:
    log, results = build / f"log/{suite}.log", build / f"xml/{suite}.xml"
    results.unlink(missing_ok=True)
    start = time.monotonic()
    status, cpu = groups.run(command_of(suite, build, tests, results), log, tests)
    result = Result(suite, time.monotonic() - start, cpu, log)
    written = True
    try:
        result.tests = read_results(results)
    except (OSError, xml.ParseError):
        written = False
    name, _, pattern = suite.partition(":")
    is_part = pattern and result.tests  # of a pattern any number, but none
    result.problem = what_is_wrong(result, status, written, len(result.tests) if is_part else expected.get(name))
    if pattern and written and status == 0 and not result.tests:
        result.problem = f"no test is test_{pattern} (* stands for any characters)"
    return result


# ---- what is printed ----


def print_result(result: Result, left: int) -> None:
    numbers = [result.count(outcome) for outcome in ("passed", "failed", "skipped")]
    columns = "{:7} {:7} {:8}".format(*numbers)
    rest = f"  ({left} left)" if left else ""
    print(f"{result.suite:<24} {len(result.tests):6} {columns} {result.seconds:8.2f} {result.cpu:8.2f}{rest}")
    said = result.log.read_text(encoding="utf-8", errors="replace").splitlines()
    notes = [line.strip() for line in said if re.match(r" *(skipped|table): ", line)]
    for note in dict.fromkeys(notes):  # several tests skipped for one reason are one line
        print(f"    {note}" + (f" ({notes.count(note)} tests)" if notes.count(note) > 1 else ""))
    if result.problem:
        print(f"    {result.suite}: {result.problem}. Its output ({result.log}):")
        print("".join(f"    | {line}\n" for line in said[max(0, len(said) - LOG_LINES) :]), end="")
    sys.stdout.flush()


def print_failures(results: list[Result]) -> None:
    """Once more at the end, where a reader looks first and where a log that was cut still has it."""
    wrong = [result for result in results if result.problem]
    if wrong:
        print("failed:")
    for result in wrong:
        print(f"    {result.suite}: {result.problem}")
        for test in result.tests:
            if test.outcome == "failed":
                lines = [line for line in test.message.strip().splitlines() if line.strip()]
                if any(line.startswith("Traceback") for line in lines):  # which part, and what was wrong there
                    lines = [line for line in lines if re.match(r"[(\[]|[A-Z]\w+(\.\w+)*(: |$)", line)]
                print(f"        {test.name}\n" + "".join(f"            {line[:300]}\n" for line in lines[:4]), end="")


def stop(number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    if len(sys.argv) < 3:
        print("usage: run.py BUILD_DIR TESTS suite...", file=sys.stderr)
        return 2
    build, tests, suites = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    try:
        expected = expected_numbers(tests)
    except (OSError, ValueError) as error:
        print(f"run.py: {tests}/expected.tsv: {error}", file=sys.stderr)
        return 2
    for folder in ("xml", "log"):
        (build / folder).mkdir(parents=True, exist_ok=True)
    for suite in suites:
        if "/" in suite or suite.endswith(":") or suites.count(suite) > 1:
            print(f"run.py: {suite}: expected SUITE or SUITE:PATTERN, once", file=sys.stderr)
            return 2
        if ":" in suite and Path(command_of(suite, build, tests, build)[0]) != Path(sys.executable):
            print(f"run.py: {suite}: a pattern is for suites of unittest, this one is of Criterion", file=sys.stderr)
            return 2
    # Also where they were ignored, as in the background of a script: the suites would, too. With nohup that of a closed
    # terminal does nothing, here; suites have the default.
    is_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ends = [signal.SIGINT, signal.SIGTERM, *([] if is_nohup else [signal.SIGHUP])]
    signal.signal(signal.SIGHUP, lambda *_: None)
    for number in ends:
        signal.signal(number, stop)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    print(
        f"{'suite':<24} {'tests':>6} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'of CPU':>8}",
        flush=True,
    )
    groups, results, interrupted = Groups(), [], False
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 1) as pool:
        try:
            waiting = [pool.submit(run_suite, suite, build, tests, expected, groups) for suite in suites]
            for ended in concurrent.futures.as_completed(waiting):
                results.append(ended.result())
                print_result(results[-1], len(suites) - len(results))
        except KeyboardInterrupt:
            for number in ends:
                signal.signal(number, signal.SIG_IGN)  # once is enough
            interrupted = True
            pool.shutdown(wait=False, cancel_futures=True)
            groups.end_all()
    print_failures(results)
    if not suites:
        print("no suites to run")
    sums = {kind: sum(result.count(kind) for result in results) for kind in ("passed", "failed", "skipped")}
    if interrupted:
        done = {result.suite for result in results}
        print("interrupted; not run to its end: " + " ".join(suite for suite in suites if suite not in done))
    sums["failed"] += not suites
    print(f"the suites took {sum(result.cpu for result in results):.0f} s of CPU time")
    print(", ".join(f"{count} {kind}" for kind, count in sums.items()))
    return 130 if interrupted else 1 if sums["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
