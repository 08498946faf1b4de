"""Files that are never half-written, and the one line with which a tool gives up."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def replace_file(path: str | Path, text: str) -> None:
    """Writes beside it and renames: a reader sees the old file or the new. Raises OSError, leaving nothing behind."""
    new = Path(f"{path}.new")
    try:
        with new.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def give_up(tool: str, status: int, text: str) -> NoReturn:
    """Exit statuses of every tool: 1 what was looked at is wrong, 2 usage or unusable input, 3 environment."""
    sys.stdout.flush()
    print(f"{tool}: {text}", file=sys.stderr)
    raise SystemExit(status)
