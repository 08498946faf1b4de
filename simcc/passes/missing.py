"""What CUDA has and the simulated device has not: an error where it is used. A part of the source pass (source.py).

A header of ours says which names are missing, so that including it stops nothing:

    #pragma sim_missing function cublas cuBLAS       cublasSgemm(...) is an error that names it
    #pragma sim_missing namespace thrust Thrust      thrust::sort is an error that names it
"""

from __future__ import annotations

import re

from passes.tokens import STATEMENT_WORD, Code

PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma sim_missing (function|namespace) (\w+) (.+)$", re.ASCII | re.MULTILINE)
RUNTIME = ("cuda", "this function of the CUDA runtime")
# What they return goes with anything: the message that names them is to be the only one.
ANYTHING = "namespace sim_missing { struct anything { template <class Type_> operator Type_() const; }; }\n"


def refuse_missing(code: Code) -> None:
    headers = "".join(piece for piece in code.before if "#" in piece)
    functions, namespaces = dict([RUNTIME]), {}
    if "sim_missing" in headers:
        for kind, prefix, library in PRAGMA.findall(headers):
            (functions if kind == "function" else namespaces)[prefix] = library
    if namespaces:
        refuse_namespaces(code, namespaces)
    declare_functions(code, functions, headers)


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


def declare_functions(code: Code, functions: dict[str, str], headers: str) -> None:
    """Declares the functions that are called and are nowhere declared, as unavailable: the compiler says where.

    With (...) for parameters: a function of the program's own that we have not seen is the better match.
    """
    called: dict[str, str] = {}  # name -> library
    other: set[str] = set()
    a_name = re.compile(f"({'|'.join(sorted(functions, key=len, reverse=True))})(?:[A-Z_0-9]\\w*)?$", re.ASCII)
    for i in range(code.count):
        token = code.text[i]
        found = a_name.match(token) if token[:2] in FIRST_LETTERS else None
        if not found:
            continue
        if code.text[i + 1] == "(" and is_call(code, i):
            called[token] = functions[found[1]]
        else:
            other.add(token)
    missing = {name: called[name] for name in called if name not in other and f"{name}(" not in headers}
    if missing:
        code.preamble = ANYTHING
    for name, library in missing.items():
        message = f"{library} is not supported by the simulated device"
        code.preamble += f'sim_missing::anything {name}(...) __attribute__((unavailable("{message}")));\n'


FIRST_LETTERS = frozenset(("cu", "nc", "nv", "np", "__"))


def is_call(code: Code, i: int) -> bool:
    """Not a declaration, a member, a type: where in doubt, it is none."""
    before = code.text[i - 1]
    if before in (".", "->", "::", "*", "&", "&&", ">", "~"):
        return False
    return not code.is_identifier(i - 1) or before in STATEMENT_WORD
