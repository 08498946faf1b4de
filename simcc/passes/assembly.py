"""The second pass of simcc: the compiler's assembly in, assembly with the simulated device's tables out.

It gives every access of the source a record of its own: file, line, function, and the address behind the call of its
hook, by which the engine knows it. It puts red zones behind shared arrays and device variables, and lists functions,
arrays and variables. The layout of the tables is engine/tables.h.

It also makes a function's own variables hold bytes 0x7F when the function begins, and has functions without hooks look
after the address they return to (frames.py).
"""

from __future__ import annotations

import os
import re

from passes.denied import denied_calls, is_user_file
from passes.frames import enter_leaf, fill_variables, leave_leaf
from passes.process import Stop, as_text, unescaped
from passes.source import Source
from passes.symbols import BYTES_ALONE, SYMBOL, demangled, is_named
from passes.tables import Tables

REDZONE = 256
DEVICE_SECTIONS = ("sim_device", "sim_constant")
OP = {"read": 0, "write": 1, "atomic": 2, "other": 3}

# Calls that mean something else in device code. printf of a kernel appears in block order; exponentials are counted,
# but not in a --fast build, whose one purpose is speed.
RENAMED = {name: f"sim_{name}" for name in ("printf", "puts", "putchar")}
RENAMED["__assert_fail"] = "sim_assert_fail"
COUNTED = {name: f"sim_{name}" for name in "expf exp exp2f exp2 exp10f exp10 expm1f expm1".split()}
# C's functions that store a second result through a pointer, inside the library where no hook sees it.
STORING = {name: f"sim_{name}" for name in "modf modff frexp frexpf remquo remquof sincos sincosf".split()}


def pattern(text: str, flags: int = 0) -> re.Pattern:
    return re.compile(text, re.ASCII | flags)


EACH_LINE = re.MULTILINE
TYPE = pattern(rf"^[ \t]+\.type[ \t]+({SYMBOL}),[ \t]*[@%](\w+)", EACH_LINE)
SIZE = pattern(rf"^[ \t]+\.size[ \t]+({SYMBOL}),[ \t]*(\S+)", EACH_LINE)
SET = pattern(rf"^[ \t]+\.set[ \t]+({SYMBOL}),[ \t]*({SYMBOL})$", EACH_LINE)
DEFINED = pattern(rf"^({SYMBOL}):", EACH_LINE)
FILE = pattern(r'(\d+)\s+(?:"((?:[^"\\]|\\.)*)"\s+)?"((?:[^"\\]|\\.)*)"')
LABEL = pattern(rf"({SYMBOL}):")
DIRECTIVE = pattern(r"\s+(\.\w+)\s*(.*)$")
DATA = pattern(
    r"\s*\.(?:zero|skip|space|byte|value|short|word|[248]byte|long|int|quad|octa"
    r"|float|double|single|string|asciz|ascii)\b"
)
OBJECT_SECTION = pattern(r"\.t(?:bss|data)\b|sim_device$|sim_constant$")
THREAD_LOCAL = pattern(rf"(?<![\w.])({SYMBOL})@(?:tpoff|gottpoff)(?!\w)", re.IGNORECASE)
LOCAL_OFFSET = pattern(rf"(?<![\w.])({SYMBOL})@(?:tpoff|gottpoff)", re.IGNORECASE)

CALL = pattern(rf"\s+(?:call|jmp)q?\s+\*?({SYMBOL})")
CALLS = pattern(r"^\s+(?:call|jmpq?\s+\*)", EACH_LINE)
RETURNS = pattern(r"^\s+ret", EACH_LINE)
COMMENT = pattern(r"\s*#")
KERNEL = pattern(r"\s*#\s*sim_kernel\b")
HOLDS_SYMBOL = pattern(r"%rip|@|\$[A-Za-z_.]|_ZGV")
ADDRESS = pattern(rf"(?<![\w.])({SYMBOL})(?:@GOTPCREL)?\(%rip\)|\$({SYMBOL})")
RENAMABLE = pattern(r"\(%rip\)|\$[A-Za-z_]|@(?:tpoff|gottpoff)", re.IGNORECASE)
RENAME = pattern(rf"(?<![\w.@]){SYMBOL}")
GUARD = pattern(r"\b_ZGV")
GUARD_HOOK = pattern(r"__tsan_(?:read|write)1$")

