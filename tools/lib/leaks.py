"""Does a directory hold solutions of the classroom's tasks?

A solution is found by three consecutive lines of it (by all of it when it has fewer). Before lines are compared they
lose their blanks, their comments and the mark of a diff; lines that say nothing by themselves are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

CONSECUTIVE = 3
NOTHING = re.compile(r"[{}]*|#pragma(no)?unroll\w*|__syncthreads\(\);")
MARKS = frozenset("-+<>|")


def normalized(text: str) -> list[tuple[int, str]]:
    """(line number, what counts of it) of the lines that say something."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1] in MARKS:
            line = re.sub(r"^[-+<>|]+(?=[\s{}]|$)", "", line)
        line = "".join(line.partition("//")[0].split())
        if not NOTHING.fullmatch(line):
            lines.append((number, line))
    return lines


class Solutions:
    """Solutions to look for: {name: text}."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self.windows: dict[tuple[str, ...], str] = {}
        for name, text in texts:
            lines = [line for _, line in normalized(text)]
            length = min(CONSECUTIVE, len(lines))
            for first in range(len(lines) - length + 1 if length else 0):
                self.windows.setdefault(tuple(lines[first : first + length]), name)
        self.begins = {window[0] for window in self.windows}

    def find(self, text: str) -> list[tuple[int, str]]:
        """(line number, name of the solution) of each place in a text."""
        lines = normalized(text)
        found = []
        for first, (number, begin) in enumerate(lines):
            if begin not in self.begins:
                continue
            for length in range(1, CONSECUTIVE + 1):
                window = tuple(line for _, line in lines[first : first + length])
                if len(window) == length and window in self.windows:
                    found.append((number, self.windows[window]))
        return found

    def find_in(self, directory: Path) -> list[str]:
        """One line for each place in the text files below a directory: "FILE:LINE: solution of NAME"."""
        found = []
        for path in sorted(path for path in directory.rglob("*") if path.is_file()):
            content = path.read_bytes()
            if b"\0" in content:
                continue
            text = content.decode("utf-8", errors="replace")
            found += [
                f"{path.relative_to(directory)}:{line}: lines of the solution of {name}"
                for line, name in self.find(text)
            ]
        return found
