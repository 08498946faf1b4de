"""What tools/ptxas, tools/sass and tools/ceilings share: nvcc, the sources it is given, the loops of what it makes of
them, how a table says of which sources it is made, and the commands that compare tables."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import table
from .files import give_up

SIMCC = Path(__file__).resolve().parents[2] / "simcc/simcc"
COMMON = Path(__file__).resolve().parents[2] / "common"


def output_of(tool: str, command: list[str], stdin: bytes | None = None) -> bytes:
    """Standard output and error of a command, whatever its exit status is; `tool` gives up where it cannot be run."""
    try:
        done = subprocess.run(command, check=False, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        give_up(tool, 3, f"{command[0]}: {error.strerror}")
    return done.stdout


def sources_and_headers(sources: list[str]) -> list[str]:
    """The sources, and what they include."""
    files = list(sources)
    for name in files:  # which grows
        included = re.findall(r'^#include "([^"]+)"', Path(name).read_text(encoding="utf-8"), re.MULTILINE)
        for header in dict.fromkeys(included):
            places = [str(Path(name).parent / header), str(COMMON / header)]
            place = next((place for place in places if Path(place).is_file()), "")
            if place and place not in files:
                files.append(place)
    return files


CODE_OR_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/", re.DOTALL)


def code_of(text: str) -> str:
    """C without comments and without the width of white space. Lines keep their numbers: tables name them."""
    bare = CODE_OR_COMMENT.sub(lambda match: match[1] or " " + "\n" * match[0].count("\n"), text)
    return "\n".join(" ".join(line.split()) for line in bare.split("\n"))


def checksum_of(sources: list[str]) -> str:
    """The part of a title that needs no nvcc."""
    text = "".join(code_of(Path(name).read_text(encoding="utf-8")) for name in sources_and_headers(sources))
    return f"sources with checksum {zlib.crc32(text.encode())}"


# ---- tables ----


@dataclass(frozen=True)
class Kind:
    """The tables of a tool."""

    tool: str
    columns: list[str]
    about: str  # how their titles end

    def title(self, nvcc: list[str], sources: list[str]) -> str:
        """Toolkit, options and sources."""
        release = re.search(rb"release [^,]*, (V[\d.]+)", output_of(self.tool, [*nvcc, "--version"]))
        if not release:
            give_up(self.tool, 3, f"{nvcc[0]} does not say its version")
        return f"nvcc {release[1].decode()}, -O3, {checksum_of(sources)}{self.about}"

    def read(self, path: str | Path) -> table.Table:
        """Raises TableError."""
        return table.read_as(path, self.columns, self.tool)

    def show(self, path: str, title: str, lines: list[list[str]], words: Sequence[str]) -> list[list[str]]:
        """Prints a title, without the checksum, which tells a reader nothing. The lines below it, of which the first
        names the columns, without the second one, arch, where all are of one."""
        if len(lines) == 1:
            give_up(self.tool, 2, f"{path}: no row holds {' '.join(words)}")
        print(re.sub(r", sources with checksum \d+", "", title))
        return lines if len({line[1] for line in lines[1:]}) > 1 else [[line[0], *line[2:]] for line in lines]

    def unchanged(self, path: str, nvcc: str, sources: str) -> int:
        """The command "unchanged": is the table of these sources and this nvcc?"""
        return 0 if self.read(path).title == self.title(shlex.split(nvcc), sources.split()) else 1

    def compare(self, old: str, new: str) -> int:
        """The command "compare": do they hold the same rows?"""
        before, after = self.read(old).rows, self.read(new).rows
        if before == after:
            return 0
        first = next((" ".join(row) for row in after if row not in before), "fewer rows")
        give_up(self.tool, 1, f"{old}: stale, run make {self.tool}; nvcc now says: {first}")


def run_command(tool: str, doc: str, commands: dict[Callable[..., int], str]) -> int:
    """Calls the function that the command line names first, with the other words there. The text beside a function has
    their names: "path words*"."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parsers = parser.add_subparsers(required=True)
    for function, words in commands.items():
        command = parsers.add_parser(function.__name__)
        command.set_defaults(function=function)
        for word in words.split():
            name = word.rstrip("?*+")
            command.add_argument(name, nargs=word[len(name) :] or None)
    given = vars(parser.parse_args())
    try:
        return given.pop("function")(**given)
    except OSError as error:
        give_up(tool, 2, f"{error.filename}: {error.strerror}")
    except ValueError as error:
        give_up(tool, 2, str(error))


def print_aligned(lines: Sequence[Sequence[str]]) -> None:
    """The first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    for name, *cells in lines:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:])]
        print("  ".join([name.ljust(widths[0]), *aligned]).rstrip())


def arguments_of(template: str | None) -> str:
    """Template arguments as the tables have them: "-" for none, an enumerator without its type."""
    return re.sub(r"\(\w+\)", "", template or "-")


def by_numbers(name: str, arguments: str) -> tuple:
    """D "96, 32" before "96, 64" before "128, 32"; "-" first."""
    return name, [int(digits) for digits in re.findall(r"\d+", arguments)], arguments


# ---- machine code ----


def _disassembled(tool: str, nvcc: list[str], nvdisasm: str, source: str, arch: str, folder: Path) -> Path:
    """The file with the machine code of a source, as text."""
    cubin, text = folder / f"{Path(source).name}.{arch}.cubin", folder / f"{Path(source).name}.{arch}.sass"
    options = ["-std=c++17", "-O3", "-lineinfo", f"-arch={arch}", f"-I{COMMON}", "-cubin", "-o", str(cubin)]
    said = output_of(tool, [*nvcc, *options, source])
    if not cubin.exists():
        give_up(tool, 1, f"{source} does not compile for {arch}\n{said.decode(errors='replace')}".rstrip())
    done = subprocess.run([nvdisasm, "-gi", "-c", cubin], check=False, capture_output=True)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        give_up(tool, 3, f"{nvdisasm} cannot read what nvcc made of {source}: {said}")
    text.write_bytes(done.stdout)
    return text


def loops_of(tool: str, nvcc: list[str], nvdisasm: str, sources: list[str], archs: list[str]) -> list[dict]:
    """The records of `simcc --loops` for all kernels; `tool` gives up where nvcc or nvdisasm cannot be run."""
    if not shutil.which(nvdisasm):
        give_up(tool, 3, f"NVDISASM={nvdisasm}: expected a program")
    with tempfile.TemporaryDirectory(prefix=f"{tool}-") as scratch, ThreadPoolExecutor(2) as pool:
        jobs = [(source, arch) for arch in archs for source in sources]
        texts = list(pool.map(lambda job: _disassembled(tool, nvcc, nvdisasm, *job, Path(scratch)), jobs))
        done = subprocess.run([SIMCC, "--loops", *texts], capture_output=True, check=False, text=True)
    if done.returncode != 0:
        give_up(tool, done.returncode, done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]