ROOM_FOR_VARIABLES = pattern(r"\s+(?:subq\s+\$|addq\s+\$-)(\d+), %rsp")
ROOM_FOR_8 = pattern(r"\s+pushq\s+%r[acd]x\s*$")
PROLOGUE = pattern(r"\s*#|\s+(?:pushq|endbr64|movq\s+%rsp, %rbp|andq\s+\$-\d+, %rsp)")

ACCESS = pattern(r"__tsan_(?:unaligned_|volatile_|unaligned_volatile_)?(read|write)(\d+)$")
RANGE = pattern(r"__tsan_(read|write)_range$")
MEMORY = pattern(r"(?:__tsan_)?(mem(?:cpy|move|set))$")
# The engine's functions for device code, but those that only say where the thread is.
OF_ENGINE = pattern(r"sim_(atomic_)?(?!(?:thread_index|block_index|block_dim|grid_dim)$)\w+$")
EXCHANGE = pattern(r"sim_atomic_(?:block_)?exch_")

COPY = pattern(r"^(_ZN\w+(?:C[12]|aS)E(?:RK|O)\w+):", EACH_LINE)
INSTRUCTION = pattern(r"^[ \t]+([a-z][^#\n]*)", EACH_LINE)
# What gcc writes at -O0 for a copy it makes itself: both hooks one after the other, with the two arguments as they
# came, and only then the copy. A function that somebody wrote loads what it reads before it asks to write.
COPY_HOOK = (
    r"movq (?P<{0}>-?\d+)\(%rbp\), %rax;(?:movl \$(?P<{0}_size>\d+), %esi;)?movq %rax, %rdi;"
    r"call (?P<{0}_hook>__tsan_\w+)(?:@PLT)?;"
)
COPY_BODY = pattern(
    r"pushq %rbp;movq %rsp, %rbp;(?:pushq %rbx;)?subq \$\d+, %rsp;"
    r"movq %rdi, (?P<this>-?\d+)\(%rbp\);movq %rsi, (?P<that>-?\d+)\(%rbp\);"
    r"movq -?\d+\(%rbp\), %rax;movq %rax, %rdi;call __tsan_func_entry(?:@PLT)?;"
    + COPY_HOOK.format("first")
    + COPY_HOOK.format("second")
    + r"(?P<copy>(?:(?!call|j)[^;]*;)*)call __tsan_func_exit(?:@PLT)?;(?:(?!call|j)[^;]*;)*"
)
COPY_ACCESS = pattern(r"__tsan_(?:unaligned_)?(read|write)_?(\d+|range)$")
ALIGNED_16 = pattern(r"_ZN\d+(?:float4|u?int4|double2|u?long2|u?longlong2)(?:C[12]|aS)E")
HOOK_OF_16 = pattern(r"^__tsan_(?=(?:read|write)16$)")

RESULT = r"%(?:[er]?ax|al|xmm0)\b"
NAMES_RESULT = pattern(RESULT)
AFTER_CALL = pattern(rf"{RESULT}|^\s+(?:call|j|ret|leave|cltq|cltd|cqto)")
JUMPS = pattern(r"\s+(?:call|j|ret|leave)")
OVERWRITES = pattern(rf"\s+(?:mov|lea|cvt)\w*\s+(.*),\s*{RESULT}\s*$")
CLEARS = pattern(r"\s+p?xor\w*\s+(\S+),\s*\1\s*$")
BLANK = pattern(r"\s*(?:#|$)")


class Location:
    """Where we are in the source."""

    __slots__ = ("file", "line", "column")

    def __init__(self, file: str, line: int, column: int) -> None:
        self.file = file
        self.line = line
        self.column = column


NOWHERE = Location("", 0, 0)


class Site:
    """The record of one access."""

    __slots__ = ("where", "label", "op", "size")

    def __init__(self, where: Location, label: str, op: int, size: int) -> None:
        self.where = where
        self.label = label
        self.op = op
        self.size = size


class AssemblyFunction:
    """A function of this object: its sites, what it calls or takes the address of, the shared arrays it uses."""

    def __init__(self, symbol: str, group: str | None, index: int) -> None:
        self.symbol = symbol
        self.group = group
        self.index = index
        self.file: str | None = None
        self.is_kernel = False
        self.begun = False
        self.leaf = False
        self.sites: list[Site] = []
        self.edges: list[tuple[str, Location | None]] = []
        self.uses: set[str] = set()


