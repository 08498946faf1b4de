#!/usr/bin/env python3
"""Builds the programs that suites of simcc name, in parallel: build.py [SUITE...] (all suites)

CC and CXX choose the compiler. Exit status: 0; 1 something cannot be built.
"""

from __future__ import annotations

import concurrent.futures
import fcntl
import importlib
import os
import sys

import support


def build(suites: list[str]) -> str | None:
    """All programs that these suites name; what went wrong, or None."""
    jobs = len(os.sched_getaffinity(0))
    for suite in suites:
        try:
            importlib.import_module(f"test_{suite}")
        except (ImportError, SyntaxError, ValueError, OSError, AssertionError) as error:  # its process will say so, too
            return f"test_{suite}.py: {error}"
    programs = sorted(support.REGISTERED.values(), key=lambda made: (made.text is None, made.name))
    missing = [made for made in programs if not made.place.exists()]
    if not missing:
        return None
    print(f"building {len(missing)} of {len(programs)} programs", flush=True)
    # The library first: each program would wait for it. On this thread, because make has its own jobs.
    for compiler in {made.library or made.compiler for made in missing}:
        library = ["make", "-s", f"-j{jobs}", "-C", support.HOME, f"CC={compiler.cc}", f"CXX={compiler.cxx}", "lib"]
        place = compiler.folder.parent  # of the library; simcc, which others may run now, locks it so, too
        place.mkdir(parents=True, exist_ok=True)
        with open(place / ".lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made_library = support.run(library, cpu_seconds=300)
        if made_library.status != 0:
            return f"the library for {compiler.cxx} cannot be built:\n{made_library.err}"
        support.LIBRARIES[compiler] = place / "libsim.a"
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(lambda made=made: made.path) for made in missing]
        errors = [str(each.exception()) for each in waiting if each.exception()]
    times = os.times()
    print(f"built in {times.children_user + times.children_system:.1f} s of CPU", flush=True)
    return "\n".join(errors) or None


def main() -> int:
    suites = [name.partition(":")[0] for name in sys.argv[1:]]
    wrong = build(suites or sorted(path.stem[len("test_") :] for path in support.TESTS.glob("test_*.py")))
    if wrong:
        print(wrong, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
