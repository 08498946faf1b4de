"""The steps that ask whether programs are right: against the reference, and with compute-sanitizer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from .. import table
from . import StepError, runner, sanitizer, verify
from .hardware import RUNS
from .report import ENVIRONMENT, KernelProgram, Report
from .runner import Job

LIMITS = verify.ROOT / "gpu/sanitizer_limits.tsv"
SMALL = dict(RUNS)  # of each chapter the last, a ragged one


def correctness(report: Report) -> tuple[str, str]:
    seconds = min(90, report.left)
    cases = report.cases or verify.CASES
    verdicts = verify.verify(
        report.trees["cuda"], report.programs, cases, min(report.jobs, 8), int(seconds), ENVIRONMENT
    )
    rows = [verdict.cells() for verdict in verdicts]
    table.write(report.data / "correctness.tsv", ["what each case of tests/cuda/cases.tsv gave"], verify.COLUMNS, rows)
    wrong = [verdict for verdict in verdicts if not verdict.right]
    report.tell_table(
        "Cases that are not right",
        ["chapter", "options", "verdict", "said"],
        [[each.chapter, each.options, each.verdict, each.said] for each in wrong],
    )
    sums = ", ".join(verify.sums(verdicts))
    return ("failed", f"{len(wrong)} not right; {sums}") if wrong else ("done", sums)


def _sanitizer_job(report: Report, log: str, seconds: float, tool: str, command: list[str | Path]) -> Job:
    sanitize = report.tools["compute-sanitizer"]
    assert sanitize
    return report.job(log, seconds, [sanitize, *sanitizer.arguments(tool), *command])


def chapters(report: Report) -> tuple[str, str]:
    """compute-sanitizer on the chapters: each tool has to find nothing."""
    if not report.tools["compute-sanitizer"]:
        return "not here", "compute-sanitizer is not here"
    jobs: list[tuple[str, str, Job]] = []
    for chapter in report.programs:
        try:
            program = report.program("cuda", chapter)
        except StepError:
            continue
        command = [program, *SMALL[chapter].split(), "--repeat", "1", "--warmup", "0", "--quiet"]
        for tool in sanitizer.TOOLS:
            jobs.append((chapter, tool, _sanitizer_job(report, f"sanitize-{chapter}-{tool}", 60, tool, command)))
    runner.run_all([job for *_, job in jobs], min(report.jobs, 8), report.end - 3)
    ran = [each for each in jobs if each[-1].status is not None]
    results = [(*each, sanitizer.read_output(each[-1].output(), each[-1].timed_out)) for each in ran]
    rows = [
        [chapter, SMALL[chapter], tool, said.verdict, said.errors, said.warnings, said.leaks, said.said]
        for chapter, tool, _, said in results
    ]
    columns = ["chapter", "options", "tool", "verdict", "errors", "warnings", "leaks", "said"]
    report.write_table("sanitizer_chapters.tsv", "compute-sanitizer on the chapters", columns, rows)
    bad = [
        f"{chapter} {tool}: {said.verdict}: {said.said}"
        for chapter, tool, _, said in results
        if said.verdict != "clean"
    ]
    if rows and all(said.verdict == "broken" for *_, said in results):
        return "not here", bad[0]
    if bad:
        return "failed", f"{len(bad)} not clean, the first: {bad[0]}"
    if len(ran) < len(jobs):
        return "cut short", f"{len(rows)} clean, no time for {len(jobs) - len(ran)}"
    return "done", f"{len(rows)} runs clean"


def _rank(kernel: KernelProgram, expected: sanitizer.Expectation, tool: str) -> int | None:
    """In which order: first what each bug's own tool says of it and of its repaired twin, then the correct ones, then
    everything else; those that never end come last of all, and only under their own tool (else None)."""
    own = expected.nvidia_tool == tool
    if expected.slow and kernel.variant == "broken":
        return 4 if own else None
    if kernel.variant == "correct":
        return 2
    return 3 if not own else 0 if kernel.variant == "broken" else 1


def kernels(report: Report) -> tuple[str, str]:
    """simcc/tests/broken_kernels: both sanitizers on the same sources."""
    if not report.tools["compute-sanitizer"]:
        return "not here", "compute-sanitizer is not here"
    limits = table.read(LIMITS).records()
    jobs: list[tuple[int, KernelProgram, str, sanitizer.Expectation, Job]] = []
    for kernel in report.kernel_programs:
        if not kernel.program.exists():
            continue
        expected = sanitizer.read_expectation(kernel.source)
        for tool in sanitizer.TOOLS:
            rank = _rank(kernel, expected, tool)
            if rank is not None:
                log = f"kernel-{kernel.name}-{kernel.variant}-{tool}"
                job = _sanitizer_job(report, log, 8 if rank == 4 else 20, tool, [kernel.program])
                jobs.append((rank, kernel, tool, expected, job))
    if not jobs:
        raise StepError("no kernel was built")
    order = sorted(jobs, key=lambda each: each[0])
    runner.run_all([job for *_, job in order], min(report.jobs, 10), report.end - 6)
    rows: list[list[str]] = []
    count: dict[str, Counter[str]] = defaultdict(Counter)
    for _, kernel, tool, expected, job in jobs:
        if job.status is None:
            continue
        result = sanitizer.read_output(job.output(), job.timed_out)
        ours, agreement = sanitizer.judge(kernel.name, kernel.variant, tool, expected, result, limits)
        rows.append([kernel.name, kernel.variant, tool, ours, result.verdict, agreement, result.said])
        count[re.match("[^:,]+(?:, as known)?", agreement)[0]][tool] += 1
    columns = ["kernel", "variant", "tool", "simulated_device", "compute_sanitizer", "agreement", "said"]
    report.write_table(
        "sanitizer.tsv",
        "simcc/tests/broken_kernels; simulated_device: what simcc/tests holds it to; "
        "compute_sanitizer: run here, built with -O3 -lineinfo",
        columns,
        rows,
    )
    unknown = [row for row in rows if re.search("no reason we know|where ours has none|in severity", row[5])]
    report.tell_table(
        "Two sanitizers on simcc/tests/broken_kernels",
        ["", *sanitizer.TOOLS],
        [[name, *(found[tool] for tool in sanitizer.TOOLS)] for name, found in sorted(count.items())],
    )
    report.tell_table("Where they differ for no known reason", columns, unknown)
    silent = sum(count["not comparable"].values())
    if rows and silent == len(rows):
        return "not here", f"compute-sanitizer ran nothing: {rows[0][6]}"
    said = f"{len(rows)} runs, {len(unknown)} differ for no known reason, {silent} said nothing"
    missing = len(jobs) - len(rows)
    return ("cut short", f"{said}; no time for {missing}") if missing else ("done", said)
