"""Which compiler simcc uses, and the options it takes for device code."""

from __future__ import annotations

import os
import re

from passes.process import as_bytes, as_text, in_path, output_of, usage_error, variable, words

# Device code is never optimized when it is counted: at -O0 each access of the source is one call of a hook, with any
# compiler, and no access is removed, merged or moved. Builtins stay calls, so that they are counted too.
# Each function has its frame pointer and all of its variables between that and the stack pointer: the assembly pass
# fills them, and the engine looks after what lies above.
INSTRUMENTED = """-O0 -fsanitize=thread -fno-omit-frame-pointer -mno-red-zone -fno-stack-protector
    -fno-stack-clash-protection -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
    -fno-builtin-expf -fno-builtin-exp -fno-builtin-exp2f -fno-builtin-exp2 -fno-builtin-expm1f -fno-builtin-expm1
    -fno-builtin-exp10f -fno-builtin-exp10""".split()
# gcc's sanitizer does not look at the operands of calls: dot(a[i], b[i]) with structs, a[i] = make(). With this option
# such copies are calls of constructors and assignments, whose own accesses it does see.
# Arguments on the stack are moved there, not pushed: a function that aligns its stack then keeps the usual frame.
GCC_INSTRUMENTED = "-fno-elide-constructors --param tsan-distinguish-volatile=1 -maccumulate-outgoing-args".split()
FAST = ["-march=native"]
DEVICE = """-fno-strict-aliasing -fno-builtin-printf -ftls-model=local-exec -fcf-protection=none
    -Wno-unknown-pragmas""".split()
# Lines for the records; clang's sanitizer pass runs on its intermediate code (build.py). That clang's optimizer cannot
# unroll a loop as its pragma asks is no fault of the kernel, and no warning: -Werror would stop at it.
# DWARF 4: in version 5 addr2line takes the first file of a table for another one.
GCC_ASSEMBLY = "-g1 -gdwarf-4 -gstatement-frontiers -Wno-class-memaccess -Wno-tsan".split()
CLANG_ASSEMBLY = "-gline-tables-only -gdwarf-4 -Qunused-arguments -fno-addrsig -Wno-pass-failed".split()
CLANG_INTERMEDIATE = "-Xclang -disable-llvm-passes -emit-llvm -S".split()
CLANG_FROM_INTERMEDIATE = """-x ir -w -Qunused-arguments -mllvm -tsan-instrument-read-before-write=1
    -mllvm -tsan-distinguish-volatile -fno-addrsig""".split()


# A name alone that says what it compiles, and that it is for this machine.
SAYS_WHAT = {"CC": re.compile(r"(.*/)?(gcc|clang)(-[0-9.]+)?"), "CXX": re.compile(r"(.*/)?(g|clang)\+\+(-[0-9.]+)?")}
EXPECTED = {"CC": "expected gcc or clang", "CXX": "expected g++ or clang++"}


class Compilers:
    """The C++ and the C compiler, each with its options ("ccache g++ -m64"), and the family of the first."""

    def __init__(self) -> None:
        self.cc = words(variable("CC") or "")
        if self.cc:
            is_clang("CC", self.cc)
        self.cxx = words(variable("CXX") or "")
        if not self.cxx and self.cc:
            self.cxx = twin_of("c++", self.cc)
        if not self.cxx:
            self.cxx = [next((name for name in ("g++", "c++", "clang++") if in_path(name)), "g++")]
        self.is_clang = is_clang("CXX", self.cxx)
        if not self.cc:
            self.cc = twin_of("c", self.cxx)

    @property
    def family(self) -> str:
        return "clang" if self.is_clang else "gcc"

    def optimiser_options(self, fast: bool, level: str | None) -> list[str]:
        if fast:
            return [level or "-O3", *FAST]
        return INSTRUMENTED if self.is_clang else INSTRUMENTED + GCC_INSTRUMENTED


def twin_of(language: str, command: list[str]) -> list[str]:
    from passes.counterpart import counterpart  # most callers say both: these need not wait for what it imports

    return words(as_text(counterpart(language, os.fsdecode(as_bytes(" ".join(command))))))


def is_clang(name: str, command: list[str]) -> bool:
    """By what a compiler calls itself. The variable of that name chose it, and it is gcc or clang.

    simcc as its own compiler would wait for itself for ever, whatever path, link or script leads to it.
    """
    chosen = " ".join(command)
    if not in_path(command[0]):
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
