"""The last pass of simcc: what of this file is device code belongs to this file alone, as with nvcc without -rdc.

C++ gives templates and inline functions to the whole program: of those with one name the linker keeps one. nvcc
compiles the device code of each file for itself, so two files may have a template `row` of different bodies. Here, what
kernels reach (functions, shared arrays, tables) leaves its COMDAT group, and device code means a local label where it
names it. The symbol stays, weak, for all others: host code, which C++ gives one __host__ __device__ function for the
whole program, and a file that launches a kernel instantiated in another. Kernels and device variables are this file's
own in its host code too.
"""

from __future__ import annotations

import re

from passes.symbols import BYTES_ALONE

# Behind the $ of an immediate value too.
SYMBOL = r'(?<![\w.%"])(?<![\w.]\$)[A-Za-z_.][\w.$]*'


def pattern(text: str) -> re.Pattern:
    return re.compile(text, re.ASCII)


A_SYMBOL = pattern(SYMBOL)
PLAIN_LINES = (*BYTES_ALONE, "\t.loc\t", "\t.loc ", "\t.cfi_")
# There these name its own labels alone, or symbol@dtpoff.
OF_THE_DEBUGGER = (*PLAIN_LINES, "\t.long", "\t.value", "\t.short")
LABEL = pattern(rf"({SYMBOL}):")
PLAIN_SECTION = pattern(r"\s+(\.(?:text|data|bss))\b")
SECTION = pattern(r'\s+\.section\s+("[^"]*"|[^\s,]+)(.*)')
GROUP = pattern(r",([^,]+),comdat\b")
GROUP_FLAG = pattern(r'^(\s+\.section\s+(?:"[^"]*"|[^\s,]+),"\w*)G')
FUNCTION = pattern(rf"\s+\.type\s+({SYMBOL}),\s*[@%]function")
TYPE = pattern(rf"\s+\.type\s+({SYMBOL}),")
GLOBAL = pattern(rf"\s+\.globl\s+({SYMBOL})$")
SET = pattern(rf"\s+\.set\s+({SYMBOL}),\s*({SYMBOL})$")
KERNEL = pattern(r"\s*#\s*sim_kernel\b")
UNIQUE = pattern(r"\bgnu_unique_object\b")
# An instruction or data that holds addresses: what it is, its operands.
OPERATION = pattern(r"(\s+(?:[a-z]|\.(?:quad|long|int|value|short|[248]byte)\b)\S*)(.*)")

DEVICE_SECTIONS = ("sim_device", "sim_constant")
TABLES = ("sim_functions", "sim_sites", "sim_shared", "sim_variables", ".data.rel.sim")
OF_DEVICE = pattern(r"(?:sim_device$|sim_constant$|\.t(?:bss|data)\b)")
READ_ONLY = pattern(r"\.(?:rodata|data\.rel\.ro)\b")
OF_A_FUNCTION = ("_ZZ", "_ZGVZ", "_ZTV")


class Section:
    """A section and the COMDAT group it is in."""

    __slots__ = ("name", "group", "of_device", "is_code")

    def __init__(self, name: str, group: str | None = None) -> None:
        self.name = name
        self.group = group
        self.of_device = OF_DEVICE.match(name) is not None
        self.is_code = name.startswith(".text")


class Place:
    """Where a symbol is defined."""

    __slots__ = ("section", "is_function")

    def __init__(self, section: Section, is_function: bool) -> None:
        self.section = section
        self.is_function = is_function


NOWHERE = Place(Section(""), False)


def transform(text: str) -> str:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    code = Private(lines)
    code.read_lines()
    code.find_device_code()
    code.choose_private()
    code.rewrite()
    lines.append("")
    return "\n".join(lines)


def section_of(line: str) -> Section | None:
    """What a section's directive says; None for another line."""
    plain = PLAIN_SECTION.match(line)
    if plain:
        return Section(plain[1])
    named = SECTION.match(line)
    if not named:
        return None
    group = GROUP.search(named[2])
    return Section(named[1].replace('"', ""), group[1] if group else None)


