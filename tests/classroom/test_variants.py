"""What the reports of a class's programs call what they compute."""

from __future__ import annotations

from grading import CLASS_OF_CAPS, CLASS_OF_WINDOWS, run
from tree import Trees


class Variants(Trees):
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
