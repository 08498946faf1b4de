"""clang's intermediate code in, the same with struct copies as loads and stores out.

clang copies a struct with the intrinsic llvm.memcpy, and its thread sanitizer turns that into a call of memcpy that has
lost the alignment. A float4 copy is one 16-byte access on a GPU: it becomes a load and a store here, before the
sanitizer's pass runs. Both spellings of pointers are known: `i8*` (LLVM 14) and `ptr` (15 and later).

The sanitizer leaves out what it sees to be a local variable whose address goes nowhere, so an index past the end of a
local array would be nobody's to find. The address of an array or a struct therefore passes through an empty piece of
assembler, behind which the sanitizer does not see where it came from.
"""

from __future__ import annotations

import re

# Bytes of one access => the alignment it takes; of 16 bytes, what gcc asks for too.
ALIGNMENT = {1: 1, 2: 2, 4: 4, 8: 8, 16: 8}
NATURAL = {"i16": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}

VALUE = r"%[\w.$-]+"
NAME = r'%[\w.$":-]+'


def pattern(text: str, flags: int = 0) -> re.Pattern:
    return re.compile(text, re.ASCII | flags)


A_VALUE = pattern(VALUE)
TYPED_POINTER = pattern(
    r"^  (?:%\S+ = (?:load|getelementptr|bitcast|call)|store|call|ret)\b[^\"\n]*[\w\]}>)]\*+(?:[ ,)]|$)", re.MULTILINE
)
ALLOCA = pattern(rf"\s*({VALUE}) = alloca ")
ALLOCA_OF_RECORD = pattern(
    rf'\s*({VALUE}) = alloca ((?:\[|%(?:struct|class|union)\b|%"|<?\{{).*?)(?:, align \d+)?(?:, !dbg !\d+)?$'
)
SEVERAL = pattern(r", i\d+ %")
BITCAST = pattern(rf"\s*({VALUE}) = bitcast \S.* ({VALUE}) to ")
PACKED_TYPE = pattern(rf"({NAME}) = type <\{{")
VECTOR_TYPE = pattern(r"%struct\.(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]$")
ELEMENT = pattern(rf"\s*({VALUE}) = getelementptr (?:inbounds )?({NAME}),")
ALIGNED_VALUE = pattern(rf"({VALUE}), align \d")
ALIGNED_ACCESS = pattern(r"\s*(?:%\S+ = load|store) (?:volatile )?(i16|i32|i64|float|double)[ ,].*, align (\d+)")
AN_ALIGNMENT = pattern(r", align \d+")
MEMORY_CALL = pattern(r"\s*call void @llvm\.mem")
INTRINSIC = pattern(r"@llvm\.(memcpy|memmove|memset)[\w.]*\((.*)\)([^()]*(?:,\s*!.*)?)$")
DEBUG = pattern(r", !dbg !\d+")
SIZE = pattern(r"i64 (\d+)$")
INITIAL_VALUE = pattern(r"@(?:__const\.|constinit|\.compoundliteral|switch\.table)")
OPERAND = pattern(
    r"(?:i8\*|ptr)\s+(?:(?:align \d+|dereferenceable\w*\(\d+\)|[a-z]\w*)\s+)*?"
    r"((?:%|@|bitcast|getelementptr|inttoptr|null|addrspacecast).*)$"
)
OPERAND_ALIGNMENT = pattern(r"\balign (\d+)")
DECLARED = pattern(r"^declare .*@mempcpy\(", re.MULTILINE)


class LocalVariables:
    """What a function's values point to: its own variables (of which some are veiled), fields of packed structs."""

    def __init__(self) -> None:
        self.local: set[str] = set()
        self.in_packed: set[str] = set()
        self.in_record: set[str] = set()
        self.veiled: dict[str, str] = {}