class Private:
    """The lines of an assembly file, who owns each, and who refers to whom."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.places: dict[str, Place] = {}
        self.edges: dict[str, list[str]] = {}
        self.second_names: dict[str, str] = {}
        self.kernels: set[str] = set()
        self.device: set[str] = set()
        self.left: set[str] = set()  # groups that leave
        self.with_kernel: set[str] = set()
        self.private: dict[str, str] = {}  # symbol => its local label
        # Numbers of the lines that may have to change, with the symbol they belong to.
        self.labels: list[tuple[int, str]] = []
        self.grouped: list[int] = []
        self.declarations: list[int] = []
        self.references: list[tuple[int, str]] = []

    def read_lines(self) -> None:
        """Where each symbol is defined, which one each line belongs to, and what each refers to.

        A local label in code is a place in its function; one in data is an object of its own.
        """
        section, code, here, plain = Section(".text"), "", "", PLAIN_LINES
        functions: set[str] = set()
        edges = self.edges.setdefault(here, [])
        for number, line in enumerate(self.lines):
            if line.startswith(plain) and "@" not in line:
                continue
            if line[:1] not in ("\t", " "):
                label = LABEL.match(line)
                if label and not (section.is_code and label[1].startswith(".L")):
                    here = label[1]
                    if section.is_code:
                        code = here
                    self.places[here] = Place(section, here in functions)
                    self.labels.append((number, here))
                    edges = self.edges.setdefault(here, [])
                    continue
                if label:
                    continue
            operation = OPERATION.match(line)
            if operation:
                symbols = A_SYMBOL.findall(operation[2])
                if symbols:
                    edges += symbols
                    self.references.append((number, here))
                continue
            following = section_of(line)
            if following:
                section = following
                plain = OF_THE_DEBUGGER if section.name.startswith(".debug_") else PLAIN_LINES
                here = code if section.is_code else ""
                edges = self.edges.setdefault(here, [])
                if section.group is not None:
                    self.grouped.append(number)
            elif KERNEL.match(line):
                self.kernels.add(here)
            else:
                self.read_declaration(number, line, functions)

    def read_declaration(self, number: int, line: str, functions: set[str]) -> None:
        function = FUNCTION.match(line)
        if function:
            functions.add(function[1])
        second = SET.match(line)
        if second:
            self.second_names[second[1]] = second[2]
            self.edges.setdefault(second[1], []).append(second[2])
        elif ".type" in line or ".globl" in line:
            self.declarations.append(number)

    def find_device_code(self) -> None:
        """Device code is what the kernels and the device variables lead to."""
        queue = [*self.kernels]
        queue += (symbol for symbol, place in self.places.items() if place.section.name in DEVICE_SECTIONS)
        while queue:
            symbol = queue.pop()
            if symbol not in self.device:
                self.device.add(symbol)
                queue += self.edges.get(symbol, ())

    def choose_private(self) -> None:
        """A group leaves as a whole, and with it the names of all that is in it."""
        grouped = {symbol: place for symbol, place in self.places.items() if place.section.group is not None}
        for symbol, place in grouped.items():
            if symbol in self.device and is_private(symbol, place):
                self.left |= {place.section.group, f"sim_shared.{symbol}"}
        # a host template whose argument is such a kernel is another function in each file, although its name is one
        kernels = [f"L{kernel}E" for kernel in self.kernels if kernel in grouped]
        for symbol, place in grouped.items():
            if "L_Z" in symbol and any(kernel in symbol for kernel in kernels):
                self.with_kernel.add(symbol)
                self.left.add(place.section.group)
        for symbol in sorted(self.places):
            section = self.places[symbol].section
            if not symbol.startswith(".L") and (section.name in DEVICE_SECTIONS or section.group in self.left):
                self.private[symbol] = f".Lsim_private_{len(self.private)}"
        for symbol, meant in self.second_names.items():
            while meant in self.second_names:
                meant = self.second_names[meant]
            if meant in self.private:
                self.private[symbol] = self.private[meant]

    def rewrite(self) -> None:
        lines, private = self.lines, self.private
        for number, symbol in self.labels:
            if symbol in private:
                lines[number] += f"\n{private[symbol]}:"
        for number in self.grouped:
            group = GROUP.search(lines[number])
            if group[1] in self.left:
                alone = GROUP.sub("", lines[number], count=1)
                lines[number] = GROUP_FLAG.sub(r"\1", alone, count=1)
        for number in self.declarations:
            lines[number] = self.declaration(lines[number])
        for number, owner in self.references:
            start = OPERATION.match(lines[number]).start(2)
            operands = A_SYMBOL.sub(lambda found, owner=owner: self.meant(found[0], owner), lines[number][start:])
            lines[number] = lines[number][:start] + operands

    def declaration(self, line: str) -> str:
        kind = TYPE.match(line)
        if kind:
            return UNIQUE.sub("object", line, count=1) if kind[1] in self.private else line
        visible = GLOBAL.match(line)
        if visible and visible[1] in self.private and self.places.get(visible[1], NOWHERE).section.of_device:
            return line.replace(".globl", ".weak", 1)
        return line

    def meant(self, symbol: str, owner: str) -> str:
        """What a symbol is called where `owner` names it."""
        label = self.private.get(symbol)
        if label is None:
            return symbol
        everywhere = symbol in self.kernels or symbol in self.with_kernel
        everywhere = everywhere or self.places.get(symbol, NOWHERE).section.of_device
        of_device = owner in self.device or self.places.get(owner, NOWHERE).section.name in TABLES
        return label if everywhere or of_device else symbol


def is_private(symbol: str, place: Place) -> bool:
    """Of the data that device code reaches: its functions' own static variables, virtual tables, constants.

    Variables of the host and the descriptions of types stay the program's.
    """
    if place.is_function or place.section.of_device or symbol.startswith(OF_A_FUNCTION):
        return True
    return READ_ONLY.match(place.section.name) is not None and not symbol.startswith("_ZT")
