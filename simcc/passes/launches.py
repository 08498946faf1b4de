"""Launches: KERNEL<<<CONFIGURATION>>>(arguments). A part of the source pass (source.py)."""

from __future__ import annotations

from passes.declarations import MUST_BE_LAUNCHED
from passes.overloads import (
    has_pack,
    is_address,
    is_ambiguous,
    is_declared_at,
    number_of_arguments,
    spelled_type,
    takes_defaults,
)
from passes.tokens import STATEMENT_WORD, Code

CONDITION_WORD = frozenset("if while for switch".split())
WITHOUT_A_TYPE = frozenset("0 __null {}".split())
POINTERS_TO_ANYTHING = frozenset("void* constvoid* voidconst* void*const constvoid*const voidconst*const".split())

LAUNCH_FORM = "a kernel launch is KERNEL<<<grid, block>>>(arguments), or <<<grid, block, shared bytes, stream>>>"
# Behind these a statement begins, or a cast.
IN_FRONT_OF_A_CALL = frozenset("; { } ) else do".split())


def rewrite_calls(code: Code) -> None:
    text, i = code.text, 0
    while i < code.count:
        token = text[i]
        if token == "<":
            if is_triple(code, i, "<") and text[i - 1] != "operator":
                rewrite_launch(code, i)
                i += 2
        elif token == "cudaLaunchKernel" and text[i + 1] == "(":
            strip_cast(code, i + 2)
        elif token in code.kernels and text[i - 1] in IN_FRONT_OF_A_CALL and not code.kernels[token].is_hidden:
            refuse_call(code, i)
        i += 1


def refuse_call(code: Code, i: int) -> None:
    """k(x), k<64>(x) and k<<1, 64>>(x) for a launch."""
    text = code.text
    behind = code.after_item(i + 1) if text[i + 1] == "<" and text[i + 2] != "<" else i + 1
    if text[behind : behind + 2] == ["<", "<"] and text[behind + 2] != "<":
        code.error(behind, LAUNCH_FORM)
    elif text[behind] == "(" and i not in code.kernels[text[i]].named_at:
        code.error(i, f"{MUST_BE_LAUNCHED}: {code.text[i]}<<<grid, block>>>(...)")


def refuse_open_launch(code: Code) -> None:
    """Where a launch's `(` was forgotten its `)` is one too many: what is wrong is the launch."""
    i = code.errors[0][0]
    if code.text[i] != ")":
        return
    closed = None
    while i and code.text[i - 1] not in (";", "{", "}"):
        i -= 1
        if is_triple(code, i, ">"):
            closed = i
        elif is_triple(code, i, "<") and closed is not None:
            if code.text[closed + 3] != "(":
                code.errors = [(i, LAUNCH_FORM)]
            return


def is_triple(code: Code, i: int, character: str) -> bool:
    return code.text[i : i + 3] == [character] * 3


def rewrite_launch(code: Code, opened: int) -> None:
    """Every token of the user's stays where it was, so that the compiler's columns lead back to it."""
    out = code.out
    close = launch_close(code, opened)
    first = expression_start(code, opened - 1)
    if close is None or first is None or code.text[close + 3] != "(":
        code.error(opened, LAUNCH_FORM)
        return
    name = kernel_name(code, first, opened - 1)
    if code.device[opened] == 2:
        launching = f"launching '{name}' in device code (dynamic parallelism)"
        code.error(opened, f"{launching} is not supported by the simulated device")
        return
    arguments = close + 3
    if not 2 <= len(code.items(opened + 2, close, of_call=True)) <= 4 and not has_pack(code, opened + 2, close):
        code.error(opened, LAUNCH_FORM)
    refuse_wrong_launch(code, name, opened, arguments)
    kernel = out[first] + written(code, first + 1, opened - 1)
    given = explicit_arguments(code, opened - 1)
    function, in_front, behind = launch_text(code, name, kernel, given, arguments)
    code.drop(opened, opened + 2)
    code.drop(close, close + 2)
    if not code.before[first] and code.text[first - 1] == ":":  # case 1:k<<<...>>>
        function = " " + function
    out[first] = f"{function}({in_front}{out[first]}"
    out[opened] = f"{behind}, ::sim::launch_config("
    out[close] = f'), "{name}")'


