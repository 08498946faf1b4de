#!/usr/bin/env python3
"""Runs one suite of unittest for run.sh: suite.py tests/PART/test_WHAT.py RESULTS.xml

Prints what failed, then the sums, alone on a line; the XML is JUnit's.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path


class Recorder(unittest.TestResult):
    """Keeps each test with its time, outcome and message."""

    def __init__(self) -> None:
        super().__init__()
        self.tests: list[dict] = []

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.tests.append({"name": test.id(), "outcome": "passed", "message": "", "begin": time.monotonic()})

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.tests[-1]["seconds"] = time.monotonic() - self.tests[-1]["begin"]

    def fail(self, test: unittest.TestCase, error: tuple) -> None:
        message = self._exc_info_to_string(error, test)
        if not self.tests or "seconds" in self.tests[-1]:  # outside of a test: setUpClass
            self.tests.append({"name": str(test), "message": "", "seconds": 0.0})
        self.tests[-1]["outcome"] = "failed"
        self.tests[-1]["message"] += message

    def addError(self, test: unittest.TestCase, err: tuple) -> None:
        self.fail(test, err)

    def addFailure(self, test: unittest.TestCase, err: tuple) -> None:
        self.fail(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: tuple | None) -> None:
        if err:
            self.fail(subtest, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.tests[-1].update(outcome="skipped", message=reason)


def write_junit(path: Path, suite: str, tests: list[dict]) -> None:
    root = xml.Element("testsuites", name=suite, tests=str(len(tests)))
    node = xml.SubElement(root, "testsuite", name=suite, tests=str(len(tests)))
    for test in tests:
        place = {"classname": suite, "name": test["name"], "time": f"{test['seconds']:.2f}"}
        case = xml.SubElement(node, "testcase", place)
        if test["outcome"] != "passed":
            kind = "failure" if test["outcome"] == "failed" else "skipped"
            # XML has no way to write the other control characters.
            text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", test["message"])
            xml.SubElement(case, kind, message=text.strip().split("\n")[-1][:200]).text = text
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def main() -> int:
    path, results = map(Path, sys.argv[1:])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    recorder = Recorder()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(recorder)
    for test in recorder.tests:
        if test["outcome"] == "failed":
            print(f"    failed: {test['name']}")
            print("".join(f"    | {line}\n" for line in test["message"].splitlines()), end="")
        elif test["outcome"] == "skipped":
            print(f"    skipped: {test['message']}")
    write_junit(results, f"{path.parent.name}_{path.stem[len('test_') :]}", recorder.tests)
    outcomes = [test["outcome"] for test in recorder.tests]
    print(", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("passed", "failed", "skipped")))
    return 1 if "failed" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
