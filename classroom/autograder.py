#!/usr/bin/env python3
"""Writes the zip that Gradescope asks for: setup.sh, run_autograder (autograder/), the course, the class's key,
and classroom/secret, from which its cases are drawn.

It holds the solutions: it is for the teacher's eyes. The same course gives the same zip, to the byte.
Exit status: 0 written; 2 a mistake in the command line; 3 it cannot be written.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import handout
from lib.files import give_up, replace_file, run_tool
from lib.tasks import TaskError

CLASSROOM = Path(__file__).resolve().parent
COURSE = CLASSROOM.parent
# What a grader never needs: history, builds, tests but their data.
LEFT_OUT = re.compile(
    r"(?:\.git|\.ci|build|tests/(?!data(?:/|$))[^/]+)(?:/|$)|(?:.*/)?__pycache__(?:/|$)|simcc/build(?:/|$)|.*\.(?:o|fast|zip)$"
)


def tree_files() -> Iterator[Path]:
    """In an order that does not depend on the disk; no link, and no program that was built beside its source."""
    for directory, names, files in os.walk(COURSE):
        at = Path(directory)
        names[:] = sorted(name for name in names if not LEFT_OUT.match((at / name).relative_to(COURSE).as_posix()))
        for path in (at / name for name in sorted(files)):
            if LEFT_OUT.match(path.relative_to(COURSE).as_posix()) or path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                if file.read(4) != b"\x7fELF":
                    yield path


def entries(key: str | None) -> Iterator[tuple[str, int, bytes]]:
    for name in ("setup.sh", "run_autograder"):
        yield name, 0o755, (CLASSROOM / "autograder" / name).read_bytes()
    if key:
        yield "key", 0o600, f"{key}\n".encode("utf-8", "surrogateescape")
    for path in tree_files():
        mode = 0o755 if os.access(path, os.X_OK) else 0o600 if path == handout.SECRET else 0o644
        yield f"tree/{path.relative_to(COURSE).as_posix()}", mode, path.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser("gradescope", description=__doc__, allow_abbrev=False)
    parser.add_argument("--out", default="build/autograder.zip", metavar="FILE.zip")
    parser.add_argument("--key")
    options = parser.parse_args()
    out = Path(options.out)
    if options.key is not None:
        status = 2
        try:
            handout.key_of(options.key, "KEY= (--key)")
            status = 3
            handout.secret()  # one of the tree's files
        except TaskError as error:
            give_up("gradescope", status, str(error))
    if out.is_dir():
        give_up("gradescope", 2, f"OUT={out}: is a directory, expected a file")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, mode, text in entries(options.key):
            info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        replace_file(out, content.getvalue())
    except OSError as error:
        give_up("gradescope", 3, f"OUT={out}: cannot be written: {error.strerror}")
    count, megabytes = len(archive.infolist()), content.tell() / 1e6
    print(f"{out}: {count} files, {megabytes:.1f} MB{', of a class' if options.key else ''}")
    print("It holds the solutions. Upload it as the assignment's autograder (classroom/README.md).")
    return 0


if __name__ == "__main__":
    run_tool("gradescope", main)
