"""What a suite of unittest did: each test with its time, outcome and message, as data and as JUnit's XML."""

from __future__ import annotations

import re
import time
import unittest
import xml.etree.ElementTree as xml


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

    def fail(self, test: unittest.TestCase, error: tuple) -> None:
        message = self._exc_info_to_string(error, test)
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
            self.fail(subtest, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        if not self.tests or "seconds" in self.tests[-1]:  # a whole class
            self.tests.append({"name": str(test), "seconds": 0.0})
        if self.tests[-1].get("outcome") != "failed":  # a part of it, that is
            self.tests[-1].update(outcome="skipped", message=reason)


def add_suite(root: xml.Element, name: str, classname: str, tests: list[dict], **attributes: str) -> xml.Element:
    """The tests as a <testsuite> of JUnit."""
    node = xml.SubElement(root, "testsuite", {"name": name, "tests": str(len(tests)), **attributes})
    for test in tests:
        place = {"classname": classname, "name": test["name"], "time": f"{test['seconds']:.2f}"}
        case = xml.SubElement(node, "testcase", place)
        if test["outcome"] != "passed":
            kind = "failure" if test["outcome"] == "failed" else "skipped"
            # XML has no way to write the other control characters.
            text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", test["message"])
            xml.SubElement(case, kind, message=text.strip().split("\n")[-1][:200]).text = text
    return node
