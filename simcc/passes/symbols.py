"""Names of assembly: what a symbol is, what it is called in the source. A part of the assembly pass (assembly.py)."""

from __future__ import annotations

import os
import re

from passes.process import Stop, as_bytes, output_of, write_file

SYMBOL = r"[A-Za-z_.][\w.$]*"
# How lines begin that hold bytes and name no symbol: most lines of a file, the debugger's.
BYTES_ALONE = ("\t.byte", "\t.uleb128", "\t.sleb128", "\t.string", "\t.asci")

CLONE = re.compile(r"\.\d+$", re.ASCII)
BRACKETS = re.compile(r"(?:\s*\[[^\]]*\])+$", re.ASCII)
QUALIFIERS = re.compile(r"\)\s*(?:const|volatile|&)+\s*$", re.ASCII)
ABI_TAG = re.compile(r"\[abi:[^\]]*\]")
OPERATOR = re.compile(r"operator\s*(?:->|>|>>|<=>)$", re.ASCII)
LAST_NAME = re.compile(r"(operator.*|[~\w$.]+|\{[^}]*\}|\([^()]*\))$", re.ASCII)
LAST_WORD = re.compile(r"::\w+$", re.ASCII)
SCOPE = re.compile(r"^.*(?:::|\.)")
NAMESPACE = re.compile(r"^.*::([^:]+)$")


def is_named(symbol: str, names: dict[str, bool]) -> bool:
    """Whether a symbol is one of these names.

    `tile`, `k.tile` and `tile.0` in a function of C linkage, or mangled, where the name stands with its length in
    front: _ZZ1kPfE4tile, _ZZ1kPfE4tile_0, _ZN2ns4tileE.
    """
    if not names or symbol.startswith("_ZGV"):  # a guard, not the array
        return False
    if any(part in names for part in symbol.split(".")):
        return True
    return symbol.startswith("_Z") and any(symbol.find(f"{len(name)}{name}", 2) >= 0 for name in names)


def demangled(symbols: list[str], scratch: str) -> dict[str, str]:
    """What each symbol is in C++, by one run of c++filt. `scratch` is a file name to use."""
    if not symbols:
        return {}
    file = f"{scratch}.symbols"
    write_file(file, "".join(f"{symbol}\n" for symbol in symbols))
    names = output_of(["c++filt", f"@{file}"]).split("\n")
    os.unlink(as_bytes(file))
    if len(names) <= len(symbols):
        raise Stop(1, "simcc: cannot run c++filt")
    return dict(zip(symbols, names))


def split_signature(signature: str) -> tuple[str, str]:
    """void ns::k<64, true>(float*) -> (k, "64, true")."""
    text = QUALIFIERS.sub(")", BRACKETS.sub("", signature, count=1), count=1)
    if text.endswith(")"):
        text = text[: opening(text, "(", ")")]
    text = ABI_TAG.sub("", text)
    arguments = ""
    if text.endswith(">") and not OPERATOR.search(text):
        start = opening(text, "<", ">")
        text, arguments = text[:start], text[start + 1 : -1]
    name = LAST_NAME.search(text)
    return (name[1] if name else text), arguments


def opening(text: str, opened: str, close: str) -> int:
    """Position of the bracket that the last character of this text closes."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        if text[i] == close and text[i - 1 : i + 1] != "->":
            depth += 1
        elif text[i] == opened:
            depth -= 1
        if depth == 0:
            return i
    return 0


def array_name(name: str) -> str:
    """Of a __shared__ array: k(float*)::tile -> tile."""
    return SCOPE.sub("", CLONE.sub("", name, count=1), count=1)


def variable_name(name: str) -> str:
    return NAMESPACE.sub(r"\1", CLONE.sub("", name, count=1), count=1)


def enclosing_function(name: str) -> str:
    """k(float*)::tile -> k(float*)."""
    return LAST_WORD.sub("", name, count=1)
