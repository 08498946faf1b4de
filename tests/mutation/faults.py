"""Small faults in C, CUDA C and Python: what there is to plant in a file, and files with many of them to choose from.

A fault replaces one expression or drops one statement; tree-sitter finds them, so a fault is whole syntax, with its
exact place. Host files get all their faults at once, each behind FAULT(n), and one is chosen at run time (mutant
schemata; Untch, Offutt and Harrold 1993): `a < b` becomes `(FAULT(7) ? (a <= b) : (a < b))`. Device code is changed in
place, one fault a build: a selector there would be counted.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tree_sitter

if TYPE_CHECKING:
    from collections.abc import Iterator

# What an operator turns into: for a comparison the one that is off by one, and the opposite.
OPERATORS = {
    "<": ("<=", ">"),
    "<=": ("<", ">"),
    ">": (">=", "<"),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "//": ("*",),
    "%": ("/",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
    "&&": ("||",),
    "||": ("&&",),
    "and": ("or",),
    "or": ("and",),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
    "+=": ("-=", "="),
    "-=": ("+=",),
    "|=": ("=",),
    "&=": ("|=",),
    "*=": ("=",),
    "++": ("--",),
    "--": ("++",),
}
WORDS = {"true": "false", "false": "true", "True": "False", "False": "True"}
BINARY = {"binary_expression", "binary_operator", "boolean_operator", "comparison_operator"}
CHANGING = {"assignment_expression", "update_expression"}  # Python has statements for these: they are dropped
NUMBERS = {"number_literal", "integer", "float"}
# Where C wants a constant, what is no code, and what is never evaluated: no fault there.
CONSTANT = set(
    "ERROR alignas_qualifier attribute_declaration attribute_specifier bitfield_clause case_pattern decorator "
    "enumerator field_declaration gnu_asm_expression launch_bounds preproc_def preproc_elif preproc_function_def "
    "preproc_if sizeof_expression static_assert_declaration string subscript_designator template_argument_list type "
    "type_alias_statement type_descriptor".split()
)
LANGUAGES = {".c": "c", ".h": "c", ".cu": "cuda", ".cuh": "cuda", ".cpp": "cuda"}


@dataclass(frozen=True)
class Fault:
    path: str  # below the tree
    line: int
    start: int  # bytes in the file
    end: int
    text: str
    becomes: str  # "" drops the statement
    kind: str  # of the replaced syntax: expression or statement

    @property
    def change(self) -> str:
        def short(text: str) -> str:
            return " ".join(text.split())

        return f"{short(self.text)} -> {short(self.becomes) or '(dropped)'}"


@functools.cache
def parser(language: str) -> tree_sitter.Parser:
    module = __import__(f"tree_sitter_{language}")
    return tree_sitter.Parser(tree_sitter.Language(module.language()))


def language_of(path: Path) -> str:
    return LANGUAGES.get(path.suffix, "python")


def faults_in(path: Path, name: str) -> list[Fault]:
    """All faults of a file, in its order; name: what their path says."""
    source = path.read_bytes()
    found = []
    for node in code(parser(language_of(path)).parse(source).root_node):
        for kind, becomes in changes(node, source):
            text = source[node.start_byte : node.end_byte].decode()
            if text.count("\n") < 5 and not re.search(r"//|/\*|^\s*#", text, re.M):
                place = (node.start_point[0] + 1, node.start_byte, node.end_byte)
                found.append(Fault(name, *place, text, " ".join(becomes.split("\n")), kind))
    return found


def code(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes whose value is computed at run time."""
    if node.type in CONSTANT or (node.type == "declaration" and is_static(node)):
        return
    yield node
    for i, child in enumerate(node.children):
        field = node.field_name_for_child(i)
        if field == "size" or (node.type == "case_statement" and field == "value"):
            continue
        if field == "arguments" and node.children[0].text.startswith(b"__builtin_"):
            continue
        yield from code(child)


def is_static(declaration: tree_sitter.Node) -> bool:
    """Initialized by a constant: at file scope, or static in a function."""
    parent = declaration.parent
    while parent is not None and parent.type.startswith(("preproc", "linkage", "declaration_list")):
        parent = parent.parent
    words = {child.text for child in declaration.children if child.type == "storage_class_specifier"}
    specifiers = {child.text for child in declaration.children}
    return parent is None or parent.type == "translation_unit" or b"static" in words or b"constexpr" in specifiers


def changes(node: tree_sitter.Node, source: bytes) -> Iterator[tuple[str, str]]:
    """The kind and the new text of each fault that replaces this node."""

    def with_child(child: tree_sitter.Node, text: str) -> str:
        return (
            source[node.start_byte : child.start_byte] + text.encode() + source[child.end_byte : node.end_byte]
        ).decode()

    if node.type in BINARY | CHANGING:
        operators = [child for child in node.children if child.type in OPERATORS]
        if len(operators) == 1:
            for operator in OPERATORS[operators[0].type]:
                yield "expression", with_child(operators[0], operator)
    elif node.type in NUMBERS:
        text = other_number(node.text.decode())
        if text:
            yield "expression", text
    elif node.type in ("true", "false"):  # in Python, too, whose words are others
        yield "expression", WORDS[node.text.decode()]
    elif node.type == "not_operator" or (node.type == "unary_expression" and node.children[0].type == "!"):
        yield "expression", with_child(node.children[0], "")
    elif node.type == "expression_statement" and node.child_count and node.children[0].type != "string":
        if node.children[0].type == "assignment" and node.children[0].child_by_field_name("right") is None:
            return  # an annotation
        if re.match(rb"\(void\)|va_end", node.text):
            return  # it only says that something is not used, or is nothing on this machine
        yield "statement", ""
    # The whole condition of an if, where that is neither a comparison nor a negation.
    parent = node.parent
    if (
        parent is not None
        and parent.type in ("if_statement", "elif_clause")
        and parent.child_by_field_name("condition") == node
    ):
        inside = node.named_children[0] if node.type == "parenthesized_expression" and node.named_children else node
        if inside.type in (
            "call_expression",
            "identifier",
            "field_expression",
            "call",
            "attribute",
            "subscript_expression",
        ):
            text = inside.text.decode()
            yield "expression", f"(!({text}))" if node.type == "parenthesized_expression" else f"(not ({text}))"


