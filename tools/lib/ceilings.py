"""gpu/compiled/ceilings.tsv, written by tools/ceilings, read: what a kernel's counts and machine code allow at most."""

from __future__ import annotations

import re
from pathlib import Path

from lib import table

KEPT = Path(__file__).resolve().parents[2] / "gpu/compiled/ceilings.tsv"
TIMES = Path(__file__).resolve().parents[2] / "gpu/measured/h200/times"
COLUMNS = "chapter kernel D fma wavefronts slots in_flight threads blocks".split()
FMA_PER_CLOCK, WAVEFRONTS_PER_CLOCK, SLOTS_PER_CLOCK = 4, 1, 4  # of warps, in an SM of an H100


def read(path: Path = KEPT) -> table.Table:
    """Raises TableError."""
    return table.read_as(path, COLUMNS, "ceilings")


def by_kernel(path: Path = KEPT) -> dict[str, dict[str, str]]:
    """Its rows."""
    return {row["kernel"]: row for row in read(path).records()}


def of_shared_memory(row: dict[str, str]) -> float:
    """The share of the peak of FMA that its wavefronts allow."""
    return min(1.0, WAVEFRONTS_PER_CLOCK * int(row["fma"]) / (FMA_PER_CLOCK * int(row["wavefronts"])))


def of_slots(row: dict[str, str]) -> float:
    """And that its instructions allow."""
    return min(1.0, SLOTS_PER_CLOCK * int(row["fma"]) / (FMA_PER_CLOCK * int(row["slots"])))


def least(row: dict[str, str]) -> float:
    return min(of_shared_memory(row), of_slots(row))


def measured(directory: Path = TIMES) -> dict[str, float]:
    """The share of the peak that kernels reached on an H200: the files of programs' --tsv, d = 64 without a mask. The
    peak is that of the data sheet, which each file names in its line `roofs`."""
    found = {}
    for path in sorted(directory.glob("*.tsv")):
        data = table.read(str(path))
        peak = float(re.search(r"\bfp32_flop_per_s=(\S+)", data.notes["roofs"])[1])
        for row in data.records():
            if (row["dim"], row.get("causal"), row["bound_by"]) == ("64", "0", "fp32"):
                found[row["kernel"]] = float(row["flop"]) / (1e-3 * float(row["median_ms"])) / peak
    return found
