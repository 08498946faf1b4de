"""Rows of data files as pictures and pages read them: by kernel and conditions, some columns worked out of others.

Only rows that were verified are chosen. Conditions are words "name=value"; a column that the file does not have is no
condition, and the value "first" stands for that of the file's first row. Besides the file's own columns there are:

    requested, footprint                bytes read and written (atomics count as requested)
    sectors                             bytes of the sectors read and written
    model_requested, model_footprint    the same by the closed forms: bytes of Q K V S P O and the gradients
    per_head                            1 / (batch * heads), a factor; 1 in a file without these columns
    error_share                         error / tolerance
    median_ms, p10_ms, p90_ms           as in the file, but NaN where a CPU took the time: it says nothing of a GPU
    gflops                              of such a time

NaN stands for whatever was not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from . import table
from .table import number

Record = Mapping[str, str]


def _add(record: Record, *columns: str) -> float:
    return sum(number(record.get(column)) for column in columns)


def _requested(record: Record) -> float:
    atomics = number(record.get("atomic_bytes"))
    return _add(record, "requested_read_bytes", "requested_write_bytes") + (0 if math.isnan(atomics) else atomics)


def _per_head(record: Record) -> float:
    return 1 / (number(record["batch"]) * number(record["heads"])) if "batch" in record else 1.0


def _ratio(over: float, under: float) -> float:
    return over / under if under else math.nan


def _time(column: str) -> Callable[[Record], float]:
    """A time of this record; of a CPU's there is none to show."""
    return lambda record: math.nan if record.get("time_kind") == "measured-cpu" else number(record.get(column))


def _gflops(record: Record) -> float:
    return _ratio(1e-6 * number(record.get("flop")), value(record, "median_ms"))


DERIVED: dict[str, Callable[[Record], float]] = {
    "requested": _requested,
    "footprint": lambda record: _add(record, "footprint_read_bytes", "footprint_write_bytes"),
    "sectors": lambda record: 32 * _add(record, "read_sectors", "write_sectors"),
    "model_requested": lambda record: 4 * number(record.get("model_requested_elements")),
    "model_footprint": lambda record: 4 * number(record.get("model_footprint_elements")),
    "per_head": _per_head,
    "error_share": lambda record: _ratio(number(record.get("max_abs")), number(record.get("tolerance"))),
    **{column: _time(column) for column in ("median_ms", "p10_ms", "p90_ms")},
    "gflops": _gflops,
}


def value(record: Record, column: str) -> float:
    """A column of the file, or one worked out; NaN where there is none."""
    return DERIVED[column](record) if column in DERIVED else number(record.get(column))


def choose(data: table.Table, kernel: str = "", where: str = "") -> list[dict[str, str]]:
    """The verified rows of a kernel ("": of any) that fulfill the conditions, in the file's order."""
    records = data.records()
    wanted: dict[str, str] = {}
    for condition in where.split():
        column, equals, wanted[column] = condition.partition("=")
        if not equals:
            raise table.TableError(f"a condition: expected COLUMN=TEXT, got '{condition}'")
    if kernel:
        wanted["kernel"] = kernel
    wanted = {column: text for column, text in wanted.items() if column in data.columns}
    for column, text in wanted.items():
        if text == "first" and records:
            wanted[column] = records[0][column]
    if "verified" in data.columns:
        wanted["verified"] = "yes"
    return [record for record in records if all(record[column] == text for column, text in wanted.items())]


def last(path: str | Path, kernel: str, where: str, *columns: str) -> list[float]:
    """These columns of the last such row that has a number in each; NaN for each where there is none.

    Raises table.TableError for a file that is no table.
    """
    for record in reversed(choose(table.read(path), kernel, where)):
        values = [value(record, column) for column in columns]
        if not any(map(math.isnan, values)):
            return values
    return [math.nan] * len(columns)
