"""One run of a chapter's program, from outside, as the page holds it: what README.md's table names."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

from attention_numbers import tile, wrong_row
from details import Details, run_recorded
from error_map import error_map
from replay import replays

MOST_TRACE_BYTES, MOST_REPORT_BYTES, MOST_SOURCE_BYTES, MOST_SOURCES = 6 << 20, 4 << 20, 1 << 20, 32
FROM_DETAILS = ("command", "program", "title", "device", "no_steps", "result")


def read_back(variable: str, ours: Path, most: int) -> tuple[list | None, int]:
    """What was recorded, lines that are JSON objects each, None where there are none or more than `most` bytes; and
    the file's size. Where the user's variable names a file, it went there, if that can be read back. A last line
    without its end is left out."""
    path = Path(os.environ.get(variable) or ours)
    size = 0
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():
            size = path.stat().st_size
            text = path.read_bytes() if size <= most else None
            if text is not None:
                return [json.loads(line) for line in text.decode("utf-8", errors="replace").split("\n")[:-1]], size
    return None, size


def why_no_trace(details: dict, size: int, smaller: str) -> str:
    if not details["counts"]:
        return "Only the simulated device's counting build sees each access."
    if size > MOST_TRACE_BYTES:
        return f"This run's trace has {size / 1e6:.3g} MB, more than a page should. {smaller}"
    if details["traced"] or "SIM_TRACE" in os.environ:
        return "SIM_TRACE, which is set, sends it elsewhere, from where it could not be read back."
    return f"This problem is too large to trace. {smaller}"


def recording(details: dict, room: Path) -> dict:
    """Trace and report, or why there is none; on the terminal, too, where it is the trace."""
    smaller = f"Try ./{details['program']} {details['small']}"
    launched = any(kernel["launches"] for kernel in details["kernels"])
    made: dict = {"smaller": smaller}
    trace, size = read_back("SIM_TRACE", room / "trace", MOST_TRACE_BYTES)
    if trace is not None and (trace or not launched):
        made["trace"] = trace
    else:
        made["no_trace"] = why_no_trace(details, size, smaller)
        told = f"--explain: no picture of the memory traffic: {made['no_trace']}"
        print(f"{details['program']}: {told}", file=sys.stderr, flush=True)
    report, size = read_back("SIM_REPORT", room / "report", MOST_REPORT_BYTES)
    made["report"] = report or []
    if details["counts"] and (report is None or (launched and not report)):
        elsewhere = "SIM_REPORT, which is set, sends it elsewhere, from where it could not be read back."
        made["no_report"] = "there is more of it than a page should hold." if size else elsewhere
    return made


def sources(program: str) -> dict[str, str]:
    """The kernels' files, which lie beside the program; nothing of a program that was moved."""
    found = sorted(path for path in Path(program).parent.iterdir() if path.suffix in (".cu", ".cuh") and path.is_file())
    return {
        path.name: path.read_bytes()[:MOST_SOURCE_BYTES].decode("utf-8", errors="replace")
        for path in found[:MOST_SOURCES]
    }


def kernel_of(details: Details, number: int) -> dict:
    kernel = details.kernels[number]
    asked, tiles = details.run["tile_q"], kernel.get("tile", [0, 0])
    made = {key: value for key, value in kernel.items() if key != "outputs"}
    made["maps"] = [error_map(output, asked if asked == tiles[0] else 0) for output in details.outputs(number)]
    return made


def made_of(program: str, details: Details) -> dict:
    """The run; a wrong kernel is run again."""
    run = {key: details.run[key] for key in FROM_DETAILS if key in details.run}
    run["kernels"] = [kernel_of(details, number) for number in range(len(details.kernels))]
    run |= recording(details.run, details.directory)
    run["sources"] = sources(program)
    numbers = tile(details)
    if numbers:
        run["tile"] = numbers
    hazards = any(line.get("severity") in ("error", "warning") for line in run["report"])
    run["replays"] = [
        {**replays(program, details, number), **wrong_row(details, number)}
        for number in range(0 if hazards else len(details.kernels))
    ]
    return run


def record(program: str, arguments: list[str]) -> tuple[int, dict | None, bool]:
    """Runs it on this screen: its status; the run, None where it ended without one, which is said; whether it printed
    for people. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="explain.") as room:
        status, details = run_recorded(program, arguments, Path(room))
        if details:
            return status, made_of(program, details), details.run["prints"]
        if status == 0:  # any other one has said why
            said = "ended with status 0 before its results: is there a call of _exit in a kernel's file?"
            print(f"{Path(program).name}: --explain: the program {said}", file=sys.stderr, flush=True)
        return status or 3, None, False
