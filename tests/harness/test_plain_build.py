"""The plain build takes whatever the program takes: every option of every chapter alone, all but one, and in chapter
02, where options depend on each other, every two. A run without its time gave the plain build arguments that it
refused."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

from case import ROOT, Case, run
from npy import write_npy

# The options that say how a run is told, or whether it is asked for, which no other program needs to know.
TOLD = {*"save sweep time json tsv explain details quiet yes verbose color help version".split()}
# A value for each option; a new option gets its own here. None: a flag.
VALUES = {
    "batch": "2", "heads": "3", "seq": "7", "dim": "5", "causal": None, "scale": "-0.375", "tile-q": "32",
    "tile-k": "32", "rows": "9", "cols": "7", "block": "3", "row": "5", "values": "-1,2", "trace": None, "m": "6",
    "n": "7", "k": "8", "seed": "11", "input": "ramp", "repeat": "2", "warmup": "1", "gpu": "a100",
}  # fmt: skip
# Of the sizes that VALUES gives; attention of one head of the sizes that CHAPTERS gives, too.
SHAPES = {"x": (9, 7), "a": (6, 8), "b": (8, 7)}
ATTENTION = ("q", "k", "v", "do")


class PlainBuild(Case):
    def setUp(self) -> None:
        super().setUp()
        of_heads = ({name: shape for name in ATTENTION} for shape in ((2, 3, 7, 5), (1, 1, 7, 5)))
        for directory, shapes in zip("01", of_heads):
            for name, shape in {**shapes, **(SHAPES if directory == "0" else {})}.items():
                elements = range(shape[0] * shape[1] * (shape[2] * shape[3] if shape[2:] else 1))
                write_npy(self.scratch / directory / f"{name}.npy", shape, [i % 17 / 8 - 1 for i in elements])

    def options(self, program: Path) -> list[str]:
        """Those that its plain build may be given, as --help lists them."""
        listed = re.findall(r"(?m)^  --(\S+)", self.run_program(program, "--help").out)
        found = [name for name in listed if name not in TOLD]
        self.assertGreater(len(found), 5)
        return found

    def is_timed(self, program: Path, arguments: list[str]) -> bool:
        """Whether the program ran; then every kernel has to be verified and timed."""
        done = run([program, *"--time --repeat 1 --warmup 0 --json -".split(), *arguments], cwd=self.scratch)
        if done.status == 2:  # options that exclude each other; the plain build was not asked
            return False
        self.assertEqual(done.status, 0, f"{arguments}: {done.err}")
        kernels = json.loads(done.out)["kernels"]
        self.assertTrue(kernels)
        for kernel in kernels:
            self.assertTrue(kernel["verified"] and "time" in kernel, f"{arguments}: {kernel['name']}")
        return True

    def check(self, name: str, sizes: str, kernel: str, *, two: bool = False, least: int = 20) -> None:
        """The sizes take no time, and are left out where a file or --values gives them; of the sets of options the
        program takes `least`, the others exclude each other."""
        program, ran = ROOT / name, 0
        names = self.options(program)

        def words(option: str, directory: str = "0") -> list[str]:
            value = {**VALUES, "kernel": kernel, "load": directory}[option]
            return [f"--{option}" if value is None else f"--{option}={value}"]

        pairs = itertools.combinations_with_replacement(names, 2) if two else zip(names, names)
        for pair in pairs:
            base = [] if {*pair} & {"load", "values"} else sizes.split()
            for directory in "01" if "load" in pair else "0":
                given = base + [word for option in dict.fromkeys(pair) for word in words(option, directory)]
                ran += self.is_timed(program, given)
                if "row" in pair:  # a row needs a trace: what else goes with the two?
                    ran += self.is_timed(program, [*given, "--trace"])
        for left_out in names:
            most = [option for option in names if option not in (left_out, "values")]  # not with --load, --rows, --cols
            ran += self.is_timed(program, [word for option in most for word in words(option)])
        self.assertGreaterEqual(ran, least, "it took only so many of the sets of options")

    def test_naive(self) -> None:
        self.check("01_naive/naive", "--seq 7 --dim 5", "naive")

    def test_online_softmax(self) -> None:
        sizes = "--rows 9 --cols 7 --dim 5"
        self.check("02_online_softmax/online_softmax", sizes, "softmax_dot", two=True, least=100)

    def test_matmul(self) -> None:
        self.check("03_tiled_matmul/tiled_matmul", "--m 6 --n 7 --k 8", "matmul_padded")

    def test_fa1(self) -> None:
        self.check("04_fa1/fa1", "--seq 7 --dim 5", "fa1_row")

    def test_fa2(self) -> None:
        self.check("05_fa2/fa2", "--seq 7 --dim 5", "fa2_row")

    def test_backward(self) -> None:
        self.check("06_backward/backward", "--seq 7 --dim 5", "backward_split")
