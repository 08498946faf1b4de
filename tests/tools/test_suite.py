"""tests/support/suite.py, by which run.py starts suites of unittest: it must tell a failing suite from a good one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SUITE = """import unittest
class Example(unittest.TestCase):
    def test_first(self):
        pass
    def test_second(self):
        {}
"""


class Suite(unittest.TestCase):
    def expect(self, body: str, status: int, last: str, says: str = "", xml: str = "") -> None:
        with tempfile.TemporaryDirectory() as scratch:
            suite, results = Path(scratch, "test_example.py"), Path(scratch, "results.xml")
            suite.write_text(SUITE.format(body))
            command = [sys.executable, str(ROOT / "tests/support/suite.py"), str(suite), str(results)]
            run = subprocess.run(command, check=False, capture_output=True, text=True)
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
            self.assertEqual(run.stdout.splitlines()[-1:], [last] if last else [])
            self.assertIn(says, run.stdout)
            self.assertIn(xml, results.read_text() if results.exists() else "")

    def test_a_good_suite(self) -> None:
        self.expect("pass", 0, "2 passed, 0 failed, 0 skipped", xml='<testsuites name="')

    def test_a_failing_suite(self) -> None:
        self.expect("self.assertEqual(1, 2)", 1, "1 passed, 1 failed, 0 skipped", "failed: Example.test_second")
        self.expect(
            "raise OSError('planted')", 1, "1 passed, 1 failed, 0 skipped", "    | OSError: planted", "<failure"
        )
        subtest = "with self.subTest(n=1): self.fail('planted')"
        self.expect(subtest, 1, "1 passed, 1 failed, 0 skipped", "planted")

    def test_a_suite_with_a_skipped_test(self) -> None:
        self.expect(
            "self.skipTest('no such machine')", 0, "1 passed, 0 failed, 1 skipped", "    skipped: no such machine"
        )

    def test_a_suite_that_cannot_be_loaded_has_no_last_line(self) -> None:
        self.expect("pass\nimport nothing_of_this_name", 1, "")

    def test_a_suite_that_fails_before_its_tests(self) -> None:
        body = "pass\n    @classmethod\n    def setUpClass(cls):\n        raise OSError('planted')"
        self.expect(body, 1, "0 passed, 1 failed, 0 skipped", "planted")


if __name__ == "__main__":
    unittest.main()
