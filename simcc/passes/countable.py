"""What would hide device code from the hooks, silently. A part of the source pass (source.py), for counted builds."""

from __future__ import annotations

from passes.tokens import Code

# Attributes that take the hooks away, or move and merge what they see. Counted code is compiled without them.
HIDING = frozenset(
    """no_sanitize __no_sanitize__ no_sanitize_thread __no_sanitize_thread__ optimize __optimize__ optnone
    disable_sanitizer_instrumentation""".split()
)
# gcc expands these where it knows the size, whatever -fno-builtin says, and no hook would see the copy.
COPIES = {f"__builtin_{name}": f"::{name}" for name in ("memcpy", "memmove", "memset")}


def keep_countable(code: Code) -> None:
    for i in range(code.count):
        token = code.text[i]
        if token in COPIES:
            code.out[i] = COPIES[token]
        elif token in HIDING:
            drop_attribute(code, i)
        elif token[0] == "\\" or not (token.isascii() or '"' in token or "'" in token):
            code.error(i, "names beyond ASCII are not supported by the simulated device")
            return


def drop_attribute(code: Code, i: int) -> None:
    """__attribute__((noinline, optimize("O3"))) or [[gnu::optimize("O3")]]; another use of the word stays."""
    text, first = code.text, i
    if text[i - 1] == "::" and text[i - 2] in ("gnu", "clang"):
        first = i - 2
    elif not in_attribute(text, i):
        return
    last = code.partner[i + 1] if text[i + 1] == "(" else None
    code.drop(first, i if last is None else last)


def in_attribute(text: list[str], i: int) -> bool:
    for at in range(i - 1, max(i - 40, -1), -1):
        if text[at] in ("__attribute__", "__attribute"):
            return True
        if text[at] in (";", "{", "}"):
            return False
    return False
