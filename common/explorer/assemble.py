#!/usr/bin/env python3
"""Puts the page of a run together: page.html with each `<!-- room: FILE ... -->` replaced by those files' text.

    assemble.py BEFORE AFTER    writes two files: what stands before the data, and after it
    assemble.py -               prints the whole page, `<!-- data -->` where the data goes

Reads: the files beside it. Called: common/chapter.mk for every program, tools/explorer. Exit status: 0; 1 the template
is not one; 2 usage, or a file that cannot be read or written.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = b"<!-- data -->"


def small(text: bytes) -> bytes:
    """A style or a script without what only its reader needs: comments that begin a line, indents, empty lines."""
    text = re.sub(rb"(?ms)^[ \t]*/\*.*?\*/[ \t]*$", b"", text)
    return re.sub(rb"(?m)^\s+", b"", text)


def page() -> bytes:
    """The whole page. Raises OSError."""

    def files(room: re.Match[bytes]) -> bytes:
        return b"".join(small((HERE / name).read_bytes()) for name in room[1].decode().split())

    return re.sub(rb"[ \t]*<!-- room: ([^>]+?) -->\n", files, (HERE / "page.html").read_bytes())


def main() -> int:
    paths = sys.argv[1:]
    if paths != ["-"] and len(paths) != 2:
        print("usage: assemble.py BEFORE AFTER | -", file=sys.stderr)
        return 2
    try:
        parts = page().split(DATA)
        if len(parts) != 2:
            print(f"assemble.py: page.html: expected one {DATA.decode()}", file=sys.stderr)
            return 1
        if paths == ["-"]:
            sys.stdout.buffer.write(DATA.join(parts))
        else:
            for path, part in zip(paths, parts):
                Path(path).write_bytes(part)
    except OSError as error:
        print(f"assemble.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
