"""The programs in programs/ and the self-test of the library, built in three ways: as they stand, with the other
compiler, and --fast. What the other two compute and count must be the same, so most of them are compiled together."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Callable

from expectations import Expectations, read_expectations
from support import FIRST, HOME, OTHER, STRICT, TESTS, Batch, Compiler, Member, Outcome, Program, program

Run = Callable[..., Outcome]  # run(*arguments, **environment), as Program.run

# Several files each, or about the names of things: these have a compilation of their own in each way.
ALONE = {
    "functions",
    "language",
    "launches",
    "libraries",
    "many_files",
    "overloads",
    "same_names",
    "templates",
    "variables",
}
BATCH_SIZE = 8


def _source(name: str) -> Path:
    """The file that says what is expected."""
    if name == "selftest":
        return HOME / "selftest.cu"
    place = TESTS / "programs" / name
    return place / "main.cu" if place.is_dir() else place.with_suffix(".cu")


def _names() -> list[str]:
    entries = (TESTS / "programs").iterdir()
    names = {entry.stem for entry in entries if entry.suffix == ".cu" or (entry / "main.cu").exists()}
    return sorted(names | {"selftest"})


NAMES = _names()
EXPECTATIONS: dict[str, Expectations] = {name: read_expectations(_source(name)) for name in NAMES}
ORDERED = [name for name in NAMES if "order" not in EXPECTATIONS[name].flags]  # their counts depend on no order
FAST = [name for name in NAMES if "not fast" not in EXPECTATIONS[name].flags]


PLACES = {name: "../selftest" if name == "selftest" else f"programs/{name}" for name in NAMES}  # in TESTS


def _alone(name: str, suffix: str, *options: str, compiler: Compiler = FIRST) -> Program:
    return program(PLACES[name], *STRICT, *options, compiler=compiler, name=f"programs.{name}{suffix}")


def _together(names: list[str], suffix: str, *options: str, compiler: Compiler = FIRST) -> dict[str, Run]:
    runs = {name: _alone(name, suffix, *options, compiler=compiler).run for name in names if name in ALONE}
    rest = [name for name in names if name not in ALONE]
    for first in range(0, len(rest), BATCH_SIZE):
        members = [Member(name, _source(name)) for name in rest[first : first + BATCH_SIZE]]
        batch = Batch(f"programs.{first // BATCH_SIZE}{suffix}", members, *STRICT, *options, compiler=compiler)
        runs.update({member.name: functools.partial(batch.run, member.name) for member in members})
    return runs


PROGRAMS = {name: _alone(name, "") for name in NAMES}
RUN: dict[str, Run] = {name: made.run for name, made in PROGRAMS.items()}


@functools.cache
def fast() -> dict[str, Run]:
    return _together(FAST, ".fast", "--fast")


@functools.cache
def with_other_compiler() -> dict[str, Run] | None:
    return _together(NAMES, ".other", compiler=OTHER) if OTHER else None
