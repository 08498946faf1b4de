"""Published counters of kernels whose loads nvcc merges, beside what simcc --widths counts of programs with the narrow
loads: gpu/accuracy/machine.tsv. machine_counted.tsv keeps the counts, so that the page can be made without a run.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

from .. import table

TILE = 64  # sizes are so many times a tile
ARCH = "sm_89"
SIDES = ("source", "machine")

Row = table.Record  # of machine.tsv
Counts = dict[tuple[str, str], tuple[int, int]]  # by program and counter: of the source, of the machine code


def key(row: Row) -> tuple[str, str]:
    return row["program"], row["counter"]


def read_rows(path: Path) -> list[Row]:
    """Raises table.TableError."""
    return table.read_as(path, "source program size grow metric published counter".split(), "counters").records()


def read_counts(path: Path) -> Counts:
    return {key(row): (row.whole("source"), row.whole("machine")) for row in table.read(path).records()}


def write_counts(path: Path, counts: Counts) -> None:
    about = [
        "What simcc --widths counts of the programs of machine.tsv, at the published sizes. Made by make accuracy."
    ]
    rows = [[*of, *both] for of, both in counts.items()]
    table.write(path, about, ["program", "counter", *SIDES], rows)


# ---- counting ----


def grown(values: list[int], powers: str, tiles: int) -> int:
    """The value at `tiles` of a sum of c * k^power, by its values at k = 1, 2, ...; one value more than there are
    powers, to hold it against. Raises ValueError where it is not of that form."""
    if powers == "3":
        cubic, square, linear = values[0], Fraction(), Fraction()
    elif powers == "2 1":
        cubic, square = 0, Fraction(values[1] - 2 * values[0], 2)
        linear = values[0] - square
    else:
        raise ValueError(f"expected powers '3' or '2 1', got '{powers}'")

    def at(k: int) -> Fraction:
        return cubic * k**3 + square * k**2 + linear * k

    if [at(k) for k in range(1, len(values) + 1)] != values:
        raise ValueError(f"{values} do not grow with the powers {powers} of the size")
    return int(at(tiles))


def launches_of(folder: Path, simcc: Path, program: str, sizes: list[int]) -> list[dict]:
    """What simcc --widths says of a run of each size. Raises subprocess.CalledProcessError."""
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / program
        subprocess.run([simcc, folder / f"{program}.cu", "-o", built], check=True)
        command = [simcc, "--widths", folder / f"{program}.{ARCH}.jsonl", "--json", built]
        runs = [subprocess.run([*command, str(size)], check=True, capture_output=True, text=True) for size in sizes]
        return [json.loads(run.stdout) for run in runs]


def count(rows: list[Row], folder: Path, simcc: Path) -> Counts:
    """`folder` has the programs and their loops. Raises table.TableError where a line is not joined."""
    counts: Counts = {}
    for program, powers, size in dict.fromkeys((row["program"], row["grow"], row["size"]) for row in rows):
        sizes = [TILE * k for k in range(1, len(powers.split()) + 2)]
        launches = launches_of(folder, simcc, program, sizes)
        for row in (row for row in rows if row["program"] == program):
            space, operation, name = row["counter"].split()
            try:
                source, machine = (
                    grown([each[side][space][operation][name] for each in launches], powers, int(size) // TILE)
                    for side in SIDES
                )
            except (KeyError, ValueError) as error:
                raise table.TableError(f"{program}, {row['counter']}: not joined, or {error}") from None
            counts[key(row)] = source, machine
    return counts
