"""Published counters of kernels whose loads nvcc merges, beside what simcc --widths counts of programs with the narrow
loads: gpu/accuracy/machine.tsv. machine_counted.tsv keeps the counts, so that the page can be made without a run.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .. import table

TILE = 64  # sizes are so many times a tile
ARCH = "sm_89"


@dataclass(frozen=True)
class Row:
    source: str
    program: str
    size: int
    grow: tuple[int, ...]
    metric: str
    published: int
    counter: tuple[str, ...]  # space, operation, name

    @property
    def key(self) -> tuple[str, str]:
        return self.program, " ".join(self.counter)


@dataclass(frozen=True)
class Counted:
    source: int
    machine: int


def read_rows(path: Path) -> list[Row]:
    """Raises table.TableError."""
    rows = []
    for record in table.read(path).records():
        try:
            grow = tuple(map(int, record["grow"].split()))
            counter = tuple(record["counter"].split())
            names = (record["source"], record["program"], int(record["size"]), grow, record["metric"])
            rows.append(Row(*names, int(record["published"]), counter))
        except (KeyError, ValueError) as error:
            raise table.TableError(f"{path}: {record}: {error}") from None
    return rows


def read_counts(path: Path) -> dict[tuple[str, str], Counted]:
    return {
        (record["program"], record["counter"]): Counted(int(record["source"]), int(record["machine"]))
        for record in table.read(path).records()
    }


def write_counts(path: Path, counts: dict[tuple[str, str], Counted]) -> None:
    about = [
        "What simcc --widths counts of the programs of machine.tsv, at the published sizes. Made by make accuracy."
    ]
    rows = [[*key, each.source, each.machine] for key, each in counts.items()]
    table.write(path, about, ["program", "counter", "source", "machine"], rows)


# ---- counting ----


def grown(values: list[int], powers: tuple[int, ...], tiles: int) -> int:
    """The value at `tiles` of a sum of c * k^power, by its values at k = 1, 2, ...; one value more than there are
    powers, to hold it against. Raises ValueError where it is not of that form."""
    if powers == (3,):
        coefficients = [Fraction(values[0])]
    elif powers == (2, 1):
        first = Fraction(values[1] - 2 * values[0], 2)
        coefficients = [first, values[0] - first]
    else:
        raise ValueError(f"expected powers '3' or '2 1', got {powers}")

    def at(k: int) -> Fraction:
        return sum((c * k**power for c, power in zip(coefficients, powers)), Fraction())

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


def count(rows: list[Row], folder: Path, simcc: Path) -> dict[tuple[str, str], Counted]:
    """`folder` has the programs and their loops. Raises table.TableError where a line is not joined."""
    counts: dict[tuple[str, str], Counted] = {}
    for program, grow, size in dict.fromkeys((row.program, row.grow, row.size) for row in rows):
        launches = launches_of(folder, simcc, program, [TILE * k for k in range(1, len(grow) + 2)])
        for row in (row for row in rows if row.program == program):
            space, operation, name = row.counter
            try:
                sides = [
                    grown([each[side][space][operation][name] for each in launches], grow, size // TILE)
                    for side in ("source", "machine")
                ]
            except (KeyError, ValueError) as error:
                raise table.TableError(f"{program}, {' '.join(row.counter)}: not joined, or {error}") from None
            counts[row.key] = Counted(*sides)
    return counts