def refuse_wrong_launch(code: Code, name: str, opened: int, arguments: int) -> None:
    """What is launched is no kernel, or takes another number of arguments; where in doubt, the compiler decides."""
    at = code.angle_open(opened - 1) - 1 if code.text[opened - 1] == ">" else opened - 1
    if code.text[at] != name or code.text[at - 1] in (".", "->"):
        return
    kernel, given = code.kernels.get(name), number_of_arguments(code, arguments)
    if not kernel:
        declared = [i for i in range(code.count) if is_declared_as(code, i, name)]
        if declared and all(is_function(code, i) for i in declared):
            place = place_of(code, declared[-1], opened)
            code.error(opened, f"a host function call cannot be configured: '{name}' ({place}) has no __global__")
    elif not kernel.is_hidden and not has_pack(code, arguments):
        if all(given < least for least, _, _ in kernel.declared):
            refuse_number(code, "few", name, opened, given, min(kernel.declared))
        elif all(given > most for _, most, _ in kernel.declared):
            refuse_number(code, "many", name, opened, given, max(kernel.declared, key=lambda one: one[1]))


def refuse_number(code: Code, few: str, name: str, opened: int, given: int, declared: tuple[int, float, int]) -> None:
    least, most, at = declared
    takes = str(least) if least == most else f"{least} to {most}" if most < float("inf") else f"{least} or more"
    takes += f" (declared at {place_of(code, at, opened)})"
    code.error(opened, f"too {few} arguments: kernel {name} takes {takes}, the launch gives {given}")


def is_declared_as(code: Code, i: int, name: str) -> bool:
    return code.text[i] == name and is_declared_at(code, i) and not is_address(code, i)


def is_function(code: Code, i: int) -> bool:
    """Not perhaps a variable, `type name(value);`."""
    if code.text[i + 1] != "(":
        return False
    return code.text[i - 1] == "void" or code.text[code.after(i + 1)] == "{"


def place_of(code: Code, i: int, seen_from: int) -> str:
    line = f"line {code.line[i]}"
    return line if code.file[i] == code.file[seen_from] else f"{line} of {code.file[i]}"


def written(code: Code, first: int, last: int) -> str:
    return "".join(code.before[i] + code.out[i] for i in range(first, last + 1))


def launch_text(code: Code, name: str, kernel: str, given: int, opened: int) -> tuple[str, str, str]:
    """The function of the engine that stands for a launch with the arguments in the parentheses that open at `opened`,
    and what is written in front of the kernel and behind it.

    A template whose arguments are all given is one function, and its address can be taken; then arguments convert as in
    any call (a literal 0 to a pointer). If some are deduced from the call, only a call can name the function; if some
    have a default, only a call has it.
    """
    known = code.kernels.get(name)
    arguments = number_of_arguments(code, opened)
    if known and known.template:
        shape = next(iter(known.shapes), None)
        if len(known.shapes) == 1 and given == known.arguments and arguments == shape[1]:
            return "::sim::launch", "", ""
    elif known and is_ambiguous(known):
        spelling = None if has_pack(code, opened) else spelled_type(code, known, arguments)
        if spelling:
            return "::sim::launch", f"static_cast<{spelling}>(", ")"
    elif known and takes_defaults(known, arguments):
        if not has_pack(code, opened):
            called = calling("auto... sim_a", "sim_a...")
            return f"::sim::launch_first<{arguments}>", "", f", {called[0]}{kernel}{called[1]}"
    else:
        return "::sim::launch", "", ""
    return ("::sim::launch_deduced", *calling(*deduced_arguments(code, opened)))


