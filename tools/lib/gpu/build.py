"""The first steps: what machine this is, and everything built on it."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from .. import table
from ..chapters import PROGRAMS
from . import runner
from .report import KernelProgram, Report
from .runner import Job

BUILD_SECONDS = 150  # what is not built by then shall not cost the steps that need it less


def machine(report: Report) -> tuple[str, str]:
    """GPU, driver, toolkit, processor: facts that belong beside every number. No name of the machine or its user."""

    def says(log: str, *command: str | Path) -> str:
        job = report.run(log, 20, command)
        return job.output() if job.ok else ""

    def first_line(log: str, *command: str | Path) -> str:
        return says(log, *command).partition("\n")[0]

    def asked_for(*facts: str) -> str:
        return first_line("nvidia-smi", "nvidia-smi", "--format=csv,noheader", "--query-gpu=" + ",".join(facts))

    more = ("compute_cap", "memory.total", "clocks.max.sm", "clocks.max.mem")
    names = ("compute_capability", "memory", "max_sm_clock", "max_memory_clock")
    said = asked_for("name", "driver_version", *more) or asked_for("name", "driver_version")
    gpu, driver, *others = re.split(r"\s*,\s*", said) + [""] * 6
    toolkit = re.search(r"V[\d.]+", says("nvcc-version", report.nvcc, "--version"))
    processors = runner.read_text(Path("/proc/cpuinfo"))
    model = re.search(r"^model name\s*:\s*(.*)$", processors, re.MULTILINE)
    torch = first_line("torch-version", "python3", "-c", "import torch; print(torch.__version__)")
    facts: dict[str, str | int | None] = {
        "gpu": gpu or None,
        "driver": driver or None,
        **{name: fact or None for name, fact in zip(names, others)},
        "nvcc": toolkit[0] if toolkit else None,
        "arch": report.arch,
        "processor": model[1] if model else None,
        "cores": len(re.findall(r"^processor\b", processors, re.MULTILINE)),
        "torch": torch,
        "commit": first_line("git", "git", "-C", report.root, "rev-parse", "--short", "HEAD"),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **{name: "yes" if path else "no" for name, path in sorted(report.tools.items())},
    }
    report.about = [
        f"{gpu or 'a GPU that nvidia-smi does not name'}, driver {driver or '?'}, nvcc {facts['nvcc'] or '?'}, "
        f"{facts['processor'] or 'a processor'} with {facts['cores']} cores, {facts['date']}"
        + (f", commit {facts['commit']}" if facts["commit"] else "")
    ]
    table.write(report.data / "machine.tsv", ["the machine of this report"], ["fact", "value"], list(facts.items()))
    return ("done", report.about[0]) if gpu else ("failed", "nvidia-smi does not say which GPU this is")


def _copy_tree(report: Report, name: str) -> None:
    """What a build needs, so that the user's own programs stay as they are: build/ there is another device's."""
    tree = report.work / name
    tree.mkdir()
    for part in ("common", "gpu", "plots", "tools", "simcc"):
        if (report.root / part).is_dir():  # and not what was built in it
            left_out = ["__pycache__"] + (["build", "tests"] if part == "simcc" else [])
            shutil.copytree(report.root / part, tree / part, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
    for chapter in report.programs:
        (tree / chapter).mkdir()
        for pattern in ("*.c", "*.h", "*.cu", "*.cuh", "Makefile"):
            for path in (report.root / chapter).glob(pattern):
                shutil.copy2(path, tree / chapter)
    report.trees[name] = tree


def programs(report: Report) -> tuple[str, str]:
    """Chapters for the GPU and for the simulated device, probes, broken kernels."""
    copies = ["cuda"] if "sim" in report.trees else ["cuda", "sim"]  # that one may have been given
    for tree in copies:
        _copy_tree(report, tree)

    def make(tree: str, chapter: str, jobs: int) -> Job:
        command = ["make", "--no-print-directory", "-s", f"-j{jobs}", "-C", report.trees[tree] / chapter]
        settings = [f"DEVICE={tree}", f"ARCH={report.arch}", f"NVCC={report.nvcc}", "WERROR="]
        goal = PROGRAMS[chapter] if tree == "sim" else "build"
        return report.job(f"build-{tree}-{chapter}", 100, [*command, *settings, goal])

    # The harness is built with the first chapter of a tree, on all cores; after that chapters do not meet.
    first, *others = report.programs
    jobs = [make(tree, first, report.jobs) for tree in copies]
    runner.run_all(jobs, report.jobs, report.end)
    nvcc = [report.nvcc, "-std=c++17", "-O3", f"-arch={report.arch}"]
    rules, simcc = report.root / "gpu/rules.cu", report.trees["sim"] / "simcc/simcc"
    rest = [
        *(make(tree, chapter, 2) for tree in copies for chapter in others),
        report.job("build-roofs", 60, [*nvcc, report.root / "gpu/roofs.cu", "-o", report.work / "roofs"]),
        report.job("build-rules", 60, [*nvcc, rules, "-o", report.work / "rules"]),
        report.job("build-rules-sim", 60, [simcc, "-O1", rules, "-o", report.work / "rules.sim"]),
        *_kernel_jobs(report),
    ]
    runner.run_all(rest, report.jobs, min(time.monotonic() + BUILD_SECONDS, report.end - 5))
    jobs += rest
    bad = [job for job in jobs if not job.ok]
    if not bad:
        return "done", f"{len(jobs)} builds"
    said = "no time left" if bad[0].status is None else bad[0].last_line()
    return "failed", f"{len(bad)} of {len(jobs)} builds failed, the first: {bad[0].log.name}: {said}"


def _kernel_jobs(report: Report) -> list[Job]:
    """simcc/tests/broken_kernels, each with its bug and without, as the user of a GPU would build them."""
    if not report.tools.get("compute-sanitizer"):
        return []  # nothing else runs them
    folder = report.root / "simcc/tests/broken_kernels"
    built = report.work / "kernels"
    built.mkdir()
    jobs = []
    for path in sorted([*folder.glob(f"{report.kernels}.cu"), *folder.glob(f"correct/{report.kernels}.cu")]):
        correct = path.parent.name == "correct"
        for variant, define in {"correct": []}.items() if correct else {"broken": [], "fixed": ["-DFIXED"]}.items():
            program = built / f"{path.stem}.{variant}"
            report.kernel_programs.append(KernelProgram(path.stem, variant, path, program))
            command = [report.nvcc, "-std=c++17", "-w", "-lineinfo", f"-arch={report.arch}", *define, path]
            jobs.append(report.job(f"build-{program.name}", 60, [*command, "-o", program]))
    return jobs
