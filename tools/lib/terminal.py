"""What tools print for people: color where there is a terminal, columns, paragraphs of 80 columns."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Sequence

CODES = {"good": 32, "bad": 31, "note": 33, "dim": 2, "bold": 1}


def has_color() -> bool:
    """Is it a terminal that can, where nobody said NO_COLOR?"""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def paint(text: str, style: str) -> str:
    return f"\033[{CODES[style]}m{text}\033[0m" if has_color() else text


def plain(text: str) -> str:
    return re.sub(r"\033\[\d+m", "", text)


def bytes_as_text(count: float) -> str:
    """82.2 kB: in powers of 1000, as the programs print them."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def print_columns(sides: str, lines: Sequence[Sequence[object]]) -> None:
    """Rows of cells, each column l(eft) or r(ight); a capital letter stands close to the column before it."""
    rows = [[str(cell) for cell in line] for line in lines]
    widths = [max(len(plain(row[column])) for row in rows) for column in range(len(sides))]
    for row in rows:
        text = ""
        for side, width, cell in zip(sides, widths, row):
            fill = " " * (width - len(plain(cell)))
            text += (" " if side.isupper() else "  ") + (cell + fill if side in "lL" else fill + cell)
        print(text.rstrip())


def print_prose(text: str) -> None:
    """A paragraph for a terminal of 80 columns."""
    print(textwrap.fill(text, 79, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
