"""The steps that hold the simulated device against the hardware's counters."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from . import StepError, counters, runner
from .counters import Launch
from .report import Report

# What is profiled: small enough for some seconds, large enough for every kind of access; then ragged ones, on the
# paths that whole tiles do not take.
RUNS = [
    ("05_fa2", "--seq 256 --heads 2 --dim 64"),
    ("04_fa1", "--seq 256 --heads 2 --dim 64"),
    ("01_naive", "--seq 256 --heads 2 --dim 64"),
    ("03_tiled_matmul", "--m 256 --n 256 --k 256"),
    ("06_backward", "--seq 256 --heads 2 --dim 64"),
    ("02_online_softmax", "--rows 64 --cols 1024 --dim 64 --block 256"),
    ("07_transformer", "--seq 64 --keys 256 --heads 6 --kv-heads 2 --dim 64 --causal"),
    ("08_decode", "--seq 1024 --heads 9 --kv-heads 3 --dim 64"),
    ("09_variants", "--seq 256 --heads 2 --dim 64 --causal --window 64 --sink"),
    ("10_pipeline", "--seq 256 --heads 2 --dim 64"),
    ("00_gpu", "--rows 256 --cols 512"),
    ("00_gpu", "--rows 113 --cols 97"),
    ("02_online_softmax", "--rows 5 --cols 257 --dim 40 --block 100"),
    ("05_fa2", "--seq 200 --heads 2 --dim 59 --causal"),
    ("06_backward", "--seq 200 --heads 2 --dim 59 --causal"),
    ("10_pipeline", "--seq 200 --heads 2 --dim 59 --causal"),
    ("04_fa1", "--seq 200 --heads 2 --dim 59 --causal"),
    ("03_tiled_matmul", "--m 113 --n 97 --k 29"),
    ("01_naive", "--seq 113 --heads 2 --dim 59"),
    ("07_transformer", "--seq 33 --keys 113 --heads 4 --kv-heads 2 --dim 59 --causal"),
    ("08_decode", "--seq 113 --heads 8 --kv-heads 1 --dim 59 --splits 9 --page 5"),
    (
        "09_variants",
        "--lengths 113,20,6 --heads 4 --kv-heads 2 --dim 59 --causal --window 20 --softcap 5 --alibi --sink --splits 9",
    ),
]
# Of each quantity what the simulated device counted, and what hardware did.
RULE_COLUMNS = ("number", "kernel", "pattern")
RULE_COLUMNS += tuple(side + quantity for quantity in counters.OF_RULES for side in ("simulated_", ""))
NO_PERMISSION = re.compile("ERR_NVGPUCTRPERM|LibraryNotLoaded|permission", re.IGNORECASE)


class NotPermittedError(StepError):
    """This user may not read the GPU's counters."""


# ---- what hardware counts ----


def _profile(report: Report, log: str, seconds: float, metrics: list[str], command: list[str | Path]) -> list[Launch]:
    """Launches as ncu counted them. What this GPU or this ncu does not know is dropped from `metrics`, and told."""
    ncu = report.tools["ncu"]
    assert ncu
    path = report.work / f"{log}.csv"
    said = ""
    for _ in range(4):
        path.unlink(missing_ok=True)
        options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics"]
        sums = ",".join(f"{name}.sum" for name in metrics)
        job = report.run(log, seconds, [ncu, *options, sums, "--log-file", path, *command])
        text = runner.read_text(path)
        try:
            return counters.read_csv(text)
        except StepError as error:
            said = "ncu ran over its time limit" if job.timed_out else str(error)
        printed = text + job.output()
        if job.timed_out or re.search("ERR_NVGPUCTRPERM|LibraryNotLoaded|not supported on", printed):
            break
        bad = counters.unknown_metrics(printed, metrics)
        if not bad or len(bad) == len(metrics):
            break
        metrics[:] = [name for name in metrics if name not in bad]
        report.unknown_metrics += bad
    raise NotPermittedError(said) if NO_PERMISSION.search(said) else StepError(said)


# ---- what the simulated device counts, here or brought along ----


def _log_name(prefix: str, chapter: str, options: str) -> str:
    return f"{prefix}-{chapter}-" + re.sub(r"\W+", "-", options)


def simulate(report: Report, chapter: str, options: str) -> dict[str, Any]:
    """What a program moved on the simulated device: its JSON."""
    log = _log_name("sim", chapter, options)
    path = (report.keep_simulated or report.work) / f"{log}.json"
    try:
        program = report.program("sim", chapter)
    except StepError:
        said = f"the simulated {chapter} was not built"
    else:
        command = [program, *options.split(), "--gpu", "h200", "--quiet", "--json", path]
        said = f"{chapter}: {report.run(log, 60, command).last_line()}"
    if report.simulated and not runner.read_text(path):
        path = report.simulated / path.name
    try:
        return json.loads(runner.read_text(path))
    except ValueError:
        raise StepError(said) from None


def _simulate_rules(report: Report) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """(launch records, what each shows by its number) of gpu/rules.cu."""
    records = (report.keep_simulated or report.work) / "rules.json"
    what = Path(f"{records}.what")
    said = "rules.sim was not built"
    program = report.work / "rules.sim"
    if os.access(program, os.X_OK):
        job = report.run("rules-sim", 30, [program], SIM_REPORT=str(records))
        said = f"rules.sim: {job.last_line()}"
        if job.ok and job.log:
            job.log.replace(what)
    if report.simulated and not runner.read_text(what):
        records = report.simulated / records.name
        what = report.simulated / what.name
    shown = [line.split("\t") for line in runner.read_text(what).splitlines() if re.match(r"\d+\t", line)]
    if not shown:
        raise StepError(said)
    launches = [json.loads(line) for line in runner.read_text(records).splitlines() if '"type":"launch"' in line]
    return launches, {int(cells[0]): cells[2] for cells in shown}


