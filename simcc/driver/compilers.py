"""Which compilers simcc uses: CC and CXX for C and C++, a clang for CUDA."""

from __future__ import annotations

import os
import re

from driver.process import as_bytes, as_text, output_of, place_in_path, usage_error, variable, words

# A name alone that says what it compiles, and that it is for this machine.
SAYS_WHAT = {"CC": re.compile(r"(.*/)?(gcc|clang)(-[0-9.]+)?"), "CXX": re.compile(r"(.*/)?(g|clang)\+\+(-[0-9.]+)?")}
OLDEST, NEWEST = 14, 40  # versions of clang that are looked for by their number
EXPECTED = {"CC": "expected gcc or clang", "CXX": "expected g++ or clang++"}


class Compilers:
    """The C++ and the C compiler, each with its options ("ccache g++ -m64"), and whether the first is clang."""

    def __init__(self) -> None:
        self.cc = absolute(words(variable("CC") or ""))
        if self.cc:
            is_clang("CC", self.cc)
        self.cxx = absolute(words(variable("CXX") or ""))
        if not self.cxx and self.cc:
            self.cxx = twin_of("c++", self.cc)
        if not self.cxx:
            self.cxx = [next((name for name in ("g++", "c++", "clang++") if place_in_path(name)), "g++")]
        self.is_clang = is_clang("CXX", self.cxx)
        if not self.cc:
            self.cc = twin_of("c", self.cxx)


def absolute(command: list[str]) -> list[str]:
    """simcc's own make runs elsewhere."""
    return [as_text(os.path.abspath(as_bytes(word))) if word.startswith(("./", "../")) else word for word in command]


def clang_for_cuda(cxx: list[str], cxx_is_clang: bool) -> list[str]:
    """CXX where that is clang; else the clang++ that is there, the newest of those with a number."""
    if cxx_is_clang:
        return cxx
    numbered = (f"clang++-{version}" for version in range(NEWEST, OLDEST - 1, -1))
    found = "clang++" if place_in_path("clang++") and major_of("clang++") >= OLDEST else None
    found = found or next((name for name in numbered if place_in_path(name)), None)
    if found is None:
        raise usage_error(f"CUDA is compiled by clang++ ({OLDEST} or later), which is not installed: see setup.sh")
    return [found]


def major_of(clang: str) -> int:
    said = output_of([clang, "-dumpversion"], quiet=True).partition(".")[0]
    return int(said) if said.isdigit() else 0


def twin_of(language: str, command: list[str]) -> list[str]:
    from driver.counterpart import counterpart  # most callers say both: these need not wait for what it imports

    return words(as_text(counterpart(language, os.fsdecode(as_bytes(" ".join(command))))))


def is_clang(name: str, command: list[str]) -> bool:
    """By what a compiler calls itself. The variable of that name chose it, and it is gcc or clang.

    simcc as its own compiler would wait for itself for ever, whatever path, link or script leads to it.
    """
    chosen = " ".join(command)
    if not place_in_path(command[0]):
        raise usage_error(f"{name}='{chosen}': compiler '{command[0]}' not found; expected gcc or clang")
    banner = output_of([*command, "--version"], quiet=True)
    if banner.startswith("simcc ") and banner[6:7].isdigit():
        raise usage_error(f"{name}='{chosen}' is simcc itself; expected a compiler for it to use, gcc or clang")
    of_clang = "clang" in banner.lower()
    if not of_clang and "see the source for copying conditions" not in banner:
        raise usage_error(f"{name}='{chosen}' is neither gcc nor clang; expected one of them")
    if not SAYS_WHAT[name].fullmatch(chosen):
        refuse_code(name, command, f"{name}='{chosen}'")
    return of_clang


def refuse_code(name: str, command: list[str], chosen: str) -> None:
    """A compiler of the other language, or of code that is not for the simulated device."""
    empty = as_text(os.path.join(os.path.dirname(os.path.abspath(__file__)), "empty.c"))
    defined = words(output_of([*command, "-dM", "-E", empty], quiet=True))
    if not defined:
        return
    if ("__cplusplus" in defined) != (name == "CXX"):
        what = "a C++ compiler" if name == "CC" else "a C compiler, which does not link C++"
        raise usage_error(f"{chosen} is {what}; {EXPECTED[name]}")
    if not {"__x86_64__", "__aarch64__"}.intersection(defined) or "__ILP32__" in defined:
        raise usage_error(f"{chosen} makes no 64-bit code for x86-64 or ARM64, and the simulated device runs no other")
