"""simcc --widths: runs a counted program and prints, for each of its launches, what the machine code of its kernel asks
for beside what the source does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from machine.disassembly import without_casts
from machine.facts import read_files
from machine.join import Join, Part, segments_of
from machine.problem import Problem
from machine.requests import Cost, Launch, Patterns, read_trace

NAMES = {
    "shared": [
        ("requests", "requests"),
        ("wavefronts", "wavefronts"),
        ("ideal_wavefronts", "ideal"),
        ("conflicts", "conflicts"),
        ("excessive_wavefronts", "excessive"),
    ],
    "global": [("requests", "requests"), ("sectors", "sectors")],
}
OPS = ("load", "store", "atomic")
TRACE_MEGABYTES = 16384


def run_traced(command: list[str], trace: str, report: str, quiet: bool) -> None:
    environment = {**os.environ, "SIM_TRACE": trace, "SIM_TRACE_REQUESTS": "1", "SIM_REPORT": report}
    environment.setdefault("SIM_TRACE_LIMIT", str(TRACE_MEGABYTES))
    environment.setdefault("SIM_CHECK", "memcheck")
    try:
        done = subprocess.run(command, env=environment, stdout=sys.stderr if quiet else None, check=False)
    except OSError as error:
        raise Problem(2, f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Problem(1, f"{command[0]} ended with status {done.returncode}")
    if not os.path.exists(trace) or not os.path.getsize(trace):
        raise Problem(2, f"{command[0]} wrote no trace: expected a program of simcc's, without --fast, and a launch")


def read_report(path: str) -> list[dict]:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        records = [json.loads(line) for line in file]
    return [record for record in records if record["type"] == "launch"]


def totals_of(parts: list[Part], space: str, op: str) -> tuple[Cost, Cost | None]:
    """Of the source, and of the machine code: None where a part of it is not known."""
    source, machine = Cost(), Cost()
    for part in parts:
        if (part.space, part.op) == (space, op):
            source = source.plus(part.source)
            machine = machine.plus(part.machine) if machine and part.machine else None
    return source, machine


def check_source(parts: list[Part], record: dict) -> None:
    """What was read from the trace has to be what the device counted."""
    for space, names in NAMES.items():
        for op in OPS:
            source, _ = totals_of(parts, space, op)
            counted = record[space][op]
            for name, attribute in names:
                if counted.get(name, getattr(source, attribute)) != getattr(source, attribute):
                    raise Problem(
                        3,
                        f"{record['kernel']}: the trace has {getattr(source, attribute)} {name} of {space} {op}, "
                        f"the device counted {counted[name]}",
                    )


def is_nest(parents: dict[int, int]) -> bool:
    """Whether from each loop the way out ends in loop 0: a file may have been cut or edited."""
    for loop in parents:
        for _ in range(len(parents)):
            loop = parents.get(loop, -1)
        if loop != 0:
            return False
    return True


def parts_of(launch: Launch, records: list[dict], patterns: Patterns) -> list[Part]:
    """Records of the machine code of all kernels; those of this one are looked for."""
    template = without_casts(launch.template)
    mine = [each for each in records if (each["kernel"], each["template"]) == (launch.kernel, template)]
    trouble = "" if mine else "no machine code of this kernel in the file"
    if len({record["arch"] for record in mine}) > 1:
        trouble = "the file has this kernel for several architectures"
    trouble = next((record["trouble"] for record in mine if record.get("trouble")), trouble)
    parents = {record["loop"]: record["parent"] for record in mine}
    if mine and not is_nest(parents):
        trouble = "the file has not all loops around its loops"
    parts = Join(launch, {} if trouble else segments_of(mine), parents, patterns).parts()
    for part in parts:
        part.how = trouble or part.how
    return parts


def named(cost: Cost, names: list[tuple[str, str]]) -> dict[str, int]:
    return {name: getattr(cost, attribute) for name, attribute in names}


def described(launch: Launch, parts: list[Part]) -> dict:
    """The object that --json prints."""
    sides: tuple[dict, dict] = ({}, {})
    for space, names in NAMES.items():
        for op in OPS:
            for side, cost in zip(sides, totals_of(parts, space, op)):
                if cost and any(part for part in parts if (part.space, part.op) == (space, op)):
                    side.setdefault(space, {})[op] = named(cost, names)
    listed = [
        {
            "place": part.place,
            "space": part.space,
            "op": part.op,
            "loops": part.loops,
            "widths": {str(width): count for width, count in sorted(part.widths.items())},
            "source": named(part.source, NAMES[part.space]),
            **({"machine": named(part.machine, NAMES[part.space])} if part.machine else {}),
            "joined" if part.machine else "not_joined": part.how,
        }
        for part in parts
    ]
    head = {"launch": launch.number, "kernel": launch.kernel, "template": launch.template}
    return {**head, "source": sides[0], "machine": sides[1], "places": listed}


def table_of(made: dict, arch: str) -> Iterator[str]:
    """The lines for people."""
    name = made["kernel"] + (f"<{made['template']}>" if made["template"] else "")
    yield f"launch {made['launch']}, {name}" + (f", {arch}" if arch else "")
    yield f"  {'':<36}{'source':>16}{'machine code':>16}"
    for space, ops in made["source"].items():
        for op, counts in ops.items():
            machine = made["machine"].get(space, {}).get(op, {})
            for metric, count in counts.items():
                known = f"{machine[metric]:,}" if metric in machine else "not known"
                yield f"  {f'{space} {op} {metric}'.replace('_', ' '):<36}{count:>16,}{known:>16}"
    for part in made["places"]:
        how = part.get("joined", "")
        what = f"{part['place'] or 'no line'} {part['space']} {part['op']}"
        widths = ", ".join(f"{count} x {8 * int(width)} bits" for width, count in part["widths"].items()) or "none"
        yield f"  {what}: {widths}: {how or 'NOT JOINED: ' + part['not_joined']}"


def print_widths(arguments: list[str], usage: str) -> int:
    as_json = "--json" in arguments[1:2]
    command = arguments[2:] if as_json else arguments[1:]
    if not command or arguments[0].startswith("-"):
        raise Problem(2, f"expected: {usage}")
    records = read_files(arguments[0].split(","))
    with tempfile.TemporaryDirectory(prefix="simcc-") as scratch:
        trace, report = os.path.join(scratch, "trace"), os.path.join(scratch, "report")
        run_traced(command, trace, report, as_json)
        counted, patterns = read_report(report), Patterns()
        for launch in read_trace(trace, patterns):
            parts = parts_of(launch, records, patterns)
            check_source(parts, counted[launch.number])
            made = described(launch, parts)
            archs = {each["arch"] for each in records if each["kernel"] == launch.kernel}
            print(json.dumps(made) if as_json else "\n".join(table_of(made, " ".join(sorted(archs)))))
    return 0
