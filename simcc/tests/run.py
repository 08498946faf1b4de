#!/usr/bin/env python3
"""Runs the suites of simcc: builds the programs they name, then runs test_*.py, each in a process of its own.

    run.py                      all suites            (make -C simcc test)
    run.py counts trace         these                 (make -C simcc test T="counts trace")
    run.py counts:stride*       of a suite the tests whose names match
    run.py --build              only builds

CC and CXX choose the compiler. A suite fails if a test fails, if it ends before its result is written, or if it held
another number of tests than expected.tsv says: a suite that lost its tests is no green one. The last line is the sum.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fcntl
import fnmatch
import importlib
import json
import os
import re
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import NamedTuple

import support
from recorder import Recorder, add_suite

TESTS = support.TESTS
LOGS = support.FIRST.folder / "log"
# Those that take longest begin first.
SLOW_FIRST = ["messages", "broken_kernels", "files", "same", "trace", "memory"]


class Result(NamedTuple):
    suite: str
    seconds: float
    cpu: float  # seconds, of the suite and all it ran
    tests: list[dict]  # name, seconds, outcome: passed, failed or skipped; message
    problem: str  # what is wrong with the suite as a whole, or nothing
    notes: list[str]

    def count(self, outcome: str) -> int:
        # A suite with something wrong as a whole has one failed test at least.
        found = sum(test["outcome"] == outcome for test in self.tests)
        return max(found, 1) if outcome == "failed" and self.problem else found

    @property
    def log(self) -> Path:
        return LOGS / f"{self.suite}.log"


# ---- in the process of a suite ----


def tests_in(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    found = []
    for entry in suite:
        found += tests_in(entry) if isinstance(entry, unittest.TestSuite) else [entry]
    return found


def run_suite(name: str, pattern: str, result_path: Path) -> None:
    """Leaves its result in a file; what it prints is its log."""
    loaded = unittest.defaultTestLoader.loadTestsFromName(f"test_{name}")
    tests = [test for test in tests_in(loaded) if fnmatch.fnmatch(test._testMethodName, f"test_{pattern}")]
    recorder = Recorder()
    unittest.TestSuite(tests).run(recorder)
    for test in recorder.tests:
        print(f"{test['outcome']:>7} {test['seconds']:8.2f} s  {test['name']}  {test['message']}".rstrip())
    times = os.times()
    cpu = times.user + times.system + times.children_user + times.children_system
    result_path.write_text(json.dumps({"tests": recorder.tests, "cpu": cpu}))


# ---- in the runner ----


def suite_names() -> list[str]:
    return sorted(path.stem[len("test_") :] for path in TESTS.glob("test_*.py"))


def expected_numbers() -> dict[str, int]:
    lines = (TESTS / "expected.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {suite: int(number) for suite, number in rows}


def build(suites: list[str], jobs: int) -> str | None:
    """All programs that these suites name; what went wrong, or None."""
    for suite in suites:
        try:
            importlib.import_module(f"test_{suite}")
        except (ImportError, SyntaxError, ValueError, OSError, AssertionError) as error:  # its process will say so, too
            return f"test_{suite}.py: {error}"
    programs = sorted(support.REGISTERED.values(), key=lambda made: (made.text is None, made.name))
    missing = [made for made in programs if not made.place.exists()]
    if not missing:
        return None
    print(f"building {len(missing)} of {len(programs)} programs", flush=True)
    for compiler in {
        made.library or made.compiler for made in missing
    }:  # the library first: each program would wait for it
        # on this thread, because make has its own jobs
        library = ["make", "-s", f"-j{jobs}", "-C", support.HOME, f"CC={compiler.cc}", f"CXX={compiler.cxx}", "lib"]
        place = compiler.folder.parent  # of the library; simcc, which others may run now, locks it so, too
        place.mkdir(parents=True, exist_ok=True)
        with open(place / ".lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made_library = support.run(library, cpu_seconds=300)
        if made_library.status != 0:
            return f"the library for {compiler.cxx} cannot be built:\n{made_library.err}"
        support.LIBRARIES[compiler] = place / "libsim.a"
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(lambda made=made: made.path) for made in missing]
        errors = [str(each.exception()) for each in waiting if each.exception()]
    times = os.times()
    print(f"built in {times.children_user + times.children_system:.1f} s of CPU", flush=True)
    return "\n".join(errors) or None


def run_in_process(suite: str, pattern: str, limit: float) -> Result:
    LOGS.mkdir(parents=True, exist_ok=True)
    result_path = LOGS / f"{suite}.json"
    result_path.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--suite", suite, pattern, str(result_path)]
    start = time.monotonic()
    problem = ""
    with open(LOGS / f"{suite}.log", "w") as log:
        try:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            environment = {**os.environ, "WERROR": "1"} if "-Werror" in support.STRICT else None  # support took it out
            ended = subprocess.run(command, check=False, timeout=limit, env=environment, **streams)
            if ended.returncode != 0:
                problem = f"ended with status {ended.returncode}"
        except subprocess.TimeoutExpired:
            problem = f"still running after {limit:g} s"
    result = json.loads(result_path.read_text()) if result_path.exists() else {"tests": [], "cpu": 0.0}
    tests = result["tests"]
    said = (LOGS / f"{suite}.log").read_text(errors="replace")
    notes = re.findall(r"^table: .*", said, re.MULTILINE)
    reasons = [test["message"] for test in tests if test["outcome"] == "skipped"]
    notes += [f"skipped: {reason} ({reasons.count(reason)})" for reason in dict.fromkeys(reasons)]
    if not problem and not tests:
        problem = "ran no test"
    if not problem and pattern == "*":
        wanted = expected_numbers().get(suite)
        if wanted != len(tests):
            problem = f"holds {len(tests)} tests, expected.tsv says {wanted}"
    return Result(suite, time.monotonic() - start, result["cpu"], tests, problem, notes)


def print_result(result: Result, left: int) -> None:
    counts = [result.count(outcome) for outcome in ("passed", "failed", "skipped")]
    numbers = f"{counts[0]:3} passed {counts[1]:3} failed {counts[2]:3} skipped"
    rest = f"  ({left} left)" if left else ""
    seconds = f"{result.seconds:7.1f} s {result.cpu:7.1f} s of CPU"
    print(f"{result.suite:<16} {len(result.tests):3} tests {numbers} {seconds}{rest}")
    for note in result.notes:
        print(f"    {note}")
    for test in result.tests:
        if test["outcome"] == "failed":
            print(f"    failed: {test['name']}")
            print("".join(f"    | {line}\n" for line in test["message"].splitlines()[-40:]), end="")
    if result.problem:
        print(f"    {result.suite}: {result.problem}; its output is {result.log}")
    sys.stdout.flush()


def write_junit(path: Path, results: list[Result]) -> None:
    root = xml.Element("testsuites", name="simcc")
    for result in results:
        attributes = {"time": f"{result.seconds:.2f}"}
        attributes.update({"failures": str(result.count("failed")), "skipped": str(result.count("skipped"))})
        node = add_suite(root, result.suite, f"simcc.{result.suite}", result.tests, **attributes)
        if result.problem:
            case = xml.SubElement(node, "testcase", classname=f"simcc.{result.suite}", name="the suite as a whole")
            xml.SubElement(case, "failure", message=result.problem)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE[:TESTS]", help="default: all of them")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="also write the results as JUnit's XML")
    parser.add_argument("--build", action="store_true", help="only build the programs")
    parser.add_argument("--limit", type=float, default=1800, metavar="S", help="seconds for a suite (1800)")
    parser.add_argument("--suite", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    known = suite_names()
    unknown = [name for name in given.suites if name.partition(":")[0] not in known]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}; there are {' '.join(known)}")
    if given.jobs < 1:
        parser.error("--jobs: expected a number from 1")
    return given


def main() -> int:
    given = parse_arguments()
    if given.suite:
        run_suite(given.suite[0], given.suite[1], Path(given.suite[2]))
        return 0
    chosen = dict(name.partition(":")[::2] for name in given.suites or suite_names())
    in_order = sorted(chosen, key=lambda name: SLOW_FIRST.index(name) if name in SLOW_FIRST else len(SLOW_FIRST))
    wrong = build(in_order, given.jobs)
    if wrong:
        print(wrong)  # the tests that need it say so once more
    if given.build:
        return 1 if wrong else 0
    results: list[Result] = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        waiting = [pool.submit(run_in_process, name, chosen[name] or "*", given.limit) for name in in_order]
        for ended in concurrent.futures.as_completed(waiting):
            results.append(ended.result())
            print_result(results[-1], len(waiting) - len(results))
    if given.junit:
        write_junit(given.junit, sorted(results))
    sums = {outcome: sum(result.count(outcome) for result in results) for outcome in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {outcome}" for outcome, count in sums.items()))
    if wrong:
        print("not everything could be built: see above")
    return 1 if wrong or sums["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
