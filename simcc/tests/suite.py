#!/usr/bin/env python3
"""Runs one suite of unittest for run.py: suite.py FILE.py RESULTS.xml [PATTERN]

FILE.py is a test_NAME.py, or makes tests of a file that RESULTS names. PATTERN: only the tests whose names match,
without their test_. Prints a line for each test, what failed, then the sums, alone on a line; the XML is JUnit's.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import re
import signal
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn


class Recorder(unittest.TestResult):
    """tests: name (Class.test_name), seconds, outcome (passed, failed or skipped), message."""

    def __init__(self) -> None:
        super().__init__()
        self.tests: list[dict] = []

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.begin = time.monotonic()
        self.tests.append({"name": test.id().split(".", 1)[1], "outcome": "passed", "message": ""})

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.tests[-1]["seconds"] = time.monotonic() - self.begin

    def fail(self, test: unittest.TestCase, error: tuple, part: str = "") -> None:
        message = part + self._exc_info_to_string(error, test)
        if not self.tests or "seconds" in self.tests[-1]:  # outside of a test: setUpClass, an import
            self.tests.append({"name": str(test), "message": "", "seconds": 0.0})
        self.tests[-1]["outcome"] = "failed"
        self.tests[-1]["message"] += message

    def addError(self, test: unittest.TestCase, err: tuple) -> None:
        self.fail(test, err)

    def addFailure(self, test: unittest.TestCase, err: tuple) -> None:
        self.fail(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: tuple | None) -> None:
        if err:
            self.fail(subtest, err, f"{subtest._subDescription()}\n")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.tests[-1].update(outcome="failed", message="expected to fail, and passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        if not self.tests or "seconds" in self.tests[-1]:  # a whole class
            self.tests.append({"name": str(test), "seconds": 0.0})
        if self.tests[-1].get("outcome") != "failed":  # a part of it, that is
            self.tests[-1].update(outcome="skipped", message=reason)


def junit(name: str, tests: list[dict]) -> xml.Element:
    """The <testsuites> of JUnit that hold this one."""
    sums = {"name": name, "tests": str(len(tests))}
    root = xml.Element("testsuites", sums)
    node = xml.SubElement(root, "testsuite", sums)
    for test in tests:
        place = {"classname": name, "name": test["name"], "time": f"{test['seconds']:.2f}"}
        case = xml.SubElement(node, "testcase", place)
        if test["outcome"] != "passed":
            kind = "failure" if test["outcome"] == "failed" else "skipped"
            # XML has no way to write the other control characters.
            text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", test["message"])
            xml.SubElement(case, kind, message=text.strip().split("\n")[-1][:200]).text = text
    return root


def tests_in(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for entry in suite:
        yield from tests_in(entry) if isinstance(entry, unittest.TestSuite) else [entry]


def main() -> int:
    path, results = map(Path, sys.argv[1:3])
    pattern = f"test_{sys.argv[3]}" if sys.argv[3:] else "*"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    course = Path(__file__).resolve().parents[2]
    places = (course / name for name in ("tests/support", "tools", "simcc/tests", "classroom"))
    sys.path[:1] = map(str, (path.parent, *places))  # where what it imports lies
    spec.loader.exec_module(module)
    suite, recorder = unittest.defaultTestLoader.loadTestsFromModule(module), Recorder()

    def stop(*_: object) -> NoReturn:
        """As an error of the test that runs: so what it started is ended, and what it wrote is taken away."""
        recorder.stop()
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop)
    if pattern != "*":
        chosen = [test for test in tests_in(suite) if fnmatch.fnmatch(test._testMethodName, pattern)]
        suite = unittest.TestSuite(chosen)
    suite.run(recorder)
    if recorder.shouldStop:
        return 143
    for test in recorder.tests:
        if test["outcome"] == "failed":
            print(f"    failed: {test['name']}")
            print("".join(f"    | {line}\n" for line in test["message"].splitlines()), end="")
        elif test["outcome"] == "skipped":
            print(f"    skipped: {test['message']}")
    xml.ElementTree(junit(results.stem, recorder.tests)).write(results, encoding="utf-8", xml_declaration=True)
    outcomes = [test["outcome"] for test in recorder.tests]
    print(", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("passed", "failed", "skipped")))
    return 1 if "failed" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
