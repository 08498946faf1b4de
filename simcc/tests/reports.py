"""What a program that ran with SIM_REPORT=FILE wrote: launch and hazard records (../README.md), each one checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from support import without_namespaces

Record = dict[str, Any]


class Report(NamedTuple):
    launches: list[Record]
    hazards: list[Record]

    def of(self, tool: str, kind: str) -> list[Record]:
        return [hazard for hazard in self.hazards if (hazard["tool"], hazard["kind"]) == (tool, kind)]


_ACCESS = {"bytes": int, "requests": int}
_GLOBAL = {op: {**_ACCESS, "sectors": int} for op in ("load", "store", "atomic")}
_BANKS = {**_ACCESS, "wavefronts": int, "ideal_wavefronts": int, "conflicts": int}
_FOOTPRINT = {"read_bytes": int, "write_bytes": int}
_LAUNCH = {
    "kernel": str,
    "template": str,
    "grid": [int],
    "block": [int],
    "dynamic_shared_bytes": int,
    "static_shared_bytes": int,
    "hazards": {},
}
_COUNTERS = {
    "global": _GLOBAL,
    "shared": {op: _BANKS for op in ("load", "store", "atomic")},
    "shared_lines": [{"file": str, "line": int, "op": str, **_BANKS}],
    "constant": {"load": _ACCESS},
    "footprint": _FOOTPRINT,
    "barriers": int,
    "exp": int,
    "tensors": [{"name": str, "requested": _FOOTPRINT, "footprint": _FOOTPRINT}],
}
_HAZARD = {"tool": str, "kind": str, "severity": str, "kernel": str, "count": int}


def _check(value: Any, shape: Any, where: str) -> None:
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{where} is no object: {value!r}"
        for key, inner in shape.items():
            assert key in value, f"{where} has no {key!r}: {value!r}"
            _check(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{where} is no array: {value!r}"
        for item in value:
            _check(item, shape[0], where)
    else:
        assert type(value) is shape, f"{where} is no {shape.__name__}: {value!r}"
        assert shape is str or value >= 0, f"{where} is negative: {value}"


def is_counted(launch: Record) -> bool:
    """Not so in a --fast program, which counts nothing."""
    return "global" in launch


def hazards_of(launch: Record) -> int:
    return sum(launch["hazards"].values())


def read_report(path: Path | str) -> Report:
    """Fails on a line that is no complete record."""
    text = without_namespaces(Path(path).read_text())
    assert not text or text.endswith("\n"), f"{path}: the last line is not complete"
    report = Report([], [])
    for line in text.splitlines():
        record = json.loads(line)
        assert record["type"] in ("launch", "hazard"), line
        _check(record, _LAUNCH if record["type"] == "launch" else _HAZARD, record["type"])
        if record["type"] == "launch":
            if is_counted(record):
                _check(record, _COUNTERS, "launch")
            report.launches.append(record)
        else:
            assert record["severity"] in ("error", "warning", "info"), line
            report.hazards.append({**record, "launch": len(report.launches)})
    return report
