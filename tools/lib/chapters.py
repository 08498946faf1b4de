"""The chapters, in their order, and the program of each. common/chapters.mk finds them the same way."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def programs_of(tree: Path) -> dict[str, str]:
    """{chapter: program} of a tree of the course: its directories named like 01_naive that have a Makefile."""
    makefiles = sorted(tree.glob("[0-9][0-9]_*/Makefile"))
    return {path.parent.name: re.findall(r"(?m)^NAME := (.+)$", path.read_text())[0] for path in makefiles}


PROGRAMS = programs_of(ROOT)
