"""What a submission gets: nothing for what was handed out, everything for the solution, the same twice; what the
grader says to submissions that are not as they should be; and what its text shows."""

from __future__ import annotations

import json
import re
import sys
import time
import zipfile
from pathlib import Path

from grading import (
    CLASS_OF_CAPS,
    CLASS_OF_WINDOWS,
    ROOT,
    Graded,
    grade,
    handout,
    one_line,
    only_when_thorough,
    run,
    run_grader,
    tool,
)
from judge import cases as casebook
from judge import results as told
from judge import verdict
from judge.build import HINTS
from judge.course import Course
from lib import tasks

SUM = "\tO[row * d + c] = sum;"


class Points(Graded):
    def test_an_untouched_hand_out_has_none_and_every_task_is_explained(self) -> None:
        results = self.grade(self.tree("none", solved=False))
        self.assertEqual(results.score, 0)
        for each in results.tasks:
            self.assertRegex(self.said(results, each.task.id), "as it was handed out hint: make hint N=")

    @only_when_thorough
    def test_solutions_of_every_class_have_all_and_the_stubs_none(self) -> None:
        """Whole, and of each task alone as ONLY chooses it."""
        for key in (None, CLASS_OF_CAPS, CLASS_OF_WINDOWS):
            solved, handed_out = self.tree(f"all {key}", key), self.tree(f"none {key}", key, solved=False)
            results = self.grade(solved, key=key)
            self.assertEqual(results.score, results.most, told.human(results))
            self.assertEqual(self.grade(handed_out, key=key).score, 0)
            for task in self.grader(key).tasks:
                with self.subTest(f"{key} {task.id}"):
                    chosen = grade.chosen(self.grader(key).tasks, task.id)
                    self.assertEqual([each.id for each in chosen], [task.id])
                    for tree, points in ((solved, task.points), (handed_out, 0)):
                        self.assertEqual(self.grader(key).grade(tree, lambda _: None, chosen).score, points)

    def test_a_case_in_place_has_one_array(self) -> None:
        program = self.grader().judge_of("07_transformer").builder.program({}, "")
        for kernel, written in (("rope", "x"), ("project", "residual")):
            done = run(program, "--save", self.scratch / kernel, "--kernel", kernel, "--seq", "3", "--in-place")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            (launch,) = (json.loads(line) for line in (self.scratch / kernel / "report.jsonl").read_text().splitlines())
            found = {each["name"] for each in launch["tensors"] if each["requested"]["write_bytes"]}
            self.assertEqual(found, {written})

    @only_when_thorough
    def test_a_touched_stub_has_none_either(self) -> None:
        """Something was written, but nothing that computes: also without the short cut for untouched text."""
        tree = self.tree("touched", solved=False)
        for path in tree.glob("*/*.cu*"):
            path.write_text(re.sub(r"(?m)^(\s*)(// end )", r"\1;\n\1\2", path.read_text()))
        results = self.grade(tree)
        for each in results.tasks:
            self.assertEqual(each.score, 0, told.explained(each))
            self.assertNotIn("as it was handed out", told.explained(each))

    def test_twice_the_same_and_with_one_job_too(self) -> None:
        tree = self.tree("twice")
        self.replace(tree / "01_naive/naive.cu", "float m = -INFINITY;", "float m = 0.0f;")
        outcomes = []
        for jobs in ("1", "3"):
            path = self.scratch / f"{jobs}.json"
            what = ("--submission", tree, "--only", "01_naive", "--results", path)
            self.succeeded(run_grader(*what, GRADE_JOBS=jobs))
            outcomes.append(path.read_text())
        self.assertEqual(*outcomes)

    def test_runs_without_end_cost_their_task_only(self) -> None:
        tree = self.tree("spinning")
        self.replace(tree / "01_naive/naive.cu", SUM, "\tfor (int k = 1; k;)\n\t\tsum += 1;\n" + SUM)
        results = self.grade(tree, "01.softmax", "01.weighted-sum")
        self.assertRegex(
            self.said(results, "01.weighted-sum"), "does not end.*past its 4 seconds.*hint: Look for a loop"
        )
        self.assertEqual(self.lost(results, "01.softmax"), set())

    def test_fresh_cases_tell_a_category_and_a_hint_only(self) -> None:
        tree = self.tree("fresh")  # right on all published cases: wrong where N is none of theirs
        sizes = {
            re.search(r"--seq (\d+)", case.options)[1]
            for case in self.grader().cases
            if case.chapter == "01_naive" and case.criterion != "fresh"
        }
        known = " || ".join(f"N == {size}" for size in sorted(sizes))
        self.replace(
            tree / "01_naive/naive.cu", SUM, f"\tbool known = {known};\n\tO[row * d + c] = known ? sum : 2.0f * sum;"
        )
        results = self.grade(tree, "01.weighted-sum")
        self.assertEqual(self.lost(results, "01.weighted-sum"), {"fresh"})
        said = self.said(results, "01.weighted-sum")
        self.assertRegex(said, "fresh cases: naive: wrong result hint: ")
        self.assertNotRegex(said, "expected|--seq")

    @only_when_thorough
    def test_another_class_is_another_solution(self) -> None:
        """The plain solution has no points in the tasks of which a class has a text of its own."""
        for key in (CLASS_OF_CAPS, CLASS_OF_WINDOWS):
            own = [
                task.id
                for task in self.grader(key).tasks
                if (ROOT / f"classroom/tasks/{task.id}/stub.{handout.class_of_key(key)[task.chapter][0]}.cu").exists()
            ]
            self.assertGreaterEqual(len(own), 7)
            results = self.grade(self.tree(f"plain {key}"), *own, key=key)
            self.assertEqual(results.score, 0, told.human(results))

    def test_equal_regions_are_judged_once(self) -> None:
        first, second = self.tree("first"), self.tree("second")
        for tree in (first, second):
            self.replace(tree / "01_naive/naive.cu", SUM, "\tsum = sum * 3;\n" + SUM)
        self.replace(second / "01_naive/naive.cu", "#include", "// a line more\n#include")
        self.grade(first, "01.weighted-sum")
        judge = self.grader().judge_of("01_naive")
        before = judge.criteria_of
        judge.criteria_of = lambda *_: self.fail("it was judged again")
        try:
            self.assertEqual(self.grade(second, "01.weighted-sum").score, 0)
        finally:
            judge.criteria_of = before


