"""What a command prints, and what of it must be the same on every machine. Used by tools/pages and tools/answer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path


def run(command: str, directory: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """(exit status, standard output and error together, without blanks at the ends of lines) of a shell's command.
    environment: that of this process if None."""
    given = {**(os.environ if environment is None else environment), "NO_COLOR": "1", "COLUMNS": "80"}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, shell=True, check=False, cwd=directory, env=given, **streams)
    printed = done.stdout.decode(errors="surrogateescape")
    return done.returncode, re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE)


def comparable(printed: str) -> str:
    """Without what differs from machine to machine: times, a time at the end of a line, rounding errors."""
    printed = re.sub(r"^(\s*(?:time|error)\b).*$", r"\1", printed, flags=re.MULTILINE)
    printed = re.sub(r"\s+[\d.]+ [num]?s$", "", printed, flags=re.MULTILINE)
    printed = re.sub(r"\bverified +[\d.]+(?:e[-+]\d+)?\b", "verified", printed)
    return re.sub(r"error \S+ at \S+(?: tolerance \S+)?(?: power \S+)?", "error", printed)
