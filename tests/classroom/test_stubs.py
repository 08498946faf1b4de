"""What an untouched hand-out does: it builds without a warning, and fails where a task is open, nowhere else."""

from __future__ import annotations

from pathlib import Path

from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS, ROOT, THOROUGH, only_when_thorough, run
from lib import tasks
from tree import PROGRAMS, STRICT, UNUSED, Trees

# Hard enough that no stub passes: ragged, more than one tile, masked.
ATTENTION = "--seq 150 --dim 24 --causal"
PROBLEMS = {
    "00_gpu": "--rows 40 --cols 70",
    "02_online_softmax": "--rows 3 --cols 300 --dim 20 --block 150",
    "03_tiled_matmul": "--m 70 --n 33 --k 65",
    "07_transformer": "--seq 40 --keys 70 --heads 4 --kv-heads 2 --dim 25 --causal",
    "08_decode": "--seq 70 --heads 6 --kv-heads 2 --dim 25 --splits 5 --page 7",
}
TASKS = tasks.read_tasks(ROOT / "classroom/tasks.tsv")


class Stubs(Trees):
    def expect_exactly(self, program: Path, chapter: str, failing: set[str], what: str) -> None:
        with self.subTest(what):
            self.assertEqual(self.failing(program, PROBLEMS.get(chapter, ATTENTION)), failing)

    def test_of_a_class_fail_and_nothing_else(self) -> None:
        for key in (None, *((CLASS_OF_CAPS, CLASS_OF_WINDOWS) if THOROUGH else ())):
            tree = self.hand_out(str(key).replace(" ", "-"), key)
            for chapter in PROGRAMS:
                program = self.build(tree, chapter, "-O0", *STRICT, *UNUSED)
                failing = {kernel for task in TASKS if task.chapter == chapter for kernel in task.kernels}
                self.expect_exactly(program, chapter, failing, f"{chapter} of {key}")

    @only_when_thorough
    def test_each_task_alone_fails_its_kernels(self) -> None:
        """tasks.tsv says which kernels need a task: with that one open and all others done, exactly these fail."""
        for task in TASKS:
            tree = self.hand_out(task.id, solved=True, but=task.id)
            program = self.build(tree, task.chapter, "-O0", "-w")
            self.expect_exactly(program, task.chapter, set(task.kernels), task.id)

    def test_nothing_skipped_is_over_budget(self) -> None:
        """05.skip is right without a mask, and over its budget with one: the count says so, not the numbers."""
        program = self.build(self.hand_out("budget", solved=True, but="05.skip"), "05_fa2", "-O1", "-w")
        self.assertTrue(self.verifies(program, "fa2_row", "--seq 150 --dim 24"))
        done = run(program, *"--seq 300 --dim 24 --causal --kernel fa2_row --quiet".split())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is not its closed form", done.stdout)
        self.assertNotIn("is wrong", done.stderr)
