"""Runs of programs on the simulated device: what they count, and which bytes their blocks move, in order."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Access:
    """Of one block, between two of its barriers: the bytes of a tensor that it loads or stores."""

    launch: int
    kernel: str
    block: tuple[int, int, int]
    interval: int
    tensor: str
    op: str  # load or store
    requested: int  # bytes, of all threads
    ranges: tuple[tuple[int, int], ...]  # the distinct bytes: offsets [first, end), sorted, apart


class RunError(Exception):
    """Why there are no numbers, in one line."""


def run(program: Path, options: list[str], **environment: str) -> str:
    """What it prints. Its kernels must be verified. Raises RunError."""
    command = [str(program), *options]
    try:
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, encoding="utf-8"
        )
    except OSError as error:
        raise RunError(f"{program.name}: {error.strerror} (make build)") from error
    if done.returncode != 0:
        raise RunError(f"{program.name} {' '.join(options)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


@functools.cache
def measured(program: Path, options: tuple[str, ...]) -> tuple[dict[str, Any], list[Access]]:
    """Once for each command line: no count and no trace depends on when it is made."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        printed = run(program, [*options, "--json", "-"], SIM_TRACE=str(file), SIM_ORDER="forward")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    return json.loads(printed)["kernels"][0], [access(line) for line in lines if line.get("space") == "global"]


def counted(program: Path, options: list[str]) -> dict[str, Any]:
    """The first kernel of the run's JSON. Raises RunError."""
    return measured(program, tuple(options))[0]


def traced(program: Path, options: list[str]) -> list[Access]:
    """What its blocks asked of global memory, in their order. Raises RunError."""
    return measured(program, tuple(options))[1]


def access(line: dict[str, Any]) -> Access:
    place = line["launch"], line["kernel"], tuple(line["block"]), line["interval"]
    return Access(*place, line["tensor"], line["op"], line["bytes"], tuple(map(tuple, line["ranges"])))


Box = tuple[int, int, int, int]  # of a matrix: first row and column, one behind the last of each


def box(access: Access, width: int) -> Box:
    """What it covers of a matrix of floats with so many columns."""
    rows, columns = zip(*(divmod(at // 4, width) for first, end in access.ranges for at in (first, end - 4)))
    return min(rows), min(columns), max(rows) + 1, max(columns) + 1
