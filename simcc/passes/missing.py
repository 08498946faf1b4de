"""What CUDA has and the simulated device has not: an error where it is used. A part of the source pass (source.py).

A header of ours says which names are missing, so that including it stops nothing:

    #pragma sim_missing function cublas cuBLAS       cublasSgemm(...) is an error that names it
    #pragma sim_missing namespace thrust Thrust      thrust::sort is an error that names it
"""

from __future__ import annotations

import re

from passes.tokens import STATEMENT_WORD, Code

PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma sim_missing (function|namespace) (\w+) (.+)$", re.ASCII | re.MULTILINE)
RUNTIME = ("cuda", "the CUDA runtime")
ALIKE = 0.9  # of two names that differ in a letter or two


def refuse_missing(code: Code) -> None:
    headers = "".join(piece for piece in code.before if "#" in piece)
    functions, namespaces = dict([RUNTIME]), {}
    if "sim_missing" in headers:
        for kind, prefix, library in PRAGMA.findall(headers):
            (functions if kind == "function" else namespaces)[prefix] = library
    if namespaces:
        refuse_namespaces(code, namespaces)
    refuse_functions(code, functions, headers)


def refuse_namespaces(code: Code, namespaces: dict[str, str]) -> None:
    """`using namespace thrust;` and `namespace t = thrust;` use nothing yet."""
    text, reported = code.text, set()
    for i in range(code.count):
        if text[i] not in namespaces or text[i + 1] != "::" or not code.is_identifier(i + 2):
            continue
        before = i - 2 if text[i - 1] == "::" else i - 1
        qualified = text[i - 1] == "::" and code.is_identifier(before)
        if qualified and text[before] not in STATEMENT_WORD:  # cv::cuda is another
            continue
        if text[before] == "namespace" or (text[before] == "=" and text[before - 2] == "namespace"):
            continue
        name = f"{text[i]}::{text[i + 2]}"
        if name not in reported:
            reported.add(name)
            code.error(i, f"'{name}' ({namespaces[text[i]]}) is not supported by the simulated device")


def refuse_functions(code: Code, functions: dict[str, str], headers: str) -> None:
    """Those that are called and are nowhere declared. A name that is not only called may be the program's own."""
    called: list[tuple[int, str]] = []  # token, library
    other: set[str] = set()
    a_name = re.compile(f"({'|'.join(sorted(functions, key=len, reverse=True))})(?:[A-Z_0-9]\\w*)?$", re.ASCII)
    for i in range(code.count):
        token = code.text[i]
        found = a_name.match(token) if token[:2] in FIRST_LETTERS else None
        if not found:
            continue
        if code.text[i + 1] == "(" and is_call(code, i):
            called.append((i, found[1]))
        else:
            other.add(token)
    known: dict[str, bool] = {}
    for i, prefix in called:
        name = code.text[i]
        if name not in known:
            known[name] = name in other or is_named(name, headers)
        if not known[name]:
            code.error(i, missing_function(name, prefix, functions[prefix], headers))


def is_named(name: str, headers: str) -> bool:
    """Does a header name it, other than in our pragma or in the name of a file?"""
    elsewhere = rf"(?<!sim_missing function )(?<![/\"])\b{name}\b(?!\.)"
    return f"{name}(" in headers or re.search(elsewhere, headers, re.ASCII) is not None


def missing_function(name: str, prefix: str, library: str, headers: str) -> str:
    """Of names like __float2half_rz the last letters are no slip: there is one for each way to round."""
    from difflib import get_close_matches

    has = {found.lower(): found for found in re.findall(rf"\b{prefix}\w+(?=\()", headers, re.ASCII)}
    meant = [] if "_" in name else get_close_matches(name.lower(), has, 1, ALIKE)
    if meant and re.sub(r"\D", "", meant[0]) == re.sub(r"\D", "", name):  # cudaMemcpy3D is no slip for cudaMemcpy2D
        what = f"is not a function of {library} that the simulated device has"
        return f"'{name}' {what}; did you mean '{has[meant[0]]}'?"
    return f"'{name}' ({library}) is not supported by the simulated device"


FIRST_LETTERS = frozenset(("cu", "nc", "nv", "np", "__"))


def is_call(code: Code, i: int) -> bool:
    """Not a declaration, a member, a type: where in doubt, it is none."""
    before = code.text[i - 1]
    if before in (".", "->", "::", "*", "&", "&&", ">", "~"):
        return False
    return not code.is_identifier(i - 1) or before in STATEMENT_WORD