def calling(taken: str, passed: str) -> tuple[str, str]:
    """What stands in front of a kernel, and behind it, to call it."""
    return f'[=]({taken}) __attribute__((no_sanitize("thread"))) {{ ', f"({passed}); }}"


def deduced_arguments(code: Code, opened: int) -> tuple[str, str]:
    """What a function of the arguments takes, and what it passes to the kernel.

    A literal 0 is a null pointer only where it is written, and {} has no type: both are written in the call itself.
    """
    close = code.partner[opened]
    if close is None or has_pack(code, opened):
        return "auto... sim_a", "sim_a..."
    taken: list[str] = []
    passed: list[str] = []
    for n, (first, end) in enumerate(code.items(opened, close, of_call=True)):
        if "".join(code.text[first:end]).strip("()") in WITHOUT_A_TYPE:
            taken.append("auto")
            passed.append(written(code, first, end - 1))
            code.drop(first, end - 1)
            code.out[first] = "0"
        else:
            taken.append(f"auto sim_{n}")
            passed.append(f"sim_{n}")
    return ", ".join(taken), ", ".join(passed)


def launch_close(code: Code, opened: int) -> int | None:
    """The `>>>` of the `<<<` at this index; brackets between them are skipped."""
    i = opened + 3
    while code.text[i] not in (";", ")", "}", "]", ""):
        if is_triple(code, i, ">") and code.text[i + 3] == "(":
            return i
        i = code.after(i)
    return None


def expression_start(code: Code, i: int) -> int | None:
    """The first token of the postfix expression that ends at i: k, ns::k<T>, table[i], (*pointer), object.member."""
    text = code.text
    while True:
        i = component_start(code, i)
        if i is None:
            return None
        before = text[i - 1]
        if before == "template":
            i -= 1
            before = text[i - 1]
        if before not in ("::", ".", "->"):
            return i
        i -= 1
        is_name = code.is_identifier(i - 1) and text[i - 1] not in STATEMENT_WORD
        if before == "::" and text[i - 1] != ">" and not is_name:
            return i
        i -= 1


def component_start(code: Code, i: int) -> int | None:
    """The first token of one part of such an expression: k, k<T>, k(...), k[...], k{...}, (...)."""
    while True:
        token = code.text[i]
        if token == ">":
            opened = code.angle_open(i)
            return opened - 1 if opened is not None and code.is_identifier(opened - 1) else None
        if code.is_identifier(i):
            return i
        opened = code.partner[i] if token in (")", "]", "}") else None
        if opened is None:
            return None
        if token == ")" and not is_callee(code, opened - 1):
            return opened
        i = opened - 1


def is_callee(code: Code, i: int) -> bool:
    """May what ends at i be called? If not, the parentheses behind it are an expression of their own."""
    if not code.is_identifier(i):
        return code.text[i] in (">", "]")
    return code.text[i] not in STATEMENT_WORD and code.text[i] not in CONDITION_WORD


def kernel_name(code: Code, first: int, last: int) -> str:
    """The base name: without namespace and template arguments; of an expression, its last word."""
    end: int | None = last
    if code.text[last] == ">":
        end = code.angle_open(last) - 1
    while code.text[end] == "]":
        end = code.partner[end] - 1
    if code.is_identifier(end):
        return code.text[end]
    names = (code.text[i] for i in range(last, first - 1, -1) if code.is_identifier(i))
    return next(names, "kernel")


def explicit_arguments(code: Code, last: int) -> int:
    return code.count_items(code.angle_open(last), last) if code.text[last] == ">" else 0


def strip_cast(code: Code, i: int) -> None:
    """cudaLaunchKernel((void *)k, ...): our overload wants to see k with its type."""
    if code.text[i] == "(":
        close = code.partner[i]
        if close is not None and "".join(code.text[i + 1 : close]) in POINTERS_TO_ANYTHING:
            code.drop(i, close)
    elif code.text[i] in ("reinterpret_cast", "static_cast", "const_cast") and code.text[i + 1] == "<":
        close = code.angle_close(i + 1)
        if close is not None:
            code.drop(i, close)