class Rewriter:
    """The state of a walk through the file."""

    def __init__(self, text: str) -> None:
        self.count = 0  # of the values we have named
        self.typed = TYPED_POINTER.search(text) is not None  # pointers say what they point to
        self.packed: set[str] = set()
        self.function = LocalVariables()
        self.uses_mempcpy = False

    def name(self, kind: str) -> str:
        self.count += 1
        return f"%sim_{kind}_{self.count - 1}"

    def line(self, line: str) -> list[str]:
        """What becomes of a line."""
        if line.startswith("define "):
            self.function = LocalVariables()
        function = self.function
        if function.veiled and "@llvm.dbg." not in line:
            line = A_VALUE.sub(lambda found: function.veiled.get(found[0], found[0]), line)
        if " = " in line:
            self.note_definition(line)
        if ", align " in line:
            aligned = ALIGNED_VALUE.search(line)
            if not (aligned and aligned[1] in function.in_packed):
                line = with_natural_alignment(line, bool(aligned) and aligned[1] in function.in_record)
        if "@llvm.mem" in line and MEMORY_CALL.match(line):
            return [self.rewrite(line) or line]
        array = ALLOCA_OF_RECORD.match(line) if " = alloca " in line else None
        if array and not SEVERAL.search(array[2]):
            return [line, self.veil(array[1], f"{array[2]}*" if self.typed else "ptr")]
        return [line]

    def note_definition(self, line: str) -> None:
        function = self.function
        if " = alloca " in line:
            variable = ALLOCA.match(line)
            if variable:
                function.local.add(variable[1])
        elif " = bitcast " in line:
            cast = BITCAST.match(line)
            if cast and cast[2] in function.local:
                function.local.add(cast[1])
        elif " = type <{" in line:
            record = PACKED_TYPE.match(line)
            if record:
                self.packed.add(record[1])
        elif " = getelementptr " in line:
            # a field of a packed struct is the one place whose alignment is less than its type's
            element = ELEMENT.match(line)
            if element and element[2] in self.packed:
                function.in_packed.add(element[1])
            elif element and not VECTOR_TYPE.match(element[2]):
                function.in_record.add(element[1])

    def veil(self, name: str, pointer: str) -> str:
        """Another name for the address of a local variable, which the rest of the function uses."""
        new = self.function.veiled[name] = self.name("local")
        self.function.local.add(new)
        return f'  {new} = call {pointer} asm "", "=r,0"({pointer} {name}) nounwind'

    def rewrite(self, line: str) -> str | None:
        """The instructions that replace one intrinsic call; None to keep it."""
        call = INTRINSIC.search(line)
        if not call:
            return None
        kind, inside, rest = call.groups()
        to, source, size, volatile = [*(part.strip() for part in split_arguments(inside)), "", "", "", ""][:4]
        number, to_operand = SIZE.match(size), operand(to)
        if not number or volatile != "i1 false" or not to_operand:
            return None
        size = int(number[1])
        found = DEBUG.search(rest)
        debug = found[0] if found else ""
        if kind == "memset":
            if source != "i8 0" or size not in ALIGNMENT or to_operand[1] < ALIGNMENT[size]:
                return None
            return self.typed_access(to, to_operand, size, f"store i{8 * size} 0, ", debug)
        return self.rewrite_copy(line, to, source, size, debug)

    def rewrite_copy(self, line: str, to: str, source: str, size: int, debug: str) -> str | None:
        from_operand, to_operand = operand(source), operand(to)
        if not from_operand or not to_operand:
            return None
        local = self.function.local
        (from_value, from_align), (to_value, to_align) = from_operand, to_operand
        if INITIAL_VALUE.search(from_value):
            # The initial value of a local variable comes out of the program's image: not an access of the source.
            if to_value not in local:
                return None
            self.uses_mempcpy = True
            pointer = pointer_type(line)
            arguments = f"{pointer} {to_value}, {pointer} {from_value}, i64 {size}"
            return f"  {self.name('value')} = call {pointer} @mempcpy({arguments}){debug}"
        needed = ALIGNMENT.get(size)
        if needed is None:
            return None
        # A local variable is aligned as its type is. Of anything else clang says what it knows of that place: a float2
        # that is read through a cast from an array of floats would be "align 4".
        if from_value in local:
            to_align = from_align
        if to_value in local:
            from_align = to_align
        if to_align < needed or from_align < needed:
            return None
        value = self.name("value")
        load = self.typed_access(source, (from_value, from_align), size, f"{value} = load i{8 * size}, ", debug)
        store = self.typed_access(to, (to_value, to_align), size, f"store i{8 * size} {value}, ", debug)
        return f"{load}\n{store}"

    def typed_access(self, argument: str, place: tuple[str, int], size: int, access: str, debug: str) -> str:
        """One load or store of these bytes at an operand; an i8* needs a cast first.

        16 bytes that are only aligned to 8 are said to be aligned to less, so that the sanitizer calls its hook for
        unaligned accesses: the engine knows what that means.
        """
        value, known = place
        align = ALIGNMENT[size] if size < 16 else 4 if known < 16 else 16
        if argument.startswith("ptr"):
            return f"  {access}ptr {value}, align {align}{debug}"
        cast = self.name("pointer")
        pointer = f"i{8 * size}*"
        return f"  {cast} = bitcast i8* {value} to {pointer}{debug}\n  {access}{pointer} {cast}, align {align}{debug}"


def transform(text: str) -> str:
    rewriter = Rewriter(text)
    out: list[str] = []
    for line in text.split("\n"):
        out += rewriter.line(line)
    while out and not out[-1]:
        out.pop()
    if rewriter.uses_mempcpy and not DECLARED.search(text):
        pointer = pointer_type(text)
        out.append(f"declare {pointer} @mempcpy({pointer}, {pointer}, i64)")
    return "\n".join(out) + "\n"


def with_natural_alignment(line: str, in_record: bool) -> str:
    """load double, ptr %p, align 4 -> align 8. A misaligned address is then the engine's to find.

    So clang tells what it knows of the array behind a cast. A member of a record that is aligned to less than 4 is the
    program's own wish: a packed struct of one member has the same type in LLVM as one that is not packed.
    """
    access = ALIGNED_ACCESS.match(line)
    if not access or int(access[2]) >= NATURAL[access[1]] or (in_record and int(access[2]) < 4):
        return line
    return AN_ALIGNMENT.sub(f", align {NATURAL[access[1]]}", line, count=1)


def pointer_type(text: str) -> str:
    """How this clang writes the type of a pointer; `text` has some."""
    return "i8*" if TYPED_POINTER.search(text) else "ptr"


def split_arguments(text: str) -> list[str]:
    """At commas outside brackets."""
    depth, parts, start = 0, [], 0
    for i, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def operand(text: str) -> tuple[str, int] | None:
    """i8* noundef align 16 %26 -> (%26, 16); the value may be a constant expression."""
    value = OPERAND.match(text)
    if not value:
        return None
    align = OPERAND_ALIGNMENT.search(text)
    return value[1], int(align[1]) if align else 1
