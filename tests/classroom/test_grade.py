"""What a submission gets: nothing for what was handed out, everything for the solution, the same twice; what the
grader says to submissions that are not as they should be; and what its text shows."""

from __future__ import annotations

import json
import re
import time
import zipfile

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
        """Whole, and of each task alone as ONLY chooses it; stubs also where something was written that computes
        nothing, without the short cut for untouched text."""
        tree = self.tree("touched", solved=False)
        for path in tree.glob("*/*.cu*"):
            path.write_text(re.sub(r"(?m)^(\s*)(// end )", r"\1;\n\1\2", path.read_text()))
        results = self.grade(tree)
        self.assertEqual((results.score, "as it was handed out" in one_line(told.human(results))), (0, False))
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


class Both(Graded):
    def test_what_depends_on_unwritten_tasks_is_not_judged(self) -> None:
        """A right 01.score beside tasks that were not written was "NaN or infinity" and 0 points for the student, and
        full points for the teacher. A verdict is the same in both trees, or it is none. Here: a grader that has no
        solutions."""
        student = grade.Grader(Course(ROOT, None), None, self.scratch)
        student.course.given_files()  # of all chapters
        chapter = student.course.chapter("01_naive")
        chapter.base = chapter.given
        student.course.is_teacher = False
        every, course = "01.score 01.softmax 01.weighted-sum", self.grader().course.chapter("01_naive")
        beside = "not judged: 01.softmax is not written yet, 01.weighted-sum is not written yet"
        same = "not judged: 01.score, 01.softmax, 01.weighted-sum are in the same kernels, and one of them is"
        refused, two = (
            "not judged: 01.softmax is not written yet, 01.weighted-sum is refused",
            every.replace("01.softmax", ""),
        )
        together = "not judged: together with 01.softmax, 01.weighted-sum it does not compile"
        for number, (written, old, new, expected) in enumerate(
            (
                ("01.score", "", "", beside),
                (every, "", "", ""),
                (every, "scale * dot;", "scale * (scale * dot);", same),
                (every, "max_over_warp(m);", "max_over_warp(m) m;", together),
                (two, SUM, "\tgoto out;", refused),
                (every, "// task 01.softmax:", "//", "not judged: 01.softmax is missing"),
            )
        ):
            stubs = {task: stub for task, stub in course.stubs.items() if task not in written}
            text, _ = tasks.fill("naive.cu", course.base["naive.cu"], stubs)
            (tree := self.scratch / str(number) / "01_naive").mkdir(parents=True)
            (tree / "naive.cu").write_text(text.replace(old, new))
            results = student.grade(tree.parent, lambda _: None, chapter.tasks)
            self.assertIn(expected, self.said(results, "01.score"), written)
            self.assertEqual(results.tasks[0].full, not expected)
            self.assertEqual("?/3" in told.human(results), bool(expected))
        registers = next(task for task in student.tasks if task.id == "03.registers")  # of a kernel of its own
        self.assertEqual(student._neighbors_of(registers, student.read(tree.parent)), ({}, ""))


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
            ("common/01.score.cu", "01.score.cu:1: goto"),
        ):
            path = self.scratch / "names.zip"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(name, "goto x;\n")
            results = self.grade(path, "01.score")
            self.assertIn(says, self.said(results, "01.score"))
            self.assertLess(len(told.human(results)), 3000)
        (self.scratch / "handed/common").mkdir(parents=True)
        (self.scratch / "handed/common/01.score.cu").write_text("goto x;\n")
        self.assertIn("goto", self.said(self.grade(self.scratch / "handed", "01.score"), "01.score"))
