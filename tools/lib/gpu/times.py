"""The steps that measure: nothing else runs beside them."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from .. import table
from ..files import replace_file
from . import StepError, runner
from .report import Report

# The probes' kernels, the instruction that each has to consist of, and how many it has at least.
PROBES = {"multiply_add": ("FFMA", 1024), "exponentials": ("MUFU", 1024), "shared_reads": ("LDS", 8)}
MATMUL_COLUMNS = ("size", "who", "verified", "median_ms", "p10_ms", "p90_ms", "runs", "tflop_per_s")
MATMUL_COLUMNS += ("percent_of_cublas_speed", "percent_of_floor")
PEER_COLUMNS = ("pass", "seq", "dim", "causal", "who", "dtype", "arithmetic", "median_ms", "ratio_to_ours", "max_abs")


def roofs(report: Report) -> tuple[str, str]:
    job = report.run("roofs", 30, [report.work / "roofs"])
    if not job.ok:
        raise StepError(job.last_line())
    path = report.data / "roofs.tsv"
    lines = [line for line in job.output().splitlines() if line.startswith("#") or "\t" in line]
    replace_file(path, "".join(f"{line}\n" for line in lines))
    rows = table.read(path).records()
    machine_code = _look_at_machine_code(report)
    columns = ["roof", "median", "p10", "p90", "how"]
    report.tell_table("Roofs, measured", columns, [[row[name] for name in columns] for row in rows])
    report.tell(f"Machine code of the probes: {machine_code}", "")
    return "done", ", ".join(f"{row['roof']} {float(row['median']):.4g}" for row in rows)


def _look_at_machine_code(report: Report) -> str:
    """A peak of multiply-adds has to consist of multiply-adds, or it is the peak of something else."""
    cuobjdump = report.tools["cuobjdump"]
    if not cuobjdump:
        return "not looked at, cuobjdump is not here"
    count = count_instructions(report.run("roofs-sass", 20, [cuobjdump, "-sass", report.work / "roofs"]).output())
    said = []
    for kernel, (instruction, least) in PROBES.items():
        found = count[kernel][instruction]
        few = "" if found >= least else ": TOO FEW, its roof is not to be trusted"
        said.append(f"{kernel} has {found} {instruction} of {sum(count[kernel].values())} instructions{few}")
    return "; ".join(said)


def count_instructions(text: str) -> dict[str, Counter[str]]:
    """Probe -> instruction -> how many, from `cuobjdump -sass`; modifiers and NOP are dropped."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    kernel = ""
    for line in text.splitlines():
        if function := re.search(r"Function\s*:\s*(?:_Z\d+)?(\S+)", line):
            kernel = next((name for name in PROBES if function[1].startswith(name)), "")
        found = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", line)
        if found and found[1] != "NOP":
            count[kernel][found[1]] += 1
    return count


def matmul(report: Report) -> tuple[str, str]:
    """Chapter 03 against cuBLAS, where it is, in one process and on one clock."""
    program = report.program("cuda", "03_tiled_matmul")
    rows: list[list[object]] = []
    failures = []
    with_cublas = False
    for size in (1024, 2048, 4096):
        path = report.work / f"matmul.{size}.json"
        command = [program, *(f"{word}" for name in "mnk" for word in (f"--{name}", size)), "--quiet", "--json", path]
        job = report.run(f"matmul-{size}", 40, command, NO_PEER=None)  # the one step that wants cuBLAS
        try:
            result = json.loads(runner.read_text(path))
        except ValueError:
            failures.append(f"{size}: {job.last_line()}")
            continue
        peer = (result.get("peers") or [None])[0]
        with_cublas = with_cublas or peer is not None
        rows += [_matmul_row(size, kernel, peer) for kernel in [*result["kernels"], *([peer] if peer else [])]]
    report.write_table(
        "matmul.tsv",
        "m = n = k = size; cuBLAS in fp32 without TF32 (CUBLAS_PEDANTIC_MATH), same inputs, same process; "
        "percent_of_floor: 100 is the floor, more is slower",
        MATMUL_COLUMNS,
        rows,
    )
    report.tell_table("Chapter 03 beside cuBLAS", MATMUL_COLUMNS, [row for row in rows if row[0] == 4096])
    if failures:
        return "failed", failures[0]
    return "done", f"{len(rows)} rows" + ("" if with_cublas else "; cuBLAS is not here")


