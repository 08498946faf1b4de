"""What is told of a grading: the table, results.json, JUnit and CSV, to the word."""

from __future__ import annotations

import json
import unittest
import xml.etree.ElementTree as xml

from grading import ALL, temporary
from judge import results as told
from judge import verdict
from judge.sandbox import Environment
from judge.verdict import Criterion
from lib.tasks import Task


class Results(unittest.TestCase):
    def results(self) -> told.Results:
        def task(name: str, criteria: dict[str, Criterion], chapter: str = "01_naive") -> told.TaskResult:
            return told.TaskResult(Task(1, name, chapter, ["k"], f"title of {name}", 1, 4.0), criteria)

        full = dict.fromkeys(ALL, verdict.PASSED)
        warned = {**full, "hbm": Criterion(True, True, message="k: few"), "hazards": Criterion(True, True, message="W")}
        lost = {**full, "plain": Criterion(False, True, "wrong result", "O <is> 3", "Look.")}
        lost |= {name: verdict.not_counted("x") for name in ("hbm", "hazards")}
        unknown = {**full, "shapes": Criterion(False, category=verdict.NOT_JUDGED, message="a neighbor", hint="Wait.")}
        tasks = [task("01.full", full), task("01.warned", warned), task("01.lost", lost)]
        tasks += [task("02.none", verdict.not_judged("all of it"), "02_online_softmax")]
        tasks += [task("02.unknown", unknown, "02_online_softmax"), task("02.not-yet", {}, "02_online_softmax")]
        tasks[0].predictions = tasks[1].predictions = ["k: 1 bytes is right"]
        return told.Results(tasks, ["a note"])

    HUMAN = """\
task               plain shapes inputs fresh memory hazards    points
01.full            ok    ok     ok     ok    ok     ok            4/4
01.warned          ok    ok     ok     ok    ok     ok            4/4
01.lost            NO    ok     ok     ok    -      -           2.4/4

02.none            ?     ?      ?      ?     ?      ?             ?/4
02.unknown         ok    ?      ok     ok    ok     ok            ?/4
02.not-yet                                                        0/4

all tasks                                                     13.4/24

ok: has its points   NO: has not   -: not counted, because of another
?: not judged in this tree, 5 points: your teacher's has all tasks solved

01.warned: title of 01.warned
  memory budget: k: few
  warning (no points lost): W

01.lost: title of 01.lost
  -0.6 correct on the plain case: O <is> 3
      hint: Look.
  -1 memory budget, no hazards: not counted without the above

02.none: title of 02.none
  not judged: all of it

02.unknown: title of 02.unknown
  not judged, any shape: a neighbor
      hint: Wait.

02.not-yet: title of 02.not-yet

prediction (no points): k: 1 bytes is right

note: a note
"""

    def test_for_people(self) -> None:
        """Kills: a mark, a sum, a line that is told twice or not at all."""
        self.assertEqual(told.human(self.results()), self.HUMAN)
        best = told.Results(self.results().tasks[:1])
        best.tasks[0].predictions = []
        self.assertEqual(told.human(best), told.table(best))
        self.assertEqual(told.explained(best.tasks[0]), "")

    def test_for_gradescope(self) -> None:
        results = self.results()
        text = told.gradescope(results)
        self.assertTrue(text.startswith('{\n   "output": '))  # what people read, before it is long
        read = json.loads(text)
        self.assertEqual(read.keys(), {"output", "output_format", "score", "stdout_visibility", "tests"})
        tests = {test["number"]: test for test in read["tests"]}
        self.assertEqual({test["max_score"] for test in tests.values()}, {4.0})
        self.assertEqual((read["score"], tests["01.lost"]["score"], tests["02.unknown"]["score"]), (13.4, 2.4, 3.0))
        self.assertEqual([test["status"] for test in tests.values()], ["passed"] * 2 + ["failed"] * 4)
        self.assertEqual(tests["01.full"], {
            "name": "01_naive: title of 01.full", "number": "01.full", "output": "all points", "output_format": "text",
            "score": 4.0, "max_score": 4.0, "status": "passed", "tags": ["01_naive"], "visibility": "visible",
        })  # fmt: skip
        self.assertEqual((read["output_format"], read["stdout_visibility"]), ("text", "hidden"))
        self.assertIn("O <is> 3", tests["01.lost"]["output"])
        for part in ("all tasks", "prediction (no points): k: 1 bytes", "note: a note\n", "was stopped before"):
            self.assertIn(part, read["output"])
        results.complete, results.trouble = True, "no\nzip"
        self.assertTrue(json.loads(told.gradescope(results))["output"].startswith("no zip\nprediction"))
        self.assertNotIn("was stopped", told.gradescope(results))

    def test_what_is_known_is_taken_over(self) -> None:
        """Kills: points of another submission, of one that failed or of a file that is not ours; what is not known."""
        results = self.results()
        for each, checksum in zip(results.tasks, ("c", "c", "old", "c", "c", "c")):
            each.checksum, each.share = checksum, 0.9
        results.tasks[3].failed = True
        with temporary() as scratch:
            path = scratch / "x.json"
            path.write_text(told.gradescope(results, state=True))
            known = told.read_state(path, [each.task for each in results.tasks[1:]])
            self.assertEqual(list(known.values()), results.tasks[1:5])  # the last one has no criteria
            for text in ("", "{}", "[]", '{"extra_data": {"judged": "[]"}}', '{"extra_data": {"judged": 3}}'):
                path.write_text(text)
                self.assertEqual(told.read_state(path, [results.tasks[0].task]), {}, text)
        anew = told.Results([told.TaskResult(each.task) for each in results.tasks], checksum="c")
        self.assertEqual({(each.checksum, each.share, each.failed) for each in anew.tasks}, {("", 1.0, False)})
        anew.take_over(known)
        taken = [each is known.get(each.task.id) for each in anew.tasks]
        self.assertEqual(taken, [False, True, False, False, True, False])
        self.assertEqual([each.is_known for each in results.tasks], [True, True, True, False, True, False])
        self.assertAlmostEqual(told.final_of(results.tasks), 0.9 * 13.4)
        known[results.tasks[1].task.id].checksum = ""  # of an absent student, or of an archive that was none
        anew = told.Results([told.TaskResult(results.tasks[1].task)], checksum="c")
        anew.take_over(known)
        self.assertEqual(anew.tasks[0].checksum, "")
        self.assertIsNot(anew.tasks[0], known[results.tasks[1].task.id])
        for failure in ("", "full disk"):
            anew.failure = failure
            anew.no_points("not graded", "why")
            self.assertEqual({(each.failed, each.checksum) for each in anew.tasks}, {(bool(failure), "")})

    def test_for_machines(self) -> None:
        root = xml.fromstring(told.junit(self.results()).partition("\n")[2])
        counts = [(each.get("name"), each.get("tests"), each.get("failures")) for each in (root, *root)]
        expected = [(None, "30", "10"), ("01_naive", "18", "3"), ("02_online_softmax", "12", "7")]
        self.assertEqual(counts, expected)
        failure = next(each for each in root.iter("failure"))
        self.assertEqual((failure.get("message"), failure.text), ("wrong result", "O <is> 3\nLook."))
        line = told.csv_line("a,b", 3, '"', "=1+1", "@x", "-2", "+3", "two\nlines", "\x1bred", "a=b")
        self.assertEqual(line, '"a,b",3,"""",\'=1+1,\'@x,\'-2,\'+3,two lines,?red,a=b\n')

    def test_what_a_teacher_looks_at(self) -> None:
        results = self.results()
        self.assertEqual((results.remark, results.most, results.score), ("", 24, 13.4))
        results.doubt = "another class?"
        self.assertEqual(results.remark, "another class?")
        results.tasks[0].criteria = verdict.nothing_to_grade("did something else", "x")
        self.assertEqual(results.remark, "look at 01.full: did something else")
        results.no_points("not there", "no zip")
        self.assertEqual((results.remark, results.score), ("no zip", 0))
        thirds = told.TaskResult(Task(1, "01.x", "01_naive", ["k"], "é", 1, 1 / 3), dict.fromkeys(ALL, verdict.PASSED))
        self.assertEqual(
            (thirds.score, told.Results([thirds] * 2).score, told.Results([thirds] * 2).most), (0.33, 0.66, 0.67)
        )
        self.assertIn('"01_naive: é"', told.gradescope(told.Results([thirds])))
        self.assertEqual({each.criteria["plain"].category for each in results.tasks}, {"not there"})
        for number, text in ((3.0, "3"), (0.25, "0.25"), (2.499, "2.5"), (10, "10"), (0, "0")):
            self.assertEqual(told.points(number), text)
        self.assertEqual(sum(told.WEIGHTS.values()), 100)
        self.assertEqual(told.wrapped("x " * 45, "a:", "  "), f"a: {'x ' * 38}x\n  {'x ' * 5}x\n")
        for width, word in ((75, "yy"), (70, "yy-zzzzzz")):  # the 81st column, and no break behind a hyphen
            self.assertEqual(told.wrapped(f"{'x' * width} {word}", "a:", ""), f"a: {'x' * width}\n{word}\n")
        self.assertEqual([told.wrapped("", first, "") for first in ("a: ", "")], ["a:\n", "\n"])
        self.assertEqual([told.wrapped("x", first, "") for first in ("a: ", "a:", "")], ["a: x\n", "a: x\n", "x\n"])
        with self.assertRaisesRegex(Environment, "^RESULTS=/dev/full/x: cannot be written: "):
            told.write_file("/dev/full/x", "")
