"""The places of __activemask, in an optimized build. A part of the source pass (source.py).

Each call of __activemask is given a number, and so is each call of a device function that leads to one
(sim_cuda/warp.h says why).
"""

from __future__ import annotations

from passes.launches import expression_start
from passes.tokens import Code


def number_places(code: Code) -> None:
    text, out, number = code.text, code.out, 0
    leads = leading_to(code, "__activemask") | leading_to(code, "coalesced_threads")
    for i in range(code.count):
        if not code.device[i] or text[i] not in leads:
            continue
        last = i
        if text[i + 1] == "<":
            close = code.angle_close(i + 1)
            last = i if close is None else close
        if text[last + 1] != "(":
            continue
        close = code.partner[last + 1]
        first = expression_start(code, last)
        if first is None or close is None:
            continue
        number += 1
        if text[i] == "__activemask":
            out[close] = f"{number}ul)"
        else:
            out[first] = f"__extension__({{ const ::sim::place sim_place_{number}({number}ul); " + out[first]
            out[close] += "; })"


def leading_to(code: Code, name: str) -> set[str]:
    """The names of the device functions that call this one, or another that does; and the name itself."""
    leads, known = {name}, 0
    functions = [(function.name, function.body) for function in code.device_functions] + named_lambdas(code)
    while known < len(leads):
        known = len(leads)
        for caller, body in functions:
            if caller not in leads:
                close = code.partner[body]
                end = code.count if close is None else close + 1
                if not leads.isdisjoint(code.text[body:end]):
                    leads.add(caller)
    return leads


def named_lambdas(code: Code) -> list[tuple[str, int]]:
    """auto NAME = [...](...) { ... } in device code: names and bodies."""
    lambdas = []
    for i in range(2, code.count):
        if code.text[i] == "[" and code.device[i] and code.text[i - 1] == "=" and code.is_identifier(i - 2):
            body = code.skip_to(i, ("{", ";"))
            if code.text[body] == "{":
                lambdas.append((code.text[i - 2], body))
    return lambdas
