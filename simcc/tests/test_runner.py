"""The runner itself, with tiny suites: a good one must pass, each bad one must not."""

import shutil
import xml.etree.ElementTree as xml

from support import FIRST, TESTS, Case, run

SUITE = "import os\nimport unittest\n\n\nclass Tiny(unittest.TestCase):\n    def test_first(self):\n        pass\n"
SECOND = "\n    def test_second(self):\n        {}\n"
SUITES = {
    "good": SUITE + SECOND.format("pass"),
    "failing": SUITE + SECOND.format("self.fail('planted')"),
    "raising": SUITE + SECOND.format("nothing.of_this_name()"),
    "crashing": SUITE + SECOND.format("os._exit(0)"),
    "broken": "import nothing_of_this_name\n",
    "empty": "",
    "unbuilt": SUITE.replace("import os", "import os\nimport support\nsupport.inline('wrong', 'nonsense')")
    + SECOND.format("pass"),
    "skipping": SUITE + SECOND.format("self.skipTest('no such machine')"),
    "unlisted": SUITE + SECOND.format("pass"),
    "miscounted": SUITE + SECOND.format("pass"),
}


class Runner(Case):
    def setUp(self):
        super().setUp()
        self.folder = self.scratch / "tests"
        self.folder.mkdir()
        for name in ("run.py", "support.py", "recorder.py"):
            shutil.copy(TESTS / name, self.folder)
        listed = [f"{name}\t{3 if name == 'miscounted' else 2}\n" for name in SUITES if name != "unlisted"]
        self.write("tests/expected.tsv", "".join(listed))
        for name, text in SUITES.items():
            self.write(f"tests/test_{name}.py", text)

    def run_suites(self, *arguments):
        environment = {**FIRST.environment, "SIM_BUILD": str(self.scratch / "build")}
        return run([self.folder / "run.py", "-j2", *arguments], environment)

    def expect_ended(self, status: int, last: str, *arguments: str) -> str:
        outcome = self.run_suites(*arguments)
        what = f"{arguments}: {outcome.out}{outcome.err}"
        self.expect_equal((outcome.status, outcome.out.splitlines()[-1:]), (status, [last]), what)
        return outcome.out

    def test_what_passes(self):
        self.expect_ended(0, "2 passed, 0 failed, 0 skipped", "good")
        self.expect_ended(0, "1 passed, 0 failed, 0 skipped", "good:sec*")
        said = self.expect_ended(0, "3 passed, 0 failed, 1 skipped", "good", "skipping")
        self.expect_in("skipped: no such machine (1)", said)

    def test_what_fails(self):
        said = self.expect_ended(1, "1 passed, 1 failed, 0 skipped", "failing")
        self.expect_in("failed: Tiny.test_second", said)
        self.expect_in("planted", said)
        for name, last in (
            ("raising", "1 passed, 1 failed, 0 skipped"),
            ("crashing", "0 passed, 1 failed, 0 skipped"),
            ("empty", "0 passed, 1 failed, 0 skipped"),
            ("unlisted", "2 passed, 1 failed, 0 skipped"),
            ("miscounted", "2 passed, 1 failed, 0 skipped"),
            ("good:nothing*", "0 passed, 1 failed, 0 skipped"),
        ):
            self.expect_ended(1, last, name)
        said = self.expect_ended(1, "not everything could be built: see above", "broken")
        self.expect_in("0 passed, 1 failed, 0 skipped", said)
        said = self.expect_ended(1, "not everything could be built: see above", "unbuilt")  # no test needs the program
        self.expect_in("2 passed, 0 failed, 0 skipped", said)
        outcome = self.run_suites("missing")
        self.expect_equal(outcome.status, 2, outcome.err)
        self.expect_in("no suite missing", outcome.err)

    def test_junit(self):
        path = self.scratch / "results.xml"
        self.expect_ended(1, "4 passed, 1 failed, 1 skipped", "--junit", path, "good", "failing", "skipping")
        root = xml.parse(path).getroot()
        suites = {suite.get("name"): suite for suite in root}
        self.assertEqual(sorted(suites), ["failing", "good", "skipping"])
        self.assertEqual([len(suite) for suite in root], [2, 2, 2])
        self.assertIn("planted", suites["failing"].find("testcase/failure").text)
        self.assertEqual(suites["skipping"].find("testcase/skipped").get("message"), "no such machine")