class Said(Graded):
    """What happened, in the student's lines."""

    def test_the_hints_of_an_advice_are_of_one_that_the_device_gives(self) -> None:
        said = "".join(path.read_text() for path in (ROOT / "simcc/engine/check").glob("*.c"))
        said = re.sub(r'"\s*"', "", said).replace("a %s is missing", "a __syncwarp() is missing")
        advised = [reason.partition(": ")[2] for reason in HINTS if ": " in reason]
        self.assertGreaterEqual(len(advised), 1)
        self.assertEqual([words for words in advised if words not in said], [])
        self.assertEqual([hint for hint in HINTS.values() if re.search(r"\bmake |\./", hint)], [])

    def test_a_hint_shows_a_problem_that_shows_the_mistake(self) -> None:
        """Of each kernel's plain case: what stands after ./PROGRAM there fails too."""
        for chapter, task, file, old, new in (
            ("01_naive", "01.weighted-sum", "naive.cu", "sum += P", "sum = P"),
            ("04_fa1", "04.update", "paper.cu", "keep * O[c])", "O[c])"),
            ("05_fa2", "05.loop-swap", "row.cu", "blockIdx.x * Br", "blockIdx.y * Br"),
            ("05_fa2", "05.rescale", "warp_tile.cuh", "\t\t\to[r][c] *= correction;", "\t\t\to[r][c] *= 1.0f;"),
            ("06_backward", "06.dq", "dq.cu", "[t] - delta)", "[t])"),
        ):
            with self.subTest(task):
                tree = self.tree(task)
                self.replace(tree / chapter / file, old, new)
                said = self.said(self.grade(tree, task), task)
                options = re.search(
                    r"hint: [^-]*\./\w+ (--[^;|]*?)(?: has two| --json -)?(?: -[\d.]+ |$| prediction)", said
                )
                self.assertTrue(options, said)
                judge, grader = self.grader().judge_of(chapter), self.grader()
                region = grader.read(tree).regions[task]
                regions = {task: grader.course.compiled(task, region)}
                program = judge.builder.program(regions, task)
                kernel = next(each.kernels[0] for each in grader.tasks if each.id == task)
                words = re.sub(r"--kernel \w+", "", options[1])
                with verdict.Runner(program, self.scratch) as runner:
                    run = judge._run(runner, kernel, casebook.Case(0, chapter, "plain", "forward", words, ("",)))
                self.assertIsNotNone(run.failure, words)

    def test_places_are_those_of_the_students_file(self) -> None:
        tree = self.tree("places")
        path = tree / "01_naive/naive.cu"
        path.write_text("// three\n// lines\n// more\n" + path.read_text())
        self.replace(path, SUM, "\tO[row * d + c] = summe;")
        self.replace(path, "\t\tP[row * N + j] =", "\t\tP[row * N + j + 3 * rows * N] =")
        lines = path.read_text().split("\n")
        results = self.grade(tree, "01_naive")
        said = self.said(results, "01.weighted-sum")
        number = lines.index("\tO[row * d + c] = summe;") + 1
        self.assertIn(f"does not compile: naive.cu:{number}: use of undeclared identifier 'summe'", said)
        number = next(i for i, line in enumerate(lines, 1) if "3 * rows" in line)
        self.assertIn(f"naive.cu:{number} of global memory", self.said(results, "01.softmax"))
        self.assertEqual(self.lost(results, "01.score"), set())


