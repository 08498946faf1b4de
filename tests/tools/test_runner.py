"""simcc/tests/run.py, with tiny suites of Criterion and of unittest: a good one must pass, each bad one must not."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from case import running

TESTS = Path(__file__).resolve().parents[1]
RUN = TESTS.parent / "simcc/tests/run.py"
SUITE = "import os, unittest\nclass Tiny(unittest.TestCase):\n    def test_first(self): pass\n"
SECOND = SUITE + "    def test_second(self): {}\n"
OF_UNITTEST = {
    "u_good": SECOND.format("self.assertEqual(os.getcwd(), os.path.dirname(__file__))"),
    "u_failing": SECOND.format("self.fail('planted')"),
    "u_part": SECOND.format("\n        with self.subTest(n=1): self.fail('planted')"),
    "u_crashing": SECOND.format("os._exit(0)"),
    "u_broken": "import nothing_of_this_name\n",
    "u_unexpected": SUITE + "    @unittest.expectedFailure\n    def test_second(self): pass\n",
    "u_sleeping": f"import case\n{SUITE}    def test_second(self): case.run(['sleep', '29{os.getpid()}'])\n",
    "u_class": SECOND.format("pass") + "    @classmethod\n    def setUpClass(cls): raise OSError('planted')\n",
}
WAYS = ("good", "failing", "crashing", "empty", "early", "skipping", "hanging")


class Runner(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        compiler = shlex.split(os.environ.get("CC") or "gcc")
        source = TESTS / "tools/runner_suites.c"
        builds = [
            subprocess.Popen([*compiler, "-w", f"-D{way.upper()}", source, "-lcriterion", "-o", cls.scratch / way])
            for way in WAYS
        ]
        if any([build.wait() for build in builds]):
            raise AssertionError("the tiny suites cannot be built")
        for copy in ("unlisted", "miscounted"):
            shutil.copy(cls.scratch / "good", cls.scratch / copy)
        for name, text in OF_UNITTEST.items():
            (cls.scratch / f"test_{name}.py").write_text(text)
        listed = {**dict.fromkeys((*WAYS, *OF_UNITTEST), 2), "miscounted": 3}
        (cls.scratch / "expected.tsv").write_text("".join(f"{name}\t{count}\n" for name, count in listed.items()))

    def start(self, *suites: str, seconds: int = 60) -> subprocess.Popen[str]:
        command = [sys.executable, RUN, self.scratch, self.scratch, *suites]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, env={**os.environ, "SUITE_TIMEOUT": str(seconds)}, **streams)

    def expect(self, status: int, last: str, *suites: str, seconds: int = 60) -> str:
        runner = self.start(*suites, seconds=seconds)
        said, _ = runner.communicate(timeout=100)
        self.assertEqual((runner.returncode, said.splitlines()[-1]), (status, last), said)
        return said

    def results(self, suite: str) -> xml.Element:
        return xml.parse(self.scratch / f"xml/{suite}.xml").getroot()

    def test_how_suites_end(self) -> None:
        """Kills: a test that is not run, a failure, a crash or a hang that is not seen, or not named with why; a suite
        whose process just ended, or that lost its tests."""
        second, unwritten = r" runner::second\n", "before its results were written"
        for suites, status, counts, says in (
            ("good", 0, (2, 0, 0), r"good +2 +2 +0 +0 +\d+\.\d\d +\d+\.\d\d\n"),
            ("good failing", 1, (3, 1, 0), second),
            ("crashing", 1, (1, 1, 0), second),
            ("skipping", 0, (1, 0, 1), "    skipped: no such machine\n"),
            ("hanging", 1, (0, 1, 0), "hanging: still running after 4 s"),
            ("", 1, (0, 1, 0), "no suites to run"),
            ("empty", 1, (0, 1, 0), "empty: holds 0 tests, expected.tsv says 2"),
            ("early", 1, (0, 1, 0), f"early: ended with status 0 {unwritten}"),
            ("missing", 1, (0, 1, 0), f"missing: ended with status 127 {unwritten}"),
            ("unlisted", 1, (2, 1, 0), "unlisted: has no line in expected.tsv"),
            ("miscounted", 1, (2, 1, 0), "miscounted: holds 2 tests, expected.tsv says 3"),
            ("u_good", 0, (2, 0, 0), " +2 +2 +0 +0 "),
            ("u_good:fir*", 0, (1, 0, 0), " +1 +1 +0 +0 "),
            ("u_good:nothing*", 1, (0, 1, 0), "no test is test_nothing"),
            ("u_failing", 1, (1, 1, 0), r"Tiny\.test_second\n            AssertionError: planted"),
            ("u_part", 1, (1, 1, 0), r"            \(n=1\)\n            AssertionError: planted\n"),
            ("u_unexpected", 1, (1, 1, 0), "expected to fail, and passed"),
            ("u_crashing", 1, (0, 1, 0), f"ended with status 0 {unwritten}"),
            ("u_broken", 1, (0, 1, 0), "No module named 'nothing_of_this_name'"),
            ("u_class", 1, (0, 1, 0), "OSError: planted"),
        ):
            last = "{} passed, {} failed, {} skipped".format(*counts)
            seconds = 4 if suites == "hanging" else 60
            self.assertRegex(self.expect(status, last, *suites.split(), seconds=seconds), says)
        self.assertEqual(len(list(self.results("good").iter("testcase"))), 2)
        self.assertIn("planted", next(self.results("u_part").iter("failure")).text)

    def test_every_suite_is_listed_and_every_listed_one_there(self) -> None:
        """Kills: a suite that was deleted, or a table of cases, and nobody notices."""
        for directory, makefile, prefix in ((TESTS, TESTS, ""), (RUN.parent, TESTS, "simcc_")):
            lines = (directory / "expected.tsv").read_text().splitlines()
            listed = {prefix + line.split("\t")[0] for line in lines if not line.startswith("#")}
            command = ["make", "-s", "-C", makefile, "print-ALL_SUITES"]
            there = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
            mine = {name for name in there if name.startswith("simcc_") == bool(prefix)}
            self.assertEqual(listed - {"cuda_chapters"}, mine)

    def test_interrupted_it_ends_what_runs_and_says_what_is_left(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            runner = self.start("hanging", "good")
            for line in runner.stdout or ():  # until the other one has ended
                if line.startswith("good "):
                    break
            runner.send_signal(number)
            said, _ = runner.communicate(timeout=30)
            self.assertEqual(runner.returncode, 130, said)
            self.assertIn("interrupted; not run to its end: hanging\n", said)
            self.assertEqual(said.splitlines()[-1], "2 passed, 0 failed, 0 skipped")
            self.assertEqual(running(str(self.scratch / "hanging"), 10), [], "the suite still runs")

    def test_what_a_test_started_ends_with_it(self) -> None:
        """Kills: programs of a suite of unittest that go on, each in a session of its own."""
        self.expect(1, "0 passed, 1 failed, 0 skipped", "u_sleeping", seconds=3)
        self.assertEqual(running(f"sleep 29{os.getpid()}", 10), [])