class DataObject:
    """A shared array or a device variable."""

    def __init__(self, symbol: str, section: str, group: str | None, align: int) -> None:
        self.symbol = symbol
        self.section = section
        self.group = group
        self.align = align
        self.has_data = False
        self.is_shared = section.startswith(".t")


class Copy:
    """The work of a copy constructor: so many bytes, by these two hooks."""

    def __init__(self, size: int, read: str, write: str) -> None:
        self.size = size
        self.read = read
        self.write = write


class Hook:
    """What a call becomes: another name, and whether it has a record: `op`, None without one."""

    __slots__ = ("name", "op", "size")

    def __init__(self, name: str, op: str = "", size: int = 0) -> None:
        self.name = name
        self.op = OP[op] if op else None
        self.size = size


def transform(text: str, source: Source, fast: bool, headers: str, scratch: str) -> tuple[str, list[str]]:
    """Returns the text and the errors. `headers` is the directory of our own, `scratch` a file name to use."""
    assembly = Assembly(text, source, fast, headers)
    assembly.walk(text.split("\n"))
    names = demangled([*assembly.functions, *(item.symbol for item in assembly.objects)], scratch)
    errors = assembly.errors + denied_calls(assembly.functions)
    Tables(assembly.out, assembly.functions, assembly.objects, assembly.sizes, names).write()
    assembly.out.append("")
    return "\n".join(assembly.out), errors