class Both(Graded):
    """The student's command in a hand-out, and the teacher's in the course."""

    WRITTEN = {  # what is written of chapters 01 and 03; or all of it, one text replaced
        "nothing": "",
        "score": "01.score",
        "softmax": "01.softmax",
        "sum": "01.weighted-sum",
        "two": "01.score 01.softmax",
        "load": "03.load",
        "tile": "03.tile",
        "registers": "03.registers",
        "chapter": "01.score 01.softmax 01.weighted-sum",
        "all": "all",
        "scale": ("scale * dot;", "scale * (scale * dot);"),
        "heads": ("causal && j > i", "causal && j > (int)row"),
        "no-maximum": ("m = max_over_warp(m);", "m = 0.0f;"),
        "starts-at-0": ("float m = -INFINITY;", "float m = 0.0f;"),
        "grammar": ("m = max_over_warp(m);", "m = max_over_warp(m) m;"),
        "refused": ("float dot = 0.0f;", "goto out; float dot = 0.0f;"),
        "budget": ("l = sum_over_warp(l);", "l = sum_over_warp(l + 0.0f * s[0]);"),
        "endless": ("j < N; j++)", "j < N; j += 0)"),
        "barrier": ("__syncthreads(); // without it a warp multiplies", "; // a warp multiplies"),
        "products": ("sums[r][c] += a[r] * b[c];", "sums[r][c] = a[r] * b[c];"),
        "score-alone": ("scale * dot;", "scale * (scale * dot);", "01.score"),
        "grammar-alone": ("float dot = 0.0f;", "float dot = 0.0f 1;", "01.score"),
    }

    @only_when_thorough
    def test_give_one_verdict_of_the_same_region(self) -> None:
        """A right 01.score beside tasks that were not written was "NaN or infinity" and 0 points for the student, and
        full points for the teacher. A verdict is the same in both trees, or it is none."""
        handed_in, trees = self.scratch / "handed-in", (self.hand_out("student"), ROOT)
        for name, what in self.WRITTEN.items():
            self.write(handed_in / name, what)
        marks: list[dict[str, dict[str, list[str]]]] = []
        for number, tree in enumerate(trees):
            into, only = self.scratch / f"points-{number}", "01_naive,03_tiled_matmul"
            command = ("--submissions", handed_in, "--results", into, "--only", only)
            self.succeeded(run(sys.executable, tree / "classroom/grade.py", *command))
            pages = {name: (into / f"{name}.txt").read_text() for name in self.WRITTEN}
            rows = {name: re.findall(r"(?m)^(\d\d\.[\w-]+) +((?:\S+ +){6})", page) for name, page in pages.items()}
            marks.append({name: {task: row.split() for task, row in of} for name, of in rows.items()})
            if number == 0:
                said = {name: one_line(page) for name, page in pages.items()}
        for name, of in marks[1].items():
            for task, teachers in of.items():
                students = marks[0][name][task]
                print(f"    table: {name:<14}{task:<16}{' '.join(students):<20}{' '.join(teachers)}")
                wrong = [pair for pair in zip(students, teachers) if pair[0] not in (pair[1], "?")]
                self.assertEqual(wrong, [], f"{name} {task}: {students}, the teacher's {teachers}\n{said[name]}")
        self.assertEqual(len(marks[1]), len(self.WRITTEN))
        for name, task, judged in (
            ("score", "01.score", "??????"),
            ("chapter", "01.score", "ok" * 6),
            ("all", "03.tile", "ok" * 6),
            ("registers", "03.registers", "ok" * 6),
            ("refused", "01.score", "NO-----"),
            ("refused", "01.softmax", "??????"),
            ("grammar", "01.softmax", "NO-----"),
            ("grammar-alone", "01.score", "NO-----"),
            ("products", "03.registers", "NO-----"),
            ("products", "03.tile", "ok" * 6),
            ("scale", "01.softmax", "??????"),
        ):
            self.assertEqual("".join(marks[0][name][task]), judged, f"{name} {task}: {said[name]}")
        self.assertIn("not judged: 01.softmax is not written yet, 01.weighted-sum is not written yet", said["score"])
        self.assertRegex(said["score"], r"01\.score (\? ){6}\?/3 ")
        self.assertIn("not judged: 01.softmax, 01.score, 01.weighted-sum are in the same kernels", said["scale"])
        self.assertIn("01.score: a score of S, scaled and masked not judged: together with 01.softmax", said["grammar"])

    def test_what_depends_on_unwritten_tasks_is_not_judged(self) -> None:
        """The same in short: a grader that has no solutions."""
        student = grade.Grader(Course(ROOT, None), "01_naive", self.scratch)
        student.course.chapter("01_naive").base = student.course.chapter("01_naive").given
        student.course.is_teacher = False
        for name, expected in (
            ("score", "not judged: 01.softmax is not written yet, 01.weighted-sum is not written yet"),
            ("chapter", ""),
            ("scale", "not judged: 01.score, 01.softmax, 01.weighted-sum are in the same kernels, and one of them is"),
            ("grammar", "not judged: together with 01.softmax, 01.weighted-sum it does not compile"),
        ):
            self.write(self.scratch / name, self.WRITTEN[name])
            results = student.grade(self.scratch / name, lambda _: None)
            self.assertIn(expected, self.said(results, "01.score"), name)
            self.assertEqual(results.tasks[0].full, not expected)
            self.assertEqual("?/3" in told.human(results), bool(expected))

    def write(self, directory: Path, what: str | tuple[str, ...]) -> None:
        """A submission of chapters 01 and 03; `what` as in WRITTEN."""
        change, course = what[:2] if isinstance(what, tuple) else ("", ""), self.grader().course
        written = what if isinstance(what, str) else what[2] if len(what) > 2 else "all"
        for chapter in (course.chapter("01_naive"), course.chapter("03_tiled_matmul")):
            (directory / chapter.name).mkdir(parents=True)
            stubs = {task: stub for task, stub in chapter.stubs.items() if written != "all" and task not in written}
            for file in chapter.places:
                text = tasks.fill(f"{chapter.name}/{file}", chapter.base[file], stubs)[0].replace(*change)
                (directory / chapter.name / file).write_text(text)


