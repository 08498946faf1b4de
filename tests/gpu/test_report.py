"""gpu-report without a GPU: every step is run with stand-ins for NVIDIA's tools (stand_ins.py).

Their nvcc builds for the simulated device, so the CUDA side of the harness runs as well; what the report makes of their
output is looked at here. No number below was measured.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

import stand_ins
from case import ROOT, Case, until
from lib.chapters import PROGRAMS
from lib.gpu import StepError, verify


class Scratch(Case):
    def setUp(self) -> None:
        super().setUp()
        self.out = self.scratch / "out"

    def cases(self, *rows: str) -> Path:
        path = self.scratch / "cases.tsv"
        head = ["# made for this test", "# chapter\toptions\tinputs\tseconds"]
        path.write_text("".join(f"{line}\n" for line in [*head, *rows]))
        return path


class Report(Scratch):
    def start(self, path: str, *options: str | Path, **environment: str) -> subprocess.Popen[str]:
        (self.scratch / "tmp").mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, ROOT / "tools/gpu_report", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.scratch,
            env={**os.environ, "PATH": path, "NVCC": "", "MAKEFLAGS": "-- OUT=/nowhere DEVICE=sim"}
            | {"TMPDIR": str(self.scratch / "tmp"), **environment},
        )

    def report(self, path: str, *options: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(path, *options, **environment)
        try:
            out, err = process.communicate(timeout=150)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def summary(self) -> str:
        return (self.out / "summary.md").read_text()

    def packed(self, name: str) -> str:
        with tarfile.open(self.out / "report.tar.gz") as archive:
            file = archive.extractfile(f"data/{name}")
            assert file
            return file.read().decode()

    def expect(self, text: str, *expected: str) -> None:
        for each in expected:
            self.assertIn(each, text)

    @unittest.skipUnless(os.environ.get("LONG"), "LONG=1 runs it")  # builds everything again
    def test_every_step_with_stand_ins(self) -> None:
        cases = self.cases("01_naive\t--seq 17 --dim 59\tall\t60", "01_naive\t--seq 33 --causal\trandom\t60")
        steps = "machine,build,correctness,roofs,peers,counters,rules,sanitizer,kernels"
        options = ["--chapters", "01_naive", "--kernels", "race_[fs]*l*p*", "--only", steps, "--sim-tree", ROOT]
        path = stand_ins.make_toolkit(self.scratch / "cuda")
        run = self.report(path, "--out", self.out, "--seconds", "140", "--jobs", "2", "--cases", cases, *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.expect(
            self.summary(),
            "Stand-in GPU, driver 1.2.3, nvcc V0.0.0",
            "| correctness | done |",
            "01_naive 7 of 7",
            "| peers | not here |",
            "no torch",
            "| rules | done |",
            " 0 contradicted",
            "| sanitizer | done |",
            "4 runs clean",
            "Metrics this ncu does not have: smsp__sass_inst_executed_op_shared_ld",
        )
        counters = self.packed("counters.tsv")
        self.expect(
            counters,
            " smsp__inst_executed_op_shared_ld.sum smsp__sass_inst_executed_op_shared_st.sum ",
            "\tscores\t-\t",
            "\tsimulated_flop\tflop\n",
        )
        self.expect(self.summary(), "| global_load_bytes | 6 | 6 |", "| dram_read_bytes | 6 |", "| flop | 2 |")
        kernels = self.packed("sanitizer.tsv")
        self.expect(
            kernels,
            "race_fa_tile_loop\tbroken\tracecheck\terror\terror\tagree",
            "race_fa_tile_loop\tfixed\tracecheck\tclean\tclean\tagree",
            "race_stencil_in_place\tbroken\tracecheck\terror\tclean\tdiffer, as known",
        )
        self.assertNotIn("no reason we know", kernels)
        self.expect(self.packed("correctness.tsv"), "--seq 17 --dim 59 --input one-hot\tright\t0\t1\t")
        self.expect(self.packed("machine.tsv"), "gpu\tStand-in GPU")
        self.assertEqual((self.out / "log.txt").read_text(), run.stdout)

    def test_goes_on_after_failures(self) -> None:
        cases = self.cases("02_online_softmax\t--rows 0\trandom\t60")
        steps = "machine,build,correctness,roofs,matmul,counters,rules,sanitizer,kernels"
        options = ["--chapters", "02_online_softmax", "--only", steps, "--sim-tree", ROOT, "--cases", cases]
        path = stand_ins.make_toolkit(self.scratch / "cuda", without=["compute-sanitizer"])
        run = self.report(path, "--out", self.out, "--seconds", "140", "--jobs", "2", *options, FAKE_NCU="denied")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.expect(
            self.summary(),
            "| correctness | failed |",
            "--rows: expected a whole number",
            "| roofs | done |",
            "| matmul | failed |",
            "03_tiled_matmul was not built",
            "| counters | not here |",
            "ERR_NVGPUCTRPERM",
            "| kernels | not here |",
            "compute-sanitizer is not here",
            "| pack | done |",
        )

    def test_keeps_its_time_limit(self) -> None:
        steps = "build,correctness,roofs,peers,counters,rules,sanitizer,bench,kernels"
        options = ["--chapters", "06_backward", "--kernels", "none", "--only", steps, "--sim-tree", ROOT]
        start = time.monotonic()
        path = stand_ins.make_toolkit(self.scratch / "cuda")
        run = self.report(path, "--out", self.out, "--seconds", "4", "--jobs", "2", *options)
        self.assertLess(time.monotonic() - start, 90, "of 4 seconds")
        self.assertEqual(run.returncode, 1, "what was begun and not finished is no success: " + run.stdout)
        self.expect(self.summary(), "| kernels | cut short |")

    def test_an_interrupt_ends_all_and_leaves_the_summary(self) -> None:
        options = ["--chapters", "01_naive", "--kernels", "none", "--only", "machine,build", "--sim-tree", ROOT]
        path = stand_ins.make_toolkit(self.scratch / "cuda")
        process = self.start(path, "--out", self.out, *options, FAKE_NVCC="slow")
        self.addCleanup(process.kill)
        asleep = self.scratch / "tmp/asleep"
        until(asleep.exists)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (130, ""), out)
        self.expect(self.summary(), "| machine | done |")
        self.assertEqual(list((self.scratch / "tmp").glob("gpu-report.*")), [])
        self.assertTrue(stand_ins.ends(asleep.read_text()), "the compiler runs on")

    def test_says_what_is_missing(self) -> None:
        """What is wrong with the options: tests/tools/test_files.py."""
        for without, says, out in (
            ("nvidia-smi", "needs an NVIDIA GPU", "o"),
            ("nvcc", "needs nvcc", "o"),
            ("", "not a directory that can be written", "/dev/null/x"),
        ):
            if any(Path(place, without or ".").is_file() for place in ("/usr/local/cuda/bin", "/usr/bin")):
                continue  # it would be found there
            with self.subTest(says), tempfile.TemporaryDirectory() as toolkit:
                path = stand_ins.make_toolkit(Path(toolkit) / "cuda", without=[without])
                run = self.report(path, "--out", out)
                self.assertEqual((run.returncode, run.stderr.count("\n")), (3, 1), run.stderr)
                self.assertIn(says, run.stderr)


class Verify(Scratch):
    def test_tells_right_from_wrong(self) -> None:
        """Programs of this machine's own, so that each way of being wrong can be had."""
        program = self.scratch / "01_naive/naive"
        program.parent.mkdir()
        stand_ins.make_executable(
            program,
            '#!/bin/sh\ncase "$*" in\n'
            "*good*) echo 'naive  verified  error 0 at O' ;;\n"
            "*bad*) echo 'naive  WRONG'; exit 1 ;;\n"
            "*silent*) exit 0 ;;\n"
            "*slow*) sleep 60 ;;\nesac\n",
        )
        rows = ("bad\trandom\t60", "silent\trandom\t60", "good\tall\t60", "slow\trandom\t1")
        cases = self.cases(*(f"01_naive\t{row}" for row in rows))
        verdicts = verify.verify(self.scratch, PROGRAMS, cases)
        found = {each.options: (each.verdict, each.status, each.kernels) for each in verdicts}
        self.assertEqual(len(found), 9)
        self.assertEqual(found["good --input very-negative"], ("right", 0, 1))
        self.assertEqual(found["bad --input random"], ("wrong", 1, 0))
        self.assertEqual(found["silent --input random"], ("empty", 0, 0))
        self.assertEqual(found["slow --input random"], ("too slow", 124, 0))
        self.assertEqual(verify.sums(verdicts), ["01_naive 6 of 9"])
        late = verify.verify(self.scratch, PROGRAMS, cases, seconds=0)
        self.assertEqual({each.verdict for each in late}, {"not run"})
        with self.assertRaisesRegex(StepError, "has no case of 07_none"):
            verify.verify(self.scratch, ["07_none"])