def other_number(text: str) -> str:
    """One more; twice as much of a fraction; "" where that is not plain."""
    if match := re.fullmatch(r"(\d+)([uUlLzZ]*)", text):
        return f"{int(match[1]) + 1}{match[2]}" if match[1] == "0" or not match[1].startswith("0") else ""
    if match := re.fullmatch(r"0[xX]([0-9a-fA-F]+)([uUlL]*)", text):
        return f"{int(match[1], 16) + 1:#x}{match[2]}"
    if match := re.fullmatch(r"(\d*\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)([fF]?)", text):
        value = float(match[1])
        return f"{2 * value or 1.0!r}{match[2]}"
    return ""


# ---- those that no input can tell ----


def equivalents() -> list[list[str]]:
    """The rows of equivalent.tsv."""
    lines = Path(__file__).with_name("equivalent.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def source_line(tree: Path, fault: Fault) -> str:
    """As a row of it has the line: blanks as one."""
    return " ".join(lines_of(tree / fault.path)[fault.line - 1].split())


@functools.cache
def lines_of(path: Path) -> list[str]:
    return path.read_text().split("\n")


# ---- a file with its faults ----

# Before the file's first line; #line keeps the numbers of the others. Declares what it needs: an include here would
# come before the file's own _GNU_SOURCE. FAULT_REACHED names a file of a byte a fault: 1 where control came by.
C_PRELUDE = (
    "#ifndef FAULT\n"
    "extern char *getenv(const char *); extern int atoi(const char *); extern int open(const char *, int, ...); "
    "extern int close(int); extern void *fault_map(void *, unsigned long, int, int, int, long) "
    '__asm__("mmap"); '  # also where a macro has that name
    "static int fault_chosen = -1; static unsigned char *fault_reached; "
    "__attribute__((constructor(101), unused)) static void fault_begin(void) {{ "
    'const char *chosen = getenv("FAULT_CHOSEN"), *reached = getenv("FAULT_REACHED"); '
    "if (chosen) fault_chosen = atoi(chosen); "
    "int file = reached ? open(reached, 2) : -1; if (file < 0) return; "
    "void *at = fault_map(0, {size}, 3, 1, file, 0); close(file); if (at != (void *)-1) fault_reached = at; }}\n"
    "#define FAULT(n) (fault_reached ? (fault_reached[n] = 1, 0) : fault_chosen == (n))\n"
    "#endif\n"
    '#line 1 "{path}"\n'
)
PYTHON_PRELUDE = """\
def _fault_of():
    import os

    chosen, reached, seen = os.environ.get("FAULT_CHOSEN"), os.environ.get("FAULT_REACHED"), set()

    def fault(n):
        if reached and n not in seen:
            seen.add(n)
            try:
                file = os.open(reached, os.O_WRONLY)
            except OSError:
                return False
            os.pwrite(file, b"\\1", n)
            os.close(file)
        return chosen == str(n)

    return fault


FAULT = _fault_of()


"""


def with_all(path: Path, faults: dict[int, Fault]) -> str:
    """The text of a host file with these faults, by their numbers, to choose from."""
    source = path.read_bytes()
    python = language_of(path) == "python"
    outermost = sorted(faults.items(), key=lambda item: (item[1].start, -item[1].end, item[0]))

    def render(start: int, end: int, inside: list[tuple[int, Fault]]) -> str:
        text, at = "", start
        while inside:
            number, fault = inside.pop(0)
            nested = []
            while inside and inside[0][1].start < fault.end:
                nested.append(inside.pop(0))
            original = render(fault.start, fault.end, nested)
            text += source[at : fault.start].decode() + choose(number, fault, original, python)
            at = fault.end
        return text + source[at:end].decode()

    body = render(0, len(source), outermost)
    if not python:
        return C_PRELUDE.format(size=1 << 16, path=path) + body
    place = after_docstring(source)
    shift = len(source[:place].decode())
    return body[:shift] + "\n" * bool(place) + PYTHON_PRELUDE + body[shift:]


def choose(number: int, fault: Fault, original: str, python: bool) -> str:
    if fault.kind == "statement":
        if python:
            return f"if not FAULT({number}): {original}"
        return f"{{ if (!FAULT({number})) {original} }}"
    if python:
        return f"(({fault.becomes}) if FAULT({number}) else ({original}))"
    return f"(FAULT({number}) ? ({fault.becomes}) : ({original}))"


def after_docstring(source: bytes) -> int:
    """Where the first statement may stand that is neither the docstring nor of __future__."""
    place = 0
    for child in parser("python").parse(source).root_node.children:
        is_docstring = child.type == "expression_statement" and child.children[0].type in (
            "string",
            "concatenated_string",
        )
        if not (child.type in ("comment", "future_import_statement") or is_docstring):
            break
        place = child.end_byte
    return place


def with_one(path: Path, fault: Fault) -> bytes:
    """The text with this fault alone. A dropped statement leaves an empty one: it may be the body of a loop."""
    source = path.read_bytes()
    empty = b"pass" if language_of(path) == "python" else b";"
    becomes = fault.becomes.encode() or empty
    return source[: fault.start] + becomes + source[fault.end :]
