"""What a program of a chapter writes with --details DIR: run.json and arrays (common/run/details.h says which).

run_recorded(program, ["--explain", ...], directory)     the program runs, on this process's screen, and is recorded
run_again(program, ["--seq", "64"], directory)           it runs with another problem, without a screen
"""

from __future__ import annotations

import array
import json
import math
import os
import subprocess
from pathlib import Path

# Options of a run, with how many words follow, that its replays need, too; their shapes come from files.
KEPT = {"--causal": 0, "--scale": 1, "--tile-q": 1, "--tile-k": 1, "--splits": 1, "--page": 1}


def run_recorded(program: str, arguments: list[str], directory: Path) -> tuple[int, Details | None]:
    """Its status, of a signal as a shell tells it; and what it left, None where it ended before that."""
    environment = {**os.environ, "EXPLORER_ROOM": str(directory)}
    # Open files stay open: the arguments may name them, as /dev/fd/63.
    done = subprocess.run([program, *arguments], check=False, env=environment, close_fds=False)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return status, read(directory) if status <= 1 else None


def run_again(program: str, arguments: list[str], directory: Path) -> Details | None:
    """None where it ended early. Files that the user's SIM_TRACE and SIM_REPORT name stay as they are."""
    environment = {key: value for key, value in os.environ.items() if key not in ("SIM_TRACE", "SIM_REPORT")}
    command = [program, "--details", str(directory), "--quiet", *arguments]
    nowhere = subprocess.DEVNULL
    done = subprocess.run(command, check=False, env=environment, stdout=nowhere, stderr=nowhere)
    return read(directory) if done.returncode in (0, 1) else None


def read(directory: Path) -> Details | None:
    """What a run left; None where it ended before that, as one does whose kernel calls exit."""
    return Details(directory) if (directory / "run.json").is_file() else None


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
    """Of one run, which ended."""

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
