"""Texts that are kept beside a suite, and what REMAKE=1 does with them."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

REMAKE = bool(os.environ.get("REMAKE"))


def write(path: Path, text: str) -> None:
    """Always fails: what is kept has to be read, and an exported REMAKE must pass nothing. Not with LONG=1, which
    leaves some kernels out."""
    assert not os.environ.get("LONG"), "REMAKE=1 without LONG=1: with it some are left out"
    path.write_text(text, encoding="utf-8")
    raise AssertionError(f"{path.name} is written anew: read its difference, then run without REMAKE")


def changes(path: Path, found: list[str], of: str = "") -> str:
    """The first lines in which `found` differs from what is kept; with REMAKE=1 it is kept from now on. `of`: of whose
    lines, NAME: ..., only these names' are looked at."""
    if REMAKE:
        write(path, "".join(f"{line}\n" for line in found))
    kept = path.read_text(encoding="utf-8").splitlines()
    if of:
        kept = [line for line in kept if line.partition(":")[0] in of.split()]
    lines = [line for line in difflib.unified_diff(kept, found, lineterm="", n=0) if line[0] in "+-"]
    return "\n".join(lines[2:14])
