"""Kernels that share their name, with each other or with a function of the host, and default arguments.

A part of the source pass (source.py). A launch takes the kernel's address, which has no defaults, and which is not one
where several functions have the name. Then the kernel is called by name, because C++ alone knows what the defaults and
the types of a declaration mean: the words they were written with may mean something else where the launch stands.
"""

from __future__ import annotations

from passes.tokens import STATEMENT_WORD, Code, Function, Kernel, Overload

# Words of types that mean the same in every scope; the first ones are no types yet.
QUALIFIER = frozenset("const volatile __restrict__ __restrict".split())
BUILTIN_TYPE = frozenset("void bool char short int long unsigned signed float double".split())


def rewrite_parameters(code: Code, function: Function) -> Overload:
    """What a kernel takes; its default arguments are made ready for a launch."""
    parameters: list[tuple[int, int]] = []
    defaults: set[int] = set()
    close = code.partner[function.parameters] or function.parameters + 1
    for position, (first, end) in enumerate(code.items(function.parameters, close)):
        equals = code.skip_to(first, ("=", ")"))
        last = equals if equals < end and code.text[equals] == "=" else end
        parameters.append((first, last))
        if last < end:
            defaults.add(position)
            evaluate_once(code, last + 1, end)
    if len(parameters) == 1 and code.text[slice(*parameters[0])] == ["void"]:
        parameters = []
    return Overload(parameters, defaults, all(has_one_meaning(code.text[slice(*place)]) for place in parameters))


def remember_overload(kernel: Kernel, declared: Overload, has_body: bool) -> None:
    """Of a kernel that is no template. A redeclaration has as many parameters as the first."""
    overload = kernel.overloads.setdefault(len(declared.parameters), declared)
    overload.defaults |= declared.defaults
    overload.has_spelling &= declared.has_spelling
    overload.bodies += has_body


def evaluate_once(code: Code, first: int, last: int) -> None:
    """A default is evaluated by the call, which is each thread's. One that may do more than name a value is evaluated
    once for a launch, and by the host: see sim::default_value."""
    if "(" not in code.text[first:last]:
        return
    if code.text[first] == "{":
        code.error(first, "a call in braces as a default argument of a kernel is not supported by the simulated device")
        return
    code.out[first] = "::sim::default_value([]() { return " + code.out[first]
    code.out[last - 1] += "; })"


def mark_shared_names(code: Code) -> None:
    """Which kernels have the name of a host function too, or of a variable: declared where no __global__ stands."""
    for i in range(code.count):
        kernel = code.kernels.get(code.text[i])
        if kernel and i not in kernel.named_at and is_declared_at(code, i):
            kernel.shares_name |= code.text[i + 1] == "("
            kernel.is_hidden |= not is_address(code, i)


def is_address(code: Code, i: int) -> bool:
    """Does `&` stand in front of what is in an expression, as in f(&kernel)?"""
    return code.text[i - 1] == "&" and code.text[i - 2] in ("(", ",", "=")


def is_declared_at(code: Code, i: int) -> bool:
    if code.text[i - 1] in ("*", "&", ">"):
        return True
    return code.is_identifier(i - 1) and code.text[i - 1] not in STATEMENT_WORD


def is_ambiguous(kernel: Kernel) -> bool:
    """Is its address that of several functions?"""
    several = len(kernel.overloads) > 1 or any(overload.bodies > 1 for overload in kernel.overloads.values())
    return several or kernel.shares_name


def number_of_arguments(code: Code, opened: int) -> int:
    close = code.partner[opened]
    return len(code.items(opened, close, of_call=True)) if close is not None else 0


def is_called_by_name(kernel: Kernel) -> bool:
    """May some launch of it be a call by its name, to which the compiler must not object?"""
    overloads = kernel.overloads.values()
    if any(overload.defaults for overload in overloads):
        return True
    return is_ambiguous(kernel) and any(overload.bodies > 1 or not overload.has_spelling for overload in overloads)


def has_pack(code: Code, opened: int, close: int | None = None) -> bool:
    """Does an argument stand for any number of them?"""
    close = code.partner[opened] if close is None else close
    return close is not None and any(code.text[end - 1] == "..." for _, end in code.items(opened, close, of_call=True))


def takes_defaults(kernel: Kernel, arguments: int) -> bool:
    """Of a kernel that has its name for itself."""
    return any(overload.defaults and arguments < count for count, overload in kernel.overloads.items())


def spelled_type(code: Code, kernel: Kernel, arguments: int) -> str | None:
    """The type of the only kernel of this name that takes so many arguments; None where the call must choose."""
    fitting = [(n, overload) for n, overload in kernel.overloads.items() if overload.least() <= arguments <= n]
    if len(fitting) != 1 or fitting[0][0] != arguments:
        return None
    overload = fitting[0][1]
    if overload.bodies > 1 or not overload.has_spelling:
        return None
    types = ", ".join(written(code, parameter) for parameter in overload.parameters)
    return f"void (*)({types})"


def has_one_meaning(words: list[str]) -> bool:
    """Is this a parameter of built-in types, as `const float *x`, which means the same in every scope?"""
    names = [n for n, word in enumerate(words) if word not in QUALIFIER | BUILTIN_TYPE and word != "*"]
    return not BUILTIN_TYPE.isdisjoint(words) and names in ([], [len(words) - 1])


def written(code: Code, place: tuple[int, int]) -> str:
    return " ".join(code.out[place[0] : place[1]])
