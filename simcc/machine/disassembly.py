"""What nvdisasm prints of a cubin, read: `nvdisasm -gi -c FILE.cubin`, or with -g, which has no calls.

The code of a kernel is one section; functions that were not inlined lie in it, too. In the text of a section a comment
"//## File ..., line ..." gives the place of the instructions that follow it. With -gi several follow each other, the
innermost first: a place, then where the function it is in was called, and so on out to the kernel.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field

from machine.problem import Problem

SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+),")
PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)')
LABEL = re.compile(r"^([.$\w]+):$")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]+)\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
TARGET = re.compile(r"`\(([^)]+)\)")
ARCHITECTURE = re.compile(r"^\s*\.target\s+(sm_\w+)")
ALWAYS = ("", "@PT", "@UPT")

Place = tuple  # (file name, line)


@dataclass(frozen=True)
class Instruction:
    opcode: str  # with all that follows a point: LDS.U.128
    predicate: str  # "@P0", "@!P2", ""
    operands: str
    target: str | None  # the label it names
    places: tuple[Place, ...]  # innermost first; empty where no line is known

    @property
    def name(self) -> str:
        return self.opcode.partition(".")[0]

    @property
    def is_conditional(self) -> bool:
        return self.predicate not in ALWAYS

    @property
    def bits(self) -> int:
        """Of what one thread loads or stores: 32 where the opcode says nothing."""
        widths = [int(word) for word in re.findall(r"\.[USB]?(8|16|32|64|128)\b", self.opcode)]
        return widths[-1] if widths else 32


@dataclass
class Section:
    """The code of a kernel, in order of address."""

    symbol: str
    is_kernel: bool = False
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # label: position of the instruction behind it


@dataclass
class Program:
    architecture: str
    sections: list[Section]


def parse(text: str, path: str = "-") -> Program:
    """Raises Problem for text that is no disassembly of nvdisasm's, or has no lines."""
    architecture, sections = "", []
    section: Section | None = None
    places: tuple[Place, ...] = ()
    is_open = False  # the comments that were read last go on
    for line in text.splitlines():
        if place := PLACE.match(line):
            here = (place[1], int(place[2]))
            places = (*places, here) if is_open else (here,)
            is_open = True
        elif (code := INSTRUCTION.match(line)) and section:
            target = TARGET.search(code[4])
            section.instructions.append(
                Instruction(code[3], (code[2] or "").strip(), code[4], target[1] if target else None, places)
            )
            is_open = False
        elif started := SECTION.match(line):
            section = Section(started[1])
            sections.append(section)
            places = ()
        elif label := LABEL.match(line.strip()):
            if section and not label[1].startswith(".text."):
                section.labels[label[1]] = len(section.instructions)
        elif "STO_CUDA_ENTRY" in line and section:
            section.is_kernel = section.is_kernel or f".other {section.symbol}," in " ".join(line.split())
        elif named := ARCHITECTURE.match(line):
            architecture = named[1]
    if not any(each.instructions for each in sections):
        if architecture:  # a file without kernels
            return Program(architecture, [])
        raise Problem(2, f"{path}: expected what `nvdisasm -gi -c FILE.cubin` prints, and found no code in it")
    if not any(each.places for one in sections for each in one.instructions):
        raise Problem(2, f"{path}: no instruction has a source line: compile with -lineinfo, disassemble with -gi")
    return Program(architecture or "-", [each for each in sections if each.instructions])


def demangle(symbols: list[str]) -> list[str]:
    """Each in C++."""
    try:
        done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(3, f"c++filt (binutils) cannot be run: {error}") from None
    return done.stdout.splitlines()


def name_and_arguments(declaration: str) -> tuple[str, str]:
    """fa2_row and "64" of "void fa2_row<64>(float const*, int)"; "" for no template arguments."""
    plain = declaration.replace("(anonymous namespace)::", "")
    found = re.match(r"(?:.*?\s)??((?:\w|~|<[^<>]*>|::)*?)(?:<(.*)>)?\(", plain)
    if not found:
        return declaration, ""
    return found[1].rpartition("::")[2], without_casts(found[2] or "")


def without_casts(arguments: str) -> str:
    """Template arguments, an enumerator as its number: "4, 1" of "4, (Mode)1"."""
    return re.sub(r"\([\w:]+\)", "", arguments)
