"""Barriers and exchanges of device code in a function of the host. A part of the source pass (source.py).

nvcc refuses them where they stand. Here a function without __device__ may be called by a kernel, so only one that is
surely of the host's alone is refused; what another one does is told when it runs.
"""

from __future__ import annotations

import re

from passes.overloads import is_declared_at
from passes.tokens import TAKES_PARENTHESES, Code

OF_THE_DEVICE = re.compile(
    r"__(?:syncthreads(?:_and|_or|_count)?|syncwarp|activemask|(?:all|any|ballot|match_all|match_any)_sync"
    r"|shfl(?:_up|_down|_xor)?_sync|reduce_[a-z]+_sync)"
)
RUNTIME = re.compile(r"cuda[A-Z]\w*(?<!_t)", re.ASCII)
CONDITIONAL = frozenset("if while for switch constexpr".split())
BLOCK = frozenset("; { } : else do try".split())


def refuse_on_host(code: Code) -> None:
    text = code.text
    for i in range(code.count):
        if text[i][:2] != "__" or code.device[i] or text[i + 1] != "(" or not OF_THE_DEVICE.fullmatch(text[i]):
            continue
        if is_declared_at(code, i) or text[i - 1] in (".", "->", "::"):
            continue
        function = host_function(code, i)
        if function:
            called = f'calling a __device__ function("{text[i]}")'
            code.error(i, f'{called} from a __host__ function("{function}") is not allowed')


def host_function(code: Code, i: int) -> str | None:
    """The name of the function around i, if that is the host's alone: main, or one that launches or calls the runtime.

    Not of one in a class or a namespace, nor where i is in a lambda.
    """
    opened = opened_around(code, i)
    while opened and is_block(code, opened[0]):
        opened.pop(0)
    if len(opened) != 1 or code.text[opened[0] - 1] != ")":
        return None
    name_at = code.partner[opened[0] - 1] - 1
    name = code.text[name_at]
    if not code.is_identifier(name_at) or name in TAKES_PARENTHESES or code.text[name_at - 1] in (":", ","):
        return None
    return name if name == "main" or calls_the_runtime(code, opened[0]) else None


def calls_the_runtime(code: Code, body: int) -> bool:
    for i in range(body, code.partner[body]):
        token = code.text[i]
        if code.text[i : i + 3] == ["<"] * 3 or (RUNTIME.fullmatch(token) and code.text[i + 1] == "("):
            return True
    return False


def opened_around(code: Code, i: int) -> list[int]:
    """The `{` that are open at i, the innermost first."""
    opened = []
    while i > 0:
        i -= 1
        if code.text[i] in (")", "]", "}"):
            i = code.partner[i]
        elif code.text[i] == "{":
            opened.append(i)
    return opened


def is_block(code: Code, i: int) -> bool:
    """Of statements, and no body of a function or a lambda."""
    before = code.text[i - 1]
    return before in BLOCK or (before == ")" and code.text[code.partner[i - 1] - 1] in CONDITIONAL)
