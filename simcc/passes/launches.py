"""Launches: KERNEL<<<CONFIGURATION>>>(arguments). A part of the source pass (source.py)."""

from __future__ import annotations

from passes.overloads import has_pack, is_ambiguous, number_of_arguments, spelled_type, takes_defaults
from passes.tokens import STATEMENT_WORD, Code

CONDITION_WORD = frozenset("if while for switch".split())
WITHOUT_A_TYPE = frozenset("0 __null {}".split())
POINTERS_TO_ANYTHING = frozenset("void* constvoid* voidconst* void*const constvoid*const voidconst*const".split())


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
        i += 1


def is_triple(code: Code, i: int, character: str) -> bool:
    return code.text[i : i + 3] == [character] * 3


def rewrite_launch(code: Code, opened: int) -> None:
    """Everything up to the arguments is replaced, on the lines it was on."""
    out, before = code.out, code.before
    close = launch_close(code, opened)
    first = expression_start(code, opened - 1)
    if close is None or first is None or code.text[close + 3] != "(":
        code.error(opened, "a kernel launch is KERNEL<<<grid, block>>>(arguments)")
        return
    name = kernel_name(code, first, opened - 1)
    if code.device[opened] == 2:
        launching = f"launching '{name}' in device code (dynamic parallelism)"
        code.error(opened, f"{launching} is not supported by the simulated device")
        return
    kernel = out[first] + written(code, first + 1, opened - 1)
    code.drop(opened, opened + 2)
    code.drop(close, close + 2)
    configuration = written(code, opened, close + 2)
    for i in range(first + 1, close + 3):
        before[i] = out[i] = ""
    if not before[first] and code.text[first - 1] == ":":  # case 1:k<<<...>>>
        before[first] = " "
    arguments = close + 3
    given = explicit_arguments(code, opened - 1)
    out[first] = launch_text(code, name, kernel, configuration, given, arguments)


def written(code: Code, first: int, last: int) -> str:
    return "".join(code.before[i] + code.out[i] for i in range(first, last + 1))


def launch_text(code: Code, name: str, kernel: str, configuration: str, given: int, opened: int) -> str:
    """The call of the engine that stands for a launch with the arguments in the parentheses that open at `opened`.

    A template whose arguments are all given is one function, and its address can be taken; then arguments convert as in
    any call (a literal 0 to a pointer). If some are deduced from the call, only a call can name the function; if some
    have a default, only a call has it.
    """
    known = code.kernels.get(name)
    arguments = number_of_arguments(code, opened)
    by_address, types_known = True, False
    if known and known.template:
        shape = next(iter(known.shapes), None)
        all_given = len(known.shapes) == 1 and given == known.arguments
        by_address = all_given and arguments == shape[1]
    elif known and is_ambiguous(known):
        spelling = None if has_pack(code, opened) else spelled_type(code, known, arguments)
        if spelling:
            kernel = f"static_cast<{spelling}>({kernel})"
        by_address = spelling is not None
    elif known and takes_defaults(known, arguments):
        by_address = False
        types_known = not has_pack(code, opened)
    configured = f'::sim::launch_config({configuration}), "{name}", '
    if by_address:
        return f"::sim::launch({configured}{kernel})"
    if types_known:
        return f"::sim::launch_first<{arguments}>({configured}{kernel}, {calling(kernel, 'auto... sim_a', 'sim_a...')})"
    taken, passed = deduced_arguments(code, opened)
    return f"::sim::launch_deduced({configured}{calling(kernel, taken, passed)})"


def calling(kernel: str, taken: str, passed: str) -> str:
    return f'[=]({taken}) __attribute__((no_sanitize("thread"))) {{ {kernel}({passed}); }}'


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
