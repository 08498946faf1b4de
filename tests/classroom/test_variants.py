"""What classes compute: the solutions against the reference, on shapes and inputs that break kernels, by the
chapters' own programs; and what their reports call it."""

from __future__ import annotations

from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS, only_when_thorough, run
from tree import PROGRAMS, STRICT, Trees

ATTENTION = """--seq 1 --dim 1
--seq 2 --dim 8 --causal
--seq 33 --dim 40 --batch 2 --heads 2
--seq 113 --dim 59 --causal
--seq 200 --dim 96 --causal
--seq 200 --dim 64
--seq 97 --dim 32 --input large-logits --causal
--seq 130 --dim 32 --input very-negative
--seq 100 --dim 16 --input one-hot
--seq 70 --dim 24 --input ramp --causal
--seq 65 --dim 128 --input constant"""
PROBLEMS = {
    "00_gpu": """--rows 1 --cols 1
--rows 65 --cols 70
--rows 33 --cols 301 --input large-logits""",
    "02_online_softmax": """--rows 1 --cols 1 --dim 1
--rows 17 --cols 33 --dim 59 --block 8
--rows 3 --cols 257 --block 100
--rows 2 --cols 1025 --dim 8 --block 1024
--rows 5 --cols 300 --input large-logits
--rows 5 --cols 300 --input very-negative --block 64
--rows 5 --cols 300 --input ramp
--rows 5 --cols 300 --input one-hot
--rows 4 --cols 140 --input constant""",
    # of one element a ReLU may leave 0, which judges nothing
    "03_tiled_matmul": """--m 1 --n 5 --k 1
--m 17 --n 33 --k 65
--m 129 --n 130 --k 9
--m 40 --n 41 --k 70 --input large-logits
--m 40 --n 41 --k 70 --input ramp""",
    "07_transformer": """--seq 1 --heads 1 --kv-heads 1 --dim 1
--seq 1 --keys 113 --heads 6 --kv-heads 2 --dim 40 --causal
--seq 33 --keys 65 --heads 4 --kv-heads 1 --dim 59 --causal
--seq 29 --heads 2 --kv-heads 2 --dim 96 --input large-logits""",
    "08_decode": """--seq 1 --heads 1 --kv-heads 1 --dim 1 --splits 1 --page 1
--seq 5 --heads 8 --kv-heads 1 --dim 40 --splits 40 --page 1
--seq 200 --heads 6 --kv-heads 2 --dim 59 --splits 7 --page 9
--seq 65 --heads 2 --kv-heads 2 --dim 96 --input large-logits""",
}


class Variants(Trees):
    @only_when_thorough
    def test_solutions_verify(self) -> None:
        for key in (None, CLASS_OF_CAPS, CLASS_OF_WINDOWS):
            tree = self.hand_out(str(key).replace(" ", "-"), key, solved=True)
            for chapter in PROGRAMS:
                program = self.build(tree, chapter, "-O1", *STRICT)
                for options in PROBLEMS.get(chapter, ATTENTION).splitlines():
                    with self.subTest(f"{chapter} of {key}: {options}"):
                        done = run(program, *options.split(), "--quiet", environment={"SIM_ORDER": "shuffle:3"})
                        self.assertNotIn("skipped", self.succeeded(done).stdout)

    def test_reports_name_the_variant(self) -> None:
        """Who reads a report must see that this is not the course's function."""
        for number, (key, chapter, options, words, found) in enumerate(
            (
                (CLASS_OF_CAPS, "05_fa2", "--seq 9 --dim 4", ", soft-cap ", '"variant":"softcap"'),
                (CLASS_OF_WINDOWS, "05_fa2", "--seq 9 --dim 4", ", window ", '"variant":"window"'),
                (CLASS_OF_WINDOWS, "02_online_softmax", "--rows 2 --cols 9", ", attention sink", '"variant":"sink"'),
                (CLASS_OF_WINDOWS, "03_tiled_matmul", "--m 3 --n 3", ", ReLU", '"variant":"relu"'),
                (None, "05_fa2", "--seq 9 --dim 4", "", ""),
            )
        ):
            with self.subTest(f"{key} {chapter}"):
                program = self.build(self.hand_out(f"named-{number}", key, solved=False), chapter, "-O0", "-w")
                human, data = (run(program, *options.split(), *more).stdout for more in ((), ("--json", "-")))
                self.assertIn(words, human)
                self.assertIn(found, data)
                self.assertEqual("variant" in data, bool(found), data)