def keep_simulated(report: Report) -> None:
    """Keeps what the simulated device counts of all that is profiled, for a machine whose compiler does not build
    it. The counts depend on no machine."""
    for chapter, options in RUNS:
        if chapter in report.programs:
            simulate(report, chapter, options)
    _simulate_rules(report)


# ---- counters ----


def compare_counters(report: Report) -> tuple[str, str]:
    """The step "counters"."""
    if not report.tools["ncu"]:
        return "not here", "ncu is not here"
    metrics = list(counters.METRICS)
    rows: list[list[object]] = []
    failures: list[str] = []
    unfinished: list[str] = []
    end = report.end_before("sanitizer", "bench", "kernels")
    for chapter, options in RUNS:
        if chapter not in report.programs:
            continue
        left = end - time.monotonic()
        if left < 4:
            unfinished.append(f"{chapter} {options}")
            continue
        try:
            seen, unseen = _compare_run(report, chapter, options, min(left, 60), metrics)
        except NotPermittedError as error:
            return "not here", str(error)
        except StepError as error:
            failures.append(f"{chapter} {options}: {error}")
            continue
        rows += seen
        failures += [f"{chapter} {options}: ncu saw no such launch: {kernel}" for kernel in unseen]
        report.write_table(
            "counters.tsv",
            "simulated: the launch record, of the source; measured: Nsight Compute, cold caches; flop: of all launches "
            "of the kernel, beside the last: its closed form, and fadd + fmul + 2 ffma\n" + counters.read_from(metrics),
            counters.COLUMNS,
            rows,
        )
    compared = counters.compare_rows([dict(zip(counters.COLUMNS, row)) for row in rows])
    lines = counters.overview(each for _, each in compared)
    report.tell_table("Simulated counters beside measured ones", counters.OVERVIEW, lines)
    if report.unknown_metrics:
        report.tell("Metrics this ncu does not have: " + ", ".join(report.unknown_metrics), "")
    if failures:
        return "failed", failures[0]
    if unfinished:
        return "cut short", f"{len(compared)} counters; no time for: {' '.join(unfinished)}"
    return "done", f"{len(compared)} counters"


def _compare_run(
    report: Report, chapter: str, options: str, seconds: float, metrics: list[str]
) -> tuple[list[list[object]], list[str]]:
    """Rows of counters.tsv, and launches that ncu did not see."""
    program = report.program("cuda", chapter)
    kernels = simulate(report, chapter, options)["kernels"]
    command = [program, *options.split(), "--repeat", "1", "--warmup", "0", "--quiet"]
    measured = _profile(report, _log_name("ncu", chapter, options), seconds, metrics, command)
    launches = [launch for kernel in kernels for launch in kernel.get("launches", [])]
    matched = iter(counters.match(launches, measured))
    rows: list[list[object]] = []
    unseen: list[str] = []
    for kernel in kernels:
        pairs = [(launch, next(matched)) for launch in kernel.get("launches", [])]
        unseen += [launch["kernel"] for launch, seen in pairs if not seen]
        found = [(launch, seen) for launch, seen in pairs if seen]
        for at, (launch, seen) in enumerate(found):
            ours, theirs = counters.sides(launch, seen)
            if at == len(pairs) - 1:
                add_flop(kernel["forms"].get("flop"), [each for _, each in found], ours, theirs)
            where = [chapter, options, kernel["name"], launch["kernel"], launch["template"] or "-"]
            rows.append(counters.row_of(where, ours, theirs))
    return rows, unseen


def add_flop(
    form: float | None, launches: list[Launch], simulated: dict[str, Any], measured: dict[str, int | float]
) -> None:
    """Arithmetic leaves no trace in memory: the simulated device's side is the chapter's closed form, all launches
    together. Nothing where either side does not know it."""
    total = counters.flop(launches)
    if total is not None and form is not None:
        simulated["flop"], measured["flop"] = form, total


# ---- the rules, one launch each ----


def rules(report: Report) -> tuple[str, str]:
    if not report.tools["ncu"]:
        return "not here", "ncu is not here"
    launches, what = _simulate_rules(report)
    wanted = "^l1tex__|inst_executed_op_shared"
    metrics = [name for name in counters.METRICS if re.search(wanted, name)]
    try:
        measured = _profile(report, "ncu-rules", min(60, report.left), metrics, [report.work / "rules"])
    except NotPermittedError as error:
        return "not here", str(error)
    rows: list[list[object]] = []
    looked_at = 0
    for number, (launch, seen) in enumerate(zip(launches, counters.match(launches, measured)), 1):
        pairs = counters.of_rule(launch, seen) if seen else {}
        looked_at += len(pairs)
        cells = [count for quantity in counters.OF_RULES for count in pairs.get(quantity, (None, None))]
        rows.append([number, launch["kernel"], what.get(number), *cells])
    contradicted = [row for row in rows if row[3::2] != row[4::2]]
    report.write_table("rules.tsv", "one warp, one access a lane: gpu/rules.cu", RULE_COLUMNS, rows)
    report.tell_table("Rules of the simulated device that this GPU contradicts", RULE_COLUMNS, contradicted)
    if not looked_at:
        raise StepError("ncu saw none of the launches of rules.cu")
    return "done", f"{looked_at} rules looked at, {len(contradicted)} contradicted"