def _matmul_row(size: int, kernel: dict[str, Any], peer: dict[str, Any] | None) -> list[object]:
    took = kernel.get("time") or {}
    ms, floor = took.get("median_ms"), (kernel.get("floor") or {}).get("ms")
    of_peer = ((peer or {}).get("time") or {}).get("median_ms")
    cells = [
        size,
        kernel["name"],
        {True: "yes", False: "no"}[kernel["verified"]] if "verified" in kernel else "-",
        *(took.get(name) for name in ("median_ms", "p10_ms", "p90_ms", "runs")),
    ]
    if not ms:
        return [*cells, None, None, None]
    share = f"{100 * of_peer / ms:.1f}" if of_peer else None
    return [*cells, f"{2e-9 * size**3 / ms:.4g}", share, f"{100 * ms / floor:.0f}" if floor else None]


def peers(report: Report) -> tuple[str, str]:
    """gpu/peers.py, which needs more of Python than this report does."""
    python = report.tools["python3"]
    if not python:
        return "not here", "python3 is not here"
    path = report.data / "peers.tsv"
    seconds = min(85, report.left)
    options = ["--tree", report.trees["cuda"], "--out", path, "--seconds", str(int(seconds))]
    job = report.run("peers", seconds + 15, [python, "-B", report.root / "gpu/peers.py", *options])
    if job.status == 3:
        return "not here", job.last_line()
    rows = table.read(path).records() if path.exists() else []
    timed = [row for row in rows if row["median_ms"] != "NaN"]
    report.tell_table("Peers", PEER_COLUMNS, [[row[name] for name in PEER_COLUMNS] for row in timed])
    if not job.ok and not job.timed_out:
        raise StepError(job.last_line())
    said = f"{len(timed)} peers timed, {len(rows) - len(timed)} said why not"
    return "cut short" if job.timed_out else "done", said


def bench(report: Report) -> tuple[str, str]:
    """The curves."""
    end, tree = report.end_before("kernels"), report.trees["cuda"]
    done: list[str] = []
    failures: list[str] = []
    partial: list[str] = []
    # The forwards first: at large N the reference of the backward takes the processor longest.
    order = sorted(report.programs, reverse=True)
    order.sort(key=lambda chapter: chapter == "06_backward")
    if not report.chapters:
        order.insert(-1, "blocks")
    for at, chapter in enumerate(order):
        left = end - time.monotonic()
        if left < 5:
            partial.append(chapter)
            continue
        seconds = min(left, left / (len(order) - at) * 1.5)
        command = [sys.executable, tree / "tools/bench", "--chapters", chapter, "--data", report.data / "bench"]
        job = report.job(f"bench-{chapter}", seconds, command)
        job.directory = tree
        runner.run(job)
        if job.ok:
            done.append(chapter)
        elif job.timed_out:
            partial.append(chapter)
        else:
            failures.append(f"{chapter}: {job.last_line()}")
    _tell_floors(report)
    if failures:
        return "failed", failures[0]
    said = f"whole: {' '.join(done) or 'none'}"
    return ("cut short", f"{said}; no time for all of: {' '.join(partial)}") if partial else ("done", said)


def timed_rows(path: Path) -> list[dict[str, str]]:
    """The rows that have a time and a floor."""
    known = ("median_ms", "floor_ms")
    return [row for row in table.read(path).records() if not any(math.isnan(table.number(row[name])) for name in known)]


def _tell_floors(report: Report) -> None:
    """Each kernel's largest problem: its time, its floor, and what that is in percent. Below the floor cannot be."""
    told = []
    for path in sorted(report.data.glob("bench/*/*.tsv")):
        largest: dict[str, dict[str, str]] = {}
        for row in timed_rows(path):
            best = largest.setdefault(row["kernel"], row)
            if float(row["floor_ms"]) > float(best["floor_ms"]):
                largest[row["kernel"]] = row
        for kernel, row in sorted(largest.items()):
            names = ("seq", "keys", "rows", "cols", "m", "heads", "kv_heads", "dim", "causal")
            sizes = ", ".join(f"{name} {row[name]}" for name in names if name in row)
            took, floor = float(row["median_ms"]), float(row["floor_ms"])
            share = f"{100 * took / floor:.0f} %" + (": BELOW ITS FLOOR, which cannot be" if took < floor else "")
            told.append([kernel, sizes, row["median_ms"], row["floor_ms"], row["bound_by"], share])
    columns = ["kernel", "problem", "median ms", "floor ms", "bound by", "of floor"]
    report.tell_table("Times beside floors, largest problem of each kernel", columns, told)
