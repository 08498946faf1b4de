"""What tools/ptxas and tools/sass share: nvcc, the sources it is given, the loops of what it makes of
them, and how a table says of which sources it is made."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .files import give_up

SIMCC = Path(__file__).resolve().parents[2] / "simcc/simcc"
COMMON = Path(__file__).resolve().parents[2] / "common"


class NvccError(Exception):
    """A status and a line, with which the tool is to give up. Threads raise it: one of them is told of, not each."""


def _output_of(command: list[str], stdin: bytes | None = None, together: bool = True) -> subprocess.CompletedProcess:
    errors = subprocess.STDOUT if together else subprocess.PIPE
    try:
        return subprocess.run(command, check=False, input=stdin, stdout=subprocess.PIPE, stderr=errors)
    except OSError as error:
        raise NvccError(3, f"{command[0]}: {error.strerror}") from error


def output_of(tool: str, command: list[str], stdin: bytes | None = None) -> bytes:
    """Standard output and error of a command, whatever its exit status is; `tool` gives up where it cannot be run."""
    try:
        return _output_of(command, stdin).stdout
    except NvccError as error:
        give_up(tool, *error.args)


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


def provenance(tool: str, nvcc: list[str], options: str, sources: list[str]) -> str:
    """How the first line of a table begins: toolkit, options and sources."""
    release = re.search(rb"release [^,]*, (V[\d.]+)", output_of(tool, [*nvcc, "--version"]))
    if not release:
        give_up(tool, 3, f"{nvcc[0]} does not say its version")
    return f"nvcc {release[1].decode()}, {options}, {checksum_of(sources)}"


CODE_OR_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/", re.DOTALL)


def code_of(text: str) -> str:
    """C without comments and without the width of white space. Lines keep their numbers: tables name them."""
    bare = CODE_OR_COMMENT.sub(lambda match: match[1] or " " + "\n" * match[0].count("\n"), text)
    return "\n".join(" ".join(line.split()) for line in bare.split("\n"))


def checksum_of(sources: list[str]) -> str:
    """The part of a title that needs no nvcc."""
    text = "".join(code_of(Path(name).read_text(encoding="utf-8")) for name in sources_and_headers(sources))
    return f"sources with checksum {zlib.crc32(text.encode())}"


def arguments_of(template: str | None) -> str:
    """Template arguments as the tables have them: "-" for none, an enumerator without its type."""
    return re.sub(r"\(\w+\)", "", template or "-")


def by_numbers(name: str, arguments: str) -> tuple:
    """D "96, 32" before "96, 64" before "128, 32"; "-" first."""
    return name, [int(digits) for digits in re.findall(r"\d+", arguments)], arguments


# ---- machine code ----


def _disassembled(nvcc: list[str], nvdisasm: str, source: str, arch: str, folder: Path) -> Path:
    """The file with the machine code of a source, as text."""
    cubin, text = folder / f"{Path(source).name}.{arch}.cubin", folder / f"{Path(source).name}.{arch}.sass"
    command = [
        *nvcc,
        "-std=c++17",
        "-O3",
        "-lineinfo",
        f"-arch={arch}",
        f"-I{COMMON}",
        "-cubin",
        "-o",
        str(cubin),
        source,
    ]
    said = _output_of(command).stdout
    if not cubin.exists():
        raise NvccError(1, f"{source} does not compile for {arch}\n{said.decode(errors='replace')}".rstrip())
    done = _output_of([nvdisasm, "-gi", "-c", str(cubin)], together=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise NvccError(3, f"{nvdisasm} cannot read what nvcc made of {source}: {said}")
    text.write_bytes(done.stdout)
    return text


def loops_of(tool: str, nvcc: list[str], nvdisasm: str, sources: list[str], archs: list[str]) -> list[dict]:
    """The records of `simcc --loops` for all kernels; `tool` gives up where nvcc or nvdisasm cannot be run."""
    if not shutil.which(nvdisasm):
        give_up(tool, 3, f"NVDISASM={nvdisasm}: expected a program")
    with tempfile.TemporaryDirectory(prefix=f"{tool}-") as scratch, ThreadPoolExecutor(2) as pool:
        jobs = [(source, arch) for arch in archs for source in sources]
        try:
            texts = list(pool.map(lambda job: _disassembled(nvcc, nvdisasm, *job, Path(scratch)), jobs))
        except NvccError as error:
            give_up(tool, *error.args)
        done = subprocess.run([SIMCC, "--loops", *texts], capture_output=True, check=False, text=True)
    if done.returncode != 0:
        give_up(tool, done.returncode, done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]
