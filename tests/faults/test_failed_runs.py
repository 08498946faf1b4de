"""What a failed run says and leads to, of programs with a planted fault."""

from __future__ import annotations

import json
import os
import re

from case import BUILD, ROOT, Case, Outcome, run


def planted(name: str, options: str, **environment: str) -> Outcome:
    return run([BUILD / "faults" / name / "program", *options.split()], **environment)


class FailedRuns(Case):
    def test_make_shows_what_full_tiles_hide(self) -> None:
        """Two that the demonstration cannot show: it has full tiles, one sequence and no mask."""
        for name in ("fa2_row_ragged_tile_not_masked", "fa2_row_one_tile_too_few"):
            program = os.path.relpath(BUILD / "faults/05_fa2" / name / "program", ROOT / "05_fa2")
            made = run(["make", "-s", "-o", "build", "-C", ROOT / "05_fa2", "DEVICE=sim", f"NAME={program}"])
            self.assertEqual(made.status, 2, f"make passes with {name}")
            self.assertIn("\nA ragged shape, ./", made.out)

    def test_the_small_case_that_is_proposed_shows_the_fault(self) -> None:
        """Kernel and mask are those that were wrong; that case is not proposed again, and no line is too long."""
        failed = planted("04_fa1/paper_causal_off_by_one", "--kernel fa1_paper --seq 64 --causal")
        self.assertEqual(failed.status, 1)
        self.assertIn("Next: a case small enough to follow by hand:\n  ./fa1 ", failed.out)
        again = planted("04_fa1/paper_causal_off_by_one", failed.out.split("by hand:\n  ./fa1 ")[1].splitlines()[0])
        self.assertEqual(again.status, 1, again.out)
        self.assertIn("Next: what it moved, the same with --verbose\n", again.out)
        lines = [line for line in again.out.splitlines() if not line.startswith("  ./")]
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_sweep_with_a_wrong_kernel_fails(self) -> None:
        """It goes on, and its exit status tells."""
        done = planted("00_gpu/last_element_unwritten", "--sweep --kernel copy", SIM_CHECK="none")
        self.assertEqual(done.status, 1, done.err)
        self.assertIn("\tcopy\tno\t", done.out)

    def test_a_wrong_run_has_a_trace(self) -> None:
        """That of the kernels as they are: it shows where they go wrong. A NaN has no sign there."""
        done = planted("02_online_softmax/m_starts_at_zero", "--trace --values=-300,-200 --block 1")
        self.assertEqual(done.status, 1, done.err)
        self.assertIn("Row 0 in blocks of 1", done.out)
        self.assertIn("FAILED", done.out)
        done = planted("02_online_softmax/empty_is_nan", "--trace --values=-inf,-inf,1,2,3,4,5,6 --block 2")
        self.assertEqual(done.status, 1, done.err)
        self.assertIn(" nan", done.out)
        self.assertNotIn("-nan", done.out + done.err)

    def test_an_answer_with_a_race_has_failed(self) -> None:
        options = ["--model", ROOT / "tests/data/tiny_model/tiny.bin", "--tokens", "2", "--prompt", "a tile " * 9]
        done = run([BUILD / "faults/07_transformer/attention_tile_overwritten/program", *options])
        self.assertEqual(done.status, 1, done.err)
        self.assertRegex(done.out, r"FAILED    the simulated device reported \d+ errors?\n")

    def test_an_answer_without_a_wrong_kernel_has_failed(self) -> None:
        """The kernel is not needed for the answer, whose logits are right: it has run on the first tokens besides."""
        options = ["--model", ROOT / "tests/data/tiny_model/tiny.bin", "--tokens", "2", "--prompt", "Hi"]
        done = run([BUILD / "faults/07_transformer/rope_halves/program", *options])
        self.assertEqual(done.status, 1, done.err)
        self.assertIn("FAILED    rms_norm, project, rope, swiglu, which plain C stands in for", done.out)
        self.assertRegex(done.out, r"\nverified +\S+ logits of 2 tokens")

    def test_what_a_kernel_prints_is_no_fault(self) -> None:
        """printf is a beginner's first tool, and no part of the data, whoever reads that: a program with --json - or
        --tsv -, the run that takes the times."""
        data = planted("prints/fa1_paper", "--json - --kernel fa1_paper --seq 2 --dim 2 --heads 1")
        self.assertTrue(json.loads(data.out)["kernels"][0]["verified"], data.out)
        self.assertEqual(data.err, "seen 0\nseen 1\n")
        if not os.environ.get("LONG"):
            self.skipTest("with times only in make test-all")  # where its plain build is, too
        options = "--kernel fa1_paper --seq 2 --dim 2 --heads 1 --time --repeat 1"
        done = planted("prints/fa1_paper", f"--json - {options}")
        self.assertEqual(done.status, 0, done.err)
        (kernel,) = json.loads(done.out)["kernels"]
        self.assertTrue(kernel["verified"] and kernel["time"]["median_ms"] > 0, kernel)
        self.assertIn("seen 0\nseen 1\n", done.err)
        self.assertNotIn("did not verify", done.err)
        self.assertNotIn("seen", planted("prints/fa1_paper", f"--tsv - {options}").out)
        done = planted("prints/fa1_paper", f"--quiet {options}")
        self.assertTrue(done.status == 0 and re.search("seen 0\nseen 1\n(.|\n)*verified", done.out), done.out)
