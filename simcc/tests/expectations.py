"""What a program's source says about its own launches. In a .cu file,

    //= scale<float,100,true> load=400/4/13 store=4*100/4/13 barriers=0 x2
    //+ foot=400/400 tensor:alloc0=400/0/400/0

is one expected launch (here: two equal ones in a row), in the order of execution. A counter that is not named must be
0; `?` leaves one open, ANY after the kernel's name leaves all open. Numbers may be written as sums of products.

    load store atomic          global memory: bytes/requests/sectors
    sload sstore satomic       shared memory: bytes/requests/wavefronts[/ideal wavefronts[/conflicts]]
    const                      constant memory: bytes/requests
    barriers exp
and these, checked only where given:
    foot=read/written                                    footprint
    tensor:NAME=read/written[/read/written]              requested [/footprint]
    dyn= static=                                         bytes of shared memory
    grid=x,y,z block=x,y,z

Lines `//> text` are the program's expected standard output. `//! order: reason` says that its counts depend on the
order of threads, `//! not fast: reason` that its --fast build is not to be run, `//! counts itself: reason` that it
compares its own counts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from reports import Record, Report, hazards_of
from support import Case


class Expectations(NamedTuple):
    launches: list[str]  # one string each, x2 resolved
    output: str
    flags: set[str]  # "order", "not fast", "counts itself"


def read_expectations(source: Path) -> Expectations:
    launches: list[str] = []
    output = ""
    flags = set()
    for line in source.read_text().split("\n"):
        line = line.strip()
        if line.startswith("//= "):
            launches.append(line[4:])
        elif line.startswith("//+ "):
            launches[-1] += " " + line[4:]
        elif line.startswith("//> "):
            output += line[4:] + "\n"
        else:
            flags |= set(re.findall(r"^//! (order|not fast|counts itself): ", line))
    repeated = []
    for line in launches:
        times = re.search(r" x(\d+)\b", line)
        repeated += [re.sub(r" x\d+\b", "", line, count=1)] * (int(times.group(1)) if times else 1)
    return Expectations(repeated, output, flags)


def evaluate(expression: str) -> int:
    """2*3+4 -> 10; fails on anything but a sum of products."""
    assert re.fullmatch(r"\d+([*+-]\d+)*", expression), f"{expression!r} is no sum of products"
    total = 0
    for sign, product in re.findall(r"([+-]?)(\d+(?:\*\d+)*)", expression):
        value = 1
        for factor in product.split("*"):
            value *= int(factor)
        total += -value if sign == "-" else value
    return total


def _pick(record: Record, *keys: str) -> list[int]:
    return [record[key] for key in keys]


_BANKS = ("bytes", "requests", "wavefronts", "ideal_wavefronts", "conflicts")


def _counted(launch: Record) -> dict[str, list[int]]:
    """Every counter that must be 0 where the source does not name it."""
    sectors = ("bytes", "requests", "sectors")
    counted = {op: _pick(launch["global"][op], *sectors) for op in ("load", "store", "atomic")}
    counted.update({"s" + op: _pick(launch["shared"][op], *_BANKS) for op in ("load", "store", "atomic")})
    counted["const"] = _pick(launch["constant"]["load"], "bytes", "requests")
    counted["barriers"] = [launch["barriers"]]
    counted["exp"] = [launch["exp"]]
    return counted


def _counted_if_given(launch: Record) -> dict[str, list[int]]:
    counted = {
        "foot": _pick(launch["footprint"], "read_bytes", "write_bytes"),
        "dyn": [launch["dynamic_shared_bytes"]],
        "static": [launch["static_shared_bytes"]],
    }
    for tensor in reversed(launch["tensors"]):  # of several of one name the first
        counted["tensor:" + tensor["name"]] = _pick(tensor["requested"], "read_bytes", "write_bytes") + _pick(
            tensor["footprint"], "read_bytes", "write_bytes"
        )
    return counted


def _compare(case: Case, where: str, counter: str, counted: list[int], expected: str | None) -> None:
    fields = expected.split("/") if expected is not None else ["0"] * len(counted)
    case.expect(len(fields) <= len(counted), f"{where}: {counter}={expected} has more fields than it counts")
    for index, (number, field) in enumerate(zip(counted, fields)):
        if field != "?":
            wanted = evaluate(field)
            case.expect(number == wanted, f"{where}: {counter}[{index}] counted {number}, worked out by hand {wanted}")


def _compare_launch(case: Case, where: str, launch: Record, line: str) -> None:
    words = dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
    for key in ("grid", "block"):
        shape = ",".join(str(extent) for extent in launch[key])
        case.expect_equal(shape, words.pop(key, shape), f"{where}: {key}")
    if "ANY" in line.split():
        return
    always, if_given = _counted(launch), _counted_if_given(launch)
    for key in words:
        case.expect(key in always or key in if_given, f"{where}: the launch has no {key}")
    for counter, counted in always.items():
        _compare(case, where, counter, counted, words.get(counter))
    for counter, counted in if_given.items():
        if counter in words:
            _compare(case, where, counter, counted, words[counter])


def _check_sums(case: Case, where: str, launch: Record) -> None:
    """Holds for any launch: the parts add up."""
    sums = [0] * 5
    for tensor in launch["tensors"]:
        requested, footprint = tensor["requested"], tensor["footprint"]
        parts = _pick(requested, "read_bytes", "write_bytes") + [requested.get("atomic_bytes", 0)]
        parts += _pick(footprint, "read_bytes", "write_bytes")
        sums = [total + part for total, part in zip(sums, parts)]
    whole = [launch["global"][op]["bytes"] for op in ("load", "store", "atomic")]
    whole += _pick(launch["footprint"], "read_bytes", "write_bytes")
    case.expect_equal(sums, whole, f"{where}: the tensors' sums")
    for op in ("load", "store", "atomic"):
        lines = [_pick(line, *_BANKS) for line in launch["shared_lines"] if line["op"] == op]
        case.expect_equal(
            [sum(column) for column in zip(*lines)] or [0] * len(_BANKS),
            _pick(launch["shared"][op], *_BANKS),
            f"{where}: the lines' sums, {op}",
        )
    case.expect(hazards_of(launch) == 0, f"{where} has hazards")


def full_name(launch: Record) -> str:
    """Without the name that a compiler makes of a lambda."""
    is_told = launch["template"] and "'lambda" not in launch["template"]
    name = f"{launch['kernel']}<{launch['template']}>" if is_told else launch["kernel"]
    return name.replace(" ", "")


def expect_launches(case: Case, name: str, expectations: Expectations, report: Report) -> None:
    """Each difference is one failed expectation that names program, launch and counter."""
    expected = expectations.launches
    if "counts itself" not in expectations.flags:
        case.expect_equal(len(report.launches), len(expected), f"{name}: launches")
    for index, launch in enumerate(report.launches):
        where = f"{name}: launch {index}, {launch['kernel']}"
        _check_sums(case, where, launch)
    for index, (launch, line) in enumerate(zip(report.launches, expected)):
        where = f"{name}: launch {index}, {launch['kernel']}"
        case.expect_equal(full_name(launch), line.split()[0], f"{where}: its name")
        _compare_launch(case, where, launch, line)
