#!/usr/bin/env python3
"""Runs the two builds of bench.cu on one core and prints what they measured, with the ratios that matter.

    table.py DIRECTORY      which holds the programs bench and bench.fast

Called: make bench-sim. Exit status: 0; 1 a program failed; 2 usage.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

ALWAYS = "memcheck,synccheck"
CHECKS = [ALWAYS, f"{ALWAYS},initcheck", f"{ALWAYS},racecheck", "all"]
Measured = dict[str, tuple[float, str]]  # by name: a number and its unit


def measure(program: Path, checks: str | None = None) -> Measured:
    """The lines of a program, "name<TAB>number<TAB>unit"."""
    environment = {**os.environ, "SIM_THREADS": "1", **({"SIM_CHECK": checks} if checks else {})}
    run = subprocess.run([program], check=True, env=environment, stdout=subprocess.PIPE, text=True)
    rows = (line.split("\t") for line in run.stdout.splitlines())
    return {name: (float(number), unit) for name, number, unit, *_ in rows}


def processor() -> str:
    found = re.search(r"^model name[^:]*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else ""


def print_table(counting: list[Measured], plain: Measured) -> None:
    """The columns of counting are those of CHECKS."""
    print(f"{'loop':<16} {'memcheck':>10} {'+initcheck':>10} {'+racecheck':>10} {'all checks':>10} {'plain':>8}")
    print(f"{'':<16} {'synccheck':>10}")
    for name, (_, unit) in counting[0].items():
        if unit == "M/s":
            cells = "".join(f" {column[name][0]:10.0f}" for column in counting)
            print(f"{name:<16}{cells} {plain[name][0]:8.0f}")
    cells = "".join(f" {column['barrier'][0]:7.1f} ns" for column in counting)
    print(f"{'barrier':<16}{cells} {plain['barrier'][0]:5.1f} ns  a thread")
    rows = [column["rows"][0] for column in counting]
    print(f"{'price, on rows':<16} {'':>10}" + "".join(f" {rows[0] / each:9.2f}x" for each in rows[1:]))
    print(f"\n{'what it must reach':<58} {'measured':>8} {'target':>8}")
    for what, measured, target in (
        ("rows with all counters, memcheck, synccheck: at least", f"{rows[0]:6.0f} M/s", f"{100:4} M/s"),
        ("rows with all counters and all four checks: at least", f"{rows[3]:6.0f} M/s", f"{60:4} M/s"),
        (
            "rows, plain build, in times of the same loops in C: at most",
            f"{plain['rows / C'][0]:7.2f} x",
            f" {1.5:5.1f} x",
        ),
        ("a barrier, plain build, a thread: at most", f"{plain['barrier'][0]:6.1f} ns", f" {15:5} ns"),
    ):
        print(f"{what:<58} {measured} {target}")


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: table.py DIRECTORY-OF-THE-PROGRAMS", file=sys.stderr)
        return 2
    programs = Path(sys.argv[1])
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    print(f"The simulated device on {processor()}, {os.environ.get('CXX', 'g++')}, {today}")
    print("Million thread-level accesses per second, one core, best of five. All counters are on")
    print("in every column but the last, which is the plain build.\n", flush=True)
    try:
        print_table([measure(programs / "bench", checks) for checks in CHECKS], measure(programs / "bench.fast"))
    except OSError as error:
        print(f"table.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"table.py: {error.cmd[0]}: ended with status {error.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