class Assembly:
    """A walk through the lines of an assembly file."""

    def __init__(self, text: str, source: Source, fast: bool, headers: str) -> None:
        self.source = source
        self.fast = fast
        self.files = UserFiles(source.files, headers)
        self.out: list[str] = []
        self.functions: dict[str, AssemblyFunction] = {}
        self.objects: list[DataObject] = []
        self.errors: list[str] = []
        self.site_count = 0
        self.label_count = 0

        self.section = ".text"
        self.group: str | None = None
        self.align = 1
        self.function: AssemblyFunction | None = None
        self.object: DataObject | None = None
        self.in_prologue = False
        self.at_guard = False
        self.exchange: Site | None = None  # of an atomicExch() whose result is not seen yet
        self.debug_files: dict[str, str | None] = {}  # by number; None for our own headers
        self.is_users: dict[str, bool] = {}
        self.spelled: dict[str, str] = {}  # as the user's command line led to it
        self.location: Location | None = None
        self.any_location: Location | None = None  # in our own headers too
        self.user_location: Location | None = None  # in no header of the system's

        self.types = dict(TYPE.findall(text))
        self.sizes = dict(SIZE.findall(text))
        self.aliases = dict(SET.findall(text))
        defined = set(DEFINED.findall(text))
        # not the program's own function of that name
        counted = {} if fast else COUNTED
        self.renamed = {name: new for name, new in {**RENAMED, **counted}.items() if name not in defined}
        self.storing = {name: new for name, new in STORING.items() if name not in defined}
        if source.dynamic:
            for symbol in set(LOCAL_OFFSET.findall(text)):
                if symbol not in defined and is_named(symbol, source.dynamic):
                    self.renamed[symbol] = "sim_dynamic_shared"
        self.hooks: dict[str, Hook] = {}
        self.copies = {} if fast else find_copies(text)
        self.leaves = set() if fast else find_leaves(text, self.types)

    def walk(self, lines: list[str]) -> None:
        out = self.out
        if not lines[-1]:
            lines.pop()
        for line in lines:
            if self.object:
                self.end_of_object(line)
            if line.startswith(BYTES_ALONE):
                out.append(line)
                continue
            first = line[:1]
            if first == "\t" or first == " ":
                stripped = line.lstrip()
                if stripped[:1] == ".":
                    line = self.directive(line)
                elif self.function:
                    self.instruction(line)
                    continue
            else:
                label = LABEL.match(line)
                if label:
                    self.label(label[1])
                elif self.function:
                    self.instruction(line)
                    continue
            out.append(line)
        if self.object:
            self.end_of_object("")

    def label(self, symbol: str) -> None:
        kind = self.types.get(symbol)
        if kind == "function":
            function = AssemblyFunction(symbol, self.group, len(self.functions))
            function.leaf = symbol in self.leaves
            self.functions[symbol] = self.function = function
            self.in_prologue = not self.fast
            self.location = self.any_location = self.user_location = None
        elif kind and ("object" in kind or "tls" in kind) and OBJECT_SECTION.match(self.section):
            self.object = DataObject(symbol, self.section, self.group, self.align)

    # ---- directives ----

    def directive(self, line: str) -> str:
        """Returns the line, which may have changed."""
        found = DIRECTIVE.match(line)
        if not found:
            return line
        name, rest = found.groups()
        if name == ".loc":
            self.debug_location(rest)
        elif name in (".text", ".data", ".bss"):
            self.section, self.group = name, None
        elif name == ".section":
            self.begin_section(rest)
            if self.group and self.source.variable_templates:
                return self.of_template(line)
        elif name == ".file":
            self.debug_file(rest)
        elif name == ".size":
            self.end_of_function(rest)
        elif name in (".align", ".balign", ".p2align"):
            number = int(re.match(r"\d*", rest)[0] or 0)
            self.align = 1 << number if name == ".p2align" else number
        elif name == ".quad":  # a table of functions in data: the names in it are renamed like those in code
            return self.rename(line)
        return line

    def begin_section(self, rest: str) -> None:
        fields = [field.strip() for field in re.sub(r"\s+#.*", "", rest, count=1).split(",")]
        flags = fields[1] if len(fields) > 1 else ""
        group = 4 if "M" in flags else 3
        self.section = fields[0].replace('"', "")
        self.group = fields[group] if "G" in flags and group < len(fields) else None
        if self.section in DEVICE_SECTIONS and flags and "w" not in flags and not self.fast:  # optimized code may
            self.errors.append("simcc: a device variable became a constant: its reads would not be counted")

    def of_template(self, line: str) -> str:
        """The section of an instance of a template.

        gcc puts variables where it puts all that belongs to a template, whatever their attribute says; clang makes the
        section as read-only as the first it sees.
        """
        for name, section in self.source.variable_templates.items():
            if is_named(self.group, {name: True}):
                self.section = section
                return f'\t.section\t{section},"awG",@progbits,{self.group},comdat'
        return line

    def end_of_function(self, rest: str) -> None:
        symbol = re.match(SYMBOL, rest, re.ASCII)
        function = self.functions.get(symbol[0]) if symbol else None
        if function:
            self.out.append(f".Lsim_end_{function.index}:")
            self.function = None

    def rename(self, line: str) -> str:
        renamed = self.renamed
        return RENAME.sub(lambda found: renamed.get(found[0], found[0]), line)

    # ---- where we are in the source ----

    def debug_file(self, rest: str) -> None:
        """.file 3 "directory" "name" md5 ..."""
        found = FILE.match(rest)
        if not found:
            return
        number, directory, name = (text and unescaped(text) for text in found.groups())
        path = f"{directory}/{name}" if directory is not None and not name.startswith("/") else name
        known = self.debug_files[number] = self.files.called(path, name)
        files = self.source.files
        self.is_users[number] = known is not None and is_user_file(known, files)
        self.spelled[number] = next((spelling for spelling in (path, name, known) if spelling in files), "")

    def debug_location(self, rest: str) -> None:
        fields = rest.split(None, 3)
        line = int(fields[1])
        if line == 0:
            return
        number = fields[0]
        name = self.debug_files.get(number)
        column = int(fields[2]) if len(fields) > 2 and fields[2].isdigit() else 0
        here = Location(name or "", line, self.column(number, line, column))
        self.any_location = here
        if name is None:
            return
        self.location = here
        if self.is_users[number]:
            self.user_location = here
        if self.function and self.function.file is None:
            self.function.file = name

    def column(self, number: str, line: int, column: int) -> int:
        """The column in what the user wrote; 0 where it cannot be told."""
        known = self.source.columns.get((self.spelled.get(number, ""), line))
        return known.before(column) if known else 0

    # ---- instructions ----

    def instruction(self, line: str) -> None:
        function, out = self.function, self.out
        if self.in_prologue and self.prologue(line):
            return
        if function.leaf and RETURNS.match(line):
            out += leave_leaf(self.label_count, function.index)
            self.label_count += 1
        if self.exchange:
            self.watch_result(line)
        call = CALL.match(line) if "call" in line or "jmp" in line else None
        if call and not call[1].startswith(".L"):
            self.call(line, call[1])
            return
        if "#" in line and COMMENT.match(line):
            if KERNEL.match(line):
                function.is_kernel = True
        elif HOLDS_SYMBOL.search(line):
            line = self.symbols(line)
        out.append(line)

    def symbols(self, line: str) -> str:
        """An instruction that names symbols; returns the line, which may have changed."""
        if GUARD.search(line):
            self.at_guard = True
        if "@" in line:
            self.function.uses.update(THREAD_LOCAL.findall(line))
        for relative, immediate in ADDRESS.findall(line):
            symbol = relative or immediate
            if not symbol.startswith(".L"):
                self.edge(symbol)
        return self.rename(line) if RENAMABLE.search(line) else line

    def call(self, line: str, callee: str) -> None:
        function, out = self.function, self.out
        if self.at_guard:
            self.at_guard = False
            if GUARD_HOOK.match(callee):
                return  # the guard of a static is read and written by the compiler, not by the source
        copy = self.copies.get(self.aliases.get(callee, callee))
        if copy:
            self.copy(copy)
            return
        self.edge(callee)
        hook = self.hooks.get(callee) or self.hook(callee)
        if callee == "__tsan_func_entry" and not self.fast:
            out.append(f"\tleaq\t.Lsim_function_{function.index}(%rip), %rsi")
        out.append(line if hook.name == callee else line.replace(callee, hook.name, 1))
        if hook.op is not None:
            if "jmp" in line:
                raise Stop(1, f"simcc: {function.symbol} jumps to {callee}: this compiler is not understood")
            out.append(f"{self.record(hook)}:")
            if EXCHANGE.match(callee):
                self.exchange = function.sites[-1]

    def edge(self, symbol: str) -> None:
        """Device code that takes a function's address may call it."""
        self.function.edges.append((self.aliases.get(symbol, symbol), self.user_location))

    def hook(self, callee: str) -> Hook:
        hook = self.hooks[callee] = self.hook_of(callee)
        return hook

    def hook_of(self, callee: str) -> Hook:
        if callee in self.renamed:
            return Hook(self.renamed[callee])
        if self.fast:
            return Hook(callee)
        access = ACCESS.match(callee)
        if access:
            return Hook(callee, access[1], int(access[2]))
        access = RANGE.match(callee)
        if access:
            return Hook(callee, access[1])
        memory = MEMORY.match(callee)
        if memory:
            return Hook(f"sim_{memory[1]}", "other")
        if callee in self.storing:
            return Hook(self.storing[callee], "write")
        engine = OF_ENGINE.match(callee)
        if engine:
            return Hook(callee, "atomic" if engine[1] else "other")
        return Hook(callee)

    def record(self, hook: Hook) -> str:
        """A new record, for this call of the hook; returns the label that belongs behind the call."""
        where = self.location or self.any_location or NOWHERE
        label = f".Lsim_site_{self.site_count}"
        self.site_count += 1
        self.function.sites.append(Site(where, label, hook.op, hook.size))
        return label

    def prologue(self, line: str) -> bool:
        """The first instructions of a function. True where the line has been written."""
        function, out = self.function, self.out
        if not function.begun and not COMMENT.match(line):
            function.begun = True
            if function.leaf:
                out += enter_leaf()
        room = ROOM_FOR_VARIABLES.match(line)
        if room:
            self.in_prologue = False
        elif not ROOM_FOR_8.match(line):  # nothing is saved: clang's way to make room for 8 bytes
            self.in_prologue = PROLOGUE.match(line) is not None
            return False
        size = int(room[1]) if room else 8
        out.append(line)
        out += fill_variables(size, self.label_count)
        self.label_count += size > 256
        return True

    def watch_result(self, line: str) -> None:
        """Is what an atomicExch() returns used? Its record says so.

        If it is, the first instruction after the call that names the register reads it, before any jump: our code is
        compiled at -O0.
        """
        if BLANK.match(line) or not AFTER_CALL.search(line):
            return
        site, self.exchange = self.exchange, None
        overwrites = OVERWRITES.match(line)
        if JUMPS.match(line) or (overwrites and not NAMES_RESULT.search(overwrites[1])) or CLEARS.match(line):
            return
        site.size = 1

    def copy(self, copy: Copy) -> None:
        """In place of a call of such a copy, with `this` in %rdi and the source in %rsi.

        The same hooks, with records of this line (in the function that is copied they would all be one), and the copy
        itself, which like the call returns `this`.
        """
        out = self.out
        out += ("\tpushq\t%rdi", "\tpushq\t%rsi")
        for name in (copy.write, copy.read):
            if name is copy.read:
                out.append("\tmovq\t(%rsp), %rdi")
            if "range" in name:
                out.append(f"\tmovl\t${copy.size}, %esi")
            out.append(f"\tcall\t{name}@PLT")
            out.append(f"{self.record(self.hooks.get(name) or self.hook(name))}:")
        out += ("\tpopq\t%rsi", "\tpopq\t%rdi", f"\tmovl\t${copy.size}, %edx", "\tcall\tmemcpy@PLT")

    # ---- objects ----

    def end_of_object(self, line: str) -> None:
        """The storage of a shared array or a device variable has ended: the red zone goes behind it."""
        item = self.object
        if DATA.match(line):
            item.has_data = True
            return
        if not item.has_data:
            return
        self.object = None
        if item.is_shared and not is_named(item.symbol, self.source.shared):
            return
        self.out.append(f"\t.zero\t{REDZONE}")
        self.objects.append(item)


