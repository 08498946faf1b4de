"""What tools/ptxas and tools/sass share: nvcc, the sources it is given, and how a table says of which it is made."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .files import give_up


def output_of(tool: str, command: list[str], stdin: bytes | None = None) -> bytes:
    """Standard output and error of a command, whatever its exit status is; `tool` gives up where it cannot be run."""
    try:
        return subprocess.run(
            command, check=False, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ).stdout
    except OSError as error:
        give_up(tool, 3, f"{command[0]}: {error.strerror}")


def sources_and_headers(sources: list[str]) -> list[str]:
    """The sources, and what they include."""
    files = list(sources)
    for name in files:  # which grows
        included = re.findall(r'^#include "([^"]+)"', Path(name).read_text(encoding="utf-8"), re.MULTILINE)
        files += [header for header in dict.fromkeys(included) if Path(header).is_file() and header not in files]
    return files


def provenance(tool: str, nvcc: list[str], options: str, sources: list[str]) -> str:
    """How the first line of a table begins: toolkit, options and sources."""
    release = re.search(rb"release [^,]*, (V[\d.]+)", output_of(tool, [*nvcc, "--version"]))
    if not release:
        give_up(tool, 3, f"{nvcc[0]} does not say its version")
    text = b"".join(Path(name).read_bytes() for name in sources_and_headers(sources))
    checksum = output_of(tool, ["cksum"], text).split()[0].decode()
    return f"nvcc {release[1].decode()}, {options}, sources with checksum {checksum}"


def arguments_of(template: str | None) -> str:
    """Template arguments as the tables have them: "-" for none, an enumerator without its type."""
    return re.sub(r"\(\w+\)", "", template or "-")


def by_numbers(name: str, arguments: str) -> tuple:
    """D "96, 32" before "96, 64" before "128, 32"; "-" first."""
    return name, [int(digits) for digits in re.findall(r"\d+", arguments)], arguments
