"""What a program of a chapter writes with --details DIR: run.json and arrays (common/details.h says which).

ran = start(program, ["--seq", "64"], directory)      the program runs; its screen is this process's, or none
Details(directory)                                    what it left
"""

from __future__ import annotations

import array
import json
import math
import os
import subprocess
from pathlib import Path

# Of those that are asked again: shapes come from files, and what is only told is not asked for.
KEPT = {"--causal": 0, "--scale": 1, "--tile-q": 1, "--tile-k": 1, "--splits": 1, "--page": 1}


def start(program: str, arguments: list[str], directory: Path, quietly: bool = False) -> int:
    """Runs it; its status, of a signal as a shell tells it. `quietly`: nothing on the screen, nothing in files that the
    user's SIM_TRACE and SIM_REPORT name."""
    command = [program, "--details", str(directory), *(["--quiet"] if quietly else []), *arguments]
    environment = dict(os.environ)
    if quietly:
        for name in ("SIM_TRACE", "SIM_REPORT"):
            environment.pop(name, None)
    nowhere = subprocess.DEVNULL if quietly else None
    done = subprocess.run(command, check=False, env=environment, stdout=nowhere, stderr=nowhere)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def number(value: float) -> float | str:
    """As the page takes it: JSON has no infinities."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def worst_of(ratios: array.array) -> float:
    """NaN is worst. (Ratios are not negative: their sum is NaN where one of them is.)"""
    return math.nan if math.isnan(sum(ratios)) else max(ratios)


def coordinates(flat: int, shape: list[int]) -> list[int]:
    """Of the element with this index in row-major order."""
    at = []
    for extent in reversed(shape):
        flat, rest = divmod(flat, extent)
        at.insert(0, rest)
    return at


class Output:
    """One output of one kernel: `about` of run.json, and its arrays."""

    def __init__(self, directory: Path, kernel: int, output: int, about: dict) -> None:
        self.about, self.length = about, about["row_length"]
        self.actual = self._read(directory / f"{kernel}.{output}.actual", "f")
        self.expected = self._read(directory / f"{kernel}.{output}.expected", "d")
        self.ratio = self._read(directory / f"{kernel}.{output}.ratio", "d")
        rows = directory / f"{kernel}.{output}.rows"
        self.rows: range | array.array = (
            self._read(rows, "Q") if rows.exists() else range(len(self.expected) // self.length)
        )

    @staticmethod
    def _read(path: Path, kind: str) -> array.array:
        values = array.array(kind)
        values.frombytes(path.read_bytes())
        return values

    def first_wrong(self) -> int | None:
        """Index into `expected` of the first element that is not within its tolerance; a NaN is not."""
        for r in range(len(self.rows)):
            row = self.ratio[r * self.length : (r + 1) * self.length]
            if not worst_of(row) <= 1.0:
                return r * self.length + next(c for c, ratio in enumerate(row) if not ratio <= 1.0)
        return None

    def flat(self, index: int) -> int:
        """Index into `actual` of an index into `expected`."""
        return self.rows[index // self.length] * self.length + index % self.length


class Details:
    """Of one run. Raises OSError or ValueError where it was not written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.run: dict = json.loads((directory / "run.json").read_bytes().decode("utf-8", errors="replace"))
        self.kernels: list[dict] = self.run["kernels"]

    def output(self, kernel: int, output: int) -> Output:
        return Output(self.directory, kernel, output, self.kernels[kernel]["outputs"][output])

    def outputs(self, kernel: int) -> list[Output]:
        return [self.output(kernel, i) for i in range(len(self.kernels[kernel]["outputs"]))]

    def tensor(self, kernel: int, name: str) -> dict | None:
        return next((tensor for tensor in self.kernels[kernel]["tensors"] if tensor["name"] == name), None)

    def input(self, tensor: dict) -> array.array:
        """The elements of one of the inputs: an .npy file of fp32, whose header is all but these."""
        values = array.array("f")
        data = (self.directory / f"{tensor['name'].lower()}.npy").read_bytes()
        values.frombytes(data[-4 * math.prod(tensor["shape"]) :])
        return values

    def kept(self) -> list[str]:
        """The options that another run with its inputs, or with the first of them, needs, too."""
        words, kept = self.run["arguments"], []
        for i, word in enumerate(words):
            if word in KEPT:
                kept += words[i : i + 1 + KEPT[word]]
        return kept + (["--gpu", self.run["gpu"]] if self.run["gpu"] else [])