class UserFiles:
    """The names of files as the user's command line led to them."""

    def __init__(self, files: dict[str, bool], headers: str) -> None:
        self.files = files
        self.headers = headers
        self.by_path: dict[str, str] | None = None

    def called(self, *spellings: str) -> str | None:
        """What the user calls a file; None for our own headers, which are transparent: a barrier is where the kernel
        wrote it."""
        for spelling in spellings:
            if spelling in self.files:
                return without_here(spelling)
        path = self.absolute(spellings[0])
        if path.startswith(self.headers + "/"):
            return None
        if self.by_path is None:
            self.by_path = {self.absolute(file): file for file in self.files}
        return without_here(self.by_path.get(path, path))

    def absolute(self, path: str) -> str:
        """Absolute, without `.` and `..`: how a compiler may have respelled a name."""
        parts: list[str] = []
        for part in (path if path.startswith("/") else f"{as_text(os.getcwd())}/{path}").split("/"):
            if part == "..":
                del parts[-1:]
            elif part and part != ".":
                parts.append(part)
        return "/" + "/".join(parts)


def without_here(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path


def find_copies(text: str) -> dict[str, Copy]:
    """Copy constructors and assignments that gcc wrote itself: one write and one read of the same bytes, no more.

    With -fno-elide-constructors gcc copies a struct by a call of them, where the line of the copy is lost.
    """
    copies = {}
    for label in COPY.finditer(text):
        symbol = label[1]
        end = text.find(f".size\t{symbol},", label.end())
        instructions = INSTRUCTION.findall(text, label.end(), end if end >= 0 else len(text))
        body = "".join(" ".join(instruction.split()) + ";" for instruction in instructions)
        found = COPY_BODY.fullmatch(body)
        copy = copy_of(symbol, found) if found else None
        if copy:
            copies[symbol] = copy
    return copies


def copy_of(symbol: str, body: re.Match[str]) -> Copy | None:
    hooks, sizes = {}, set()
    for which in ("first", "second"):
        name, place = body[f"{which}_hook"], body[which]
        access = COPY_ACCESS.match(name)
        if not access or place != body["this" if access[1] == "write" else "that"]:
            return None
        sizes.add(int(body[f"{which}_size"] or 0) if access[2] == "range" else int(access[2]))
        # Of 16 bytes, only CUDA's own types are surely aligned to 16.
        hooks[access[1]] = name if ALIGNED_16.match(symbol) else HOOK_OF_16.sub("__tsan_unaligned_", name)
    # What is inlined in its place returns what an assignment of gcc's does: the address it was called for.
    returns_another = f"movq {body['that']}(%rbp), %rbx;" in body["copy"]
    if len(hooks) < 2 or len(sizes) > 1 or 0 in sizes or returns_another:
        return None
    return Copy(sizes.pop(), hooks["read"], hooks["write"])


def find_leaves(text: str, types: dict[str, str]) -> set[str]:
    """Functions that call nothing, not even a hook: they touch nothing but their own variables."""
    functions = [label for label in DEFINED.finditer(text) if types.get(label[1]) == "function"]
    ends = [label.start() for label in functions[1:]] + [len(text)]
    return {
        label[1]
        for label, end in zip(functions, ends)
        if not CALLS.search(text, label.end(), end) and RETURNS.search(text, label.end(), end)
    }