class Handed(Graded):
    """Submissions that are not as they should be."""

    def test_a_flood_of_regions_is_read_at_once(self) -> None:
        tree = self.tree("regions")
        (tree / "more").mkdir()
        huge, small = "q+" * 50_000 + "0x" + "f" * 90_000 + "q;\n", "// task 01.score: x\n{};\n// end 01.score\n"
        (tree / "more/first.cu").write_text(small.format(huge) + "".join(map(small.format, range(900))))
        begun = time.process_time()
        submission = self.grader().read(tree / "more")
        self.assertLess(time.process_time() - begun, 3)
        self.assertEqual(submission.regions["01.score"].text, f"{huge};\n")

    def test_names_of_files_are_only_names(self) -> None:
        """What looks like a place in a message, with more digits than Python reads, ended the grading of a folder; a
        folder around it all may have any name."""
        for name, says in (
            ("@@a:" + "1" * 5000 + "@@/01.score.cu", "01.score.cu:1: goto"),
            ("@@01.score/x:7@@/01.score.cu", "??01.score/x:7??/01.score.cu:1: goto"),
            ("x" * 60_000 + "/01.score.cu", "x/01.score.cu:1: goto"),
            ("\x1b[2J\n=cmd()/01.score.cu", "?[2J =cmd()/01.score.cu:1: goto"),
            ("classroom/01.score.cu", "01.score.cu:1: goto"),
        ):
            path = self.scratch / "names.zip"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(name, "goto x;\n")
            done = run_grader("--submission", path, "--only", "01.score")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name[:30])
            self.assertIn(says, one_line(done.stdout))
            self.assertLess(len(done.stdout), 3000)
        (self.scratch / "handed/common").mkdir(parents=True)
        (self.scratch / "handed/common/01.score.cu").write_text("goto x;\n")
        self.assertIn("goto", self.said(self.grade(self.scratch / "handed", "01.score"), "01.score"))

    @only_when_thorough
    def test_a_hand_out_grades_itself(self) -> None:
        """A student's own tree has no solutions: it grades itself, by the same judge."""
        for number, key in enumerate((None, CLASS_OF_CAPS)):
            tree = self.hand_out(f"itself-{number}", key)  # make builds in no path with a blank
            done = run("make", "-s", "-C", tree, "grade", "REQUIRE=1")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.succeeded(tool("--solve", tree))
            self.succeeded(run("make", "-s", "-C", tree, "grade", "ONLY=02_online_softmax", "REQUIRE=100"))
