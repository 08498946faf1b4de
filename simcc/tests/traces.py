"""What a program that ran with SIM_TRACE=FILE wrote (../README.md), each line parsed and found in order."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from reports import Record, Report
from support import Case, without_namespaces

SPACES = ("global", "constant", "shared")
OPS = ("load", "store", "atomic")


class Trace(NamedTuple):
    lines: list[Record]
    truncated: bool  # it ends with the record that says so

    @property
    def accesses(self) -> list[Record]:
        return [line for line in self.lines if is_access(line)]


def is_access(line: Record) -> bool:
    """False for the records that begin launches and end a truncated trace."""
    return "type" not in line


# ---- is every line where it should be? ----


def _linear_block(head: Record, line: Record) -> int:
    (x, y, z), (width, height, _) = line["block"], head["grid"]
    return x + width * (y + height * z)


def _tensor_places(head: Record, line: Record) -> list[int]:
    """Where it stands among the launch's tensors; those of one name may be several."""
    wanted = line["tensor"], line["space"]
    return [i for i, tensor in enumerate(head["tensors"]) if (tensor["tensor"], tensor["space"]) == wanted]


def _check_order(where: str, head: Record, before: Record, line: Record) -> None:
    first = _linear_block(head, before), before["interval"]
    second = _linear_block(head, line), line["interval"]
    in_order = first < second
    if first == second:
        place = _tensor_places(head, before)[0]
        later = [other for other in _tensor_places(head, line) if other >= place]
        if later and later[0] == place and OPS.index(line["op"]) <= OPS.index(before["op"]):
            later = later[1:]
        in_order = bool(later)
    assert in_order, f"{where}: out of order"


def _check_ranges(where: str, head: Record, line: Record) -> None:
    end, covered = -1, 0
    for first, last in line["ranges"]:
        assert first > end, f"{where}: ranges that touch"
        assert last > first, f"{where}: an empty range"
        end = last
        covered += last - first
    assert 0 < covered <= line["bytes"], f"{where}: {covered} bytes in ranges"
    places = _tensor_places(head, line)
    if len(places) == 1:
        assert end <= head["tensors"][places[0]]["bytes"], f"{where}: past the end"


def _check_places(where: str, line: Record) -> None:
    places = line["lines"]
    assert places, f"{where}: no source line"
    numbers = [place for place in places if isinstance(place, int)]
    names = [place for place in places if isinstance(place, str)]
    assert numbers == sorted(set(numbers)) and places == numbers + names, f"{where}: source lines out of order"


def read_trace(path: Path | str) -> Trace:
    """Fails on a line that is no complete record, and on one that is out of place.

    Lines go by launch, block, interval, space and kind of access, after a record of their launch that names their
    tensor; ranges are sorted and apart, lie in the tensor and hold no more bytes than were asked for; source lines are
    sorted.
    """
    text = without_namespaces(Path(path).read_text())
    assert not text or text.endswith("\n"), f"{path}: ends within a line"
    lines: list[Record] = []
    head: Record | None = None
    truncated = False
    for number, written in enumerate(text.splitlines(), 1):
        line = json.loads(written)
        where = f"{path}:{number}: {written[:300]}"
        assert not truncated, f"{where}: after the end"
        if is_access(line):
            assert head is not None, f"{where}: without its launch"
            assert (head["launch"], head["kernel"]) == (line["launch"], line["kernel"]), f"{where}: another launch"
            assert line["space"] in SPACES and line["op"] in OPS, where
            assert _tensor_places(head, line), f"{where}: a tensor its launch does not name"
            _check_ranges(where, head, line)
            _check_places(where, line)
            if is_access(lines[-1]):
                _check_order(where, head, lines[-1], line)
        elif line["type"] == "launch":
            head = line
        else:
            truncated = line["type"] == "truncated"
        lines.append(line)
    return Trace(lines, truncated)


# ---- sums ----


def _merged(ranges: list[list[int]]) -> int:
    """Distinct bytes in them."""
    covered, end = 0, 0
    for first, last in sorted(ranges):
        covered += max(0, last - max(first, end))
        end = max(end, last)
    return covered


def _expect_launch(case: Case, where: str, accesses: list[Record], launch: Record) -> None:
    """Bytes of each tensor and kind of access, and footprints, are those of the launch's report."""
    requested: dict[tuple[str, str, str], int] = defaultdict(int)
    touched: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
    for line in accesses:
        requested[line["space"], line["tensor"], line["op"]] += line["bytes"]
        if line["space"] == "global":
            for op in ("load", "store") if line["op"] == "atomic" else (line["op"],):
                touched[line["tensor"], op] += line["ranges"]
    traced = {(tensor, op): count for (space, tensor, op), count in requested.items() if space == "global"}
    counted: dict[tuple[str, str], int] = defaultdict(int)
    names = [tensor["name"] for tensor in launch["tensors"]]
    for tensor in launch["tensors"]:
        for op, key in (("load", "read_bytes"), ("store", "write_bytes"), ("atomic", "atomic_bytes")):
            counted[tensor["name"], op] += tensor["requested"].get(key, 0)
        if names.count(tensor["name"]) == 1:
            for op, key in (("load", "read_bytes"), ("store", "write_bytes")):
                covered = _merged(touched[tensor["name"], op])
                case.expect_equal(covered, tensor["footprint"][key], f"{where}: {tensor['name']}: {op} footprint")
    case.expect_equal(traced, {key: count for key, count in counted.items() if count}, f"{where}: bytes of tensors")

    def total(space: str, op: str) -> int:
        return sum(count for key, count in requested.items() if (key[0], key[2]) == (space, op))

    for op in OPS:
        case.expect_equal(total("shared", op), launch["shared"][op]["bytes"], f"{where}: shared {op}")
    case.expect_equal(total("global", "load"), launch["global"]["load"]["bytes"], f"{where}: all tensors")
    case.expect_equal(total("constant", "load"), launch["constant"]["load"]["bytes"], f"{where}: constants")


def expect_trace_of(case: Case, name: str, trace: Trace, report: Report) -> None:
    """The trace says the same as the launch records."""
    heads = [line for line in trace.lines if line.get("type") == "launch"]
    case.expect_equal(len(heads), len(report.launches), f"{name}: launches traced")
    accesses = defaultdict(list)
    for line in trace.accesses:
        accesses[line["launch"]].append(line)
    for number, (head, launch) in enumerate(zip(heads, report.launches)):
        same = (head["launch"], head["kernel"], head["template"]) == (number, launch["kernel"], launch["template"])
        case.expect(same, f"{name}: trace and report disagree on launch {number}")
        _expect_launch(case, f"{name}: launch {number}, {launch['kernel']}", accesses[number], launch)


def spell_access(line: Record) -> str:
    """As the comments of programs/trace.cu spell it: "stage 1,0,0 0 global alloc0 load 12 [16,28] 20"."""
    words = [line["kernel"], ",".join(str(i) for i in line["block"]), line["interval"], line["space"]]
    words += [line["tensor"].replace(" ", "_"), line["op"], line["bytes"]]
    words += [f"[{first},{last}]" for first, last in line["ranges"]]
    words += [place if isinstance(place, int) else place.rsplit("/", 1)[-1] for place in line["lines"]]
    return " ".join(str(word) for word in words)
