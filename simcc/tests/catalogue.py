"""The programs in programs/ and the self-test of the library, built in three ways: as they stand, with another LLVM,
and --fast. Most of them are compiled together, because the headers cost more than a kernel does; with LONG=1
the first way compiles each alone, as a user would, and the other LLVM compiles all of them, not only SAMPLE."""

from __future__ import annotations

import functools
from pathlib import Path

from expectations import Expectations, read_expectations
from support import FIRST, HOME, LONG, OTHER, STRICT, TESTS, Batch, Compiler, Member, Program, Run, program

# About the names of things: these have a compilation of their own in each way. In --fast builds, where nothing is
# counted and nothing named, only the first.
ALONE = {"overloads"}
ALONE_IF_COUNTED = {
    "functions",
    "language",
    "launches",
    "libraries",
    "variables",
}
BATCH_SIZE = 11
# Accesses of every width, structures that are copied, the stack, loops that diverge, atomics and exchanges.
SAMPLE = ["trace", "selftest", "source_counts", "divergence", "shuffles"]


def _source(name: str) -> Path:
    """The file that says what is expected."""
    if name == "selftest":
        return HOME / "selftest.cu"
    return TESTS / f"programs/{name}.cu"


NAMES = sorted([*(path.stem for path in TESTS.glob("programs/*.cu")), "selftest"])
EXPECTATIONS: dict[str, Expectations] = {name: read_expectations(_source(name)) for name in NAMES}
ORDERED = [name for name in NAMES if "order" not in EXPECTATIONS[name].flags]  # their counts depend on no order
FAST = [name for name in NAMES if "not fast" not in EXPECTATIONS[name].flags]


PLACES = {name: "../selftest" if name == "selftest" else f"programs/{name}" for name in NAMES}  # in TESTS


def _alone(name: str, suffix: str, *options: str, compiler: Compiler = FIRST) -> Program:
    return program(PLACES[name], *STRICT, *options, compiler=compiler, name=f"programs.{name}{suffix}")


def _together(names: list[str], suffix: str, *options: str, compiler: Compiler = FIRST) -> dict[str, Run]:
    alone = ALONE if "--fast" in options and not LONG else ALONE | ALONE_IF_COUNTED
    runs = {name: _alone(name, suffix, *options, compiler=compiler).run for name in names if name in alone}
    rest = [name for name in names if name not in alone]
    for first in range(0, len(rest), BATCH_SIZE):
        members = [Member(name, _source(name)) for name in rest[first : first + BATCH_SIZE]]
        batch = Batch(f"programs.{first // BATCH_SIZE}{suffix}", members, *STRICT, *options, compiler=compiler)
        runs.update(batch.runs())
    return runs


RUN: dict[str, Run] = {name: _alone(name, "").run for name in NAMES} if LONG else _together(NAMES, "")


@functools.cache
def fast() -> dict[str, Run]:
    """Optimized as people have it with LONG=1 alone: that takes as long as half of all other programs."""
    return _together(FAST, ".fast", "--fast", *([] if LONG else ["-O1"]))


@functools.cache
def with_other_compiler() -> dict[str, Run]:
    if not OTHER:
        return {}
    if LONG:
        return _together(NAMES, ".other", compiler=OTHER)
    # A library of its own would cost more than these programs do.
    members = [Member(name, _source(name)) for name in SAMPLE]
    return Batch("programs.sample", members, *STRICT, compiler=OTHER, library=FIRST).runs()
