#!/usr/bin/env python3
"""The C++ compiler that belongs to a C compiler, or the other way: the one place that knows how their names go.

    counterpart.py c++ "ccache gcc-13 -m64"     prints   ccache g++-13 -m64
    counterpart.py c "/opt/llvm/bin/clang++"    prints   /opt/llvm/bin/clang

Only the word that names the compiler changes: not a launcher in front of it, not its options, not its directory. A name
that says no family (cc, c99, musl-gcc without a musl-g++) takes a twin that is there: beside it or in PATH, of the
family that --version tells. Called: toolchain.mk and other makefiles; compilers.py takes the function.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

# What a name's twin is called; the first pattern that fits.
TWINS = {
    "c++": [
        (r"(.*-)?(clang|g)\+\+(-[0-9.]+)?", r"\g<0>"),
        (r"(.*-)?clang(-[0-9.]+)?", r"\1clang++\2"),
        (r"(c[0-9]+-)?gcc(-[0-9.]+)?", r"g++\2"),
        (r"(.*-)gcc(-[0-9.]+)?", r"\1g++\2"),
        (r"(.*-)?cc", r"\1c++"),
        (r"c[0-9]+", "c++"),
        (r"icx", "icpx"),
    ],
    "c": [
        (r"(.*-)?(clang|gcc)(-[0-9.]+)?", r"\g<0>"),
        (r"(.*-)?clang\+\+(-[0-9.]+)?", r"\1clang\2"),
        (r"(.*-)?g\+\+(-[0-9.]+)?", r"\1gcc\2"),
        (r"(.*-)?c\+\+", r"\1cc"),
        (r"icpx", "icx"),
    ],
}
BY_FAMILY = {("c++", True): "clang++", ("c++", False): "g++", ("c", True): "clang", ("c", False): "gcc"}
NO_COMPILER = re.compile(r"-.*|.*=.*|[0-9].*|ccache|sccache|distcc|icecc|env|nice|zig")
SAYS_ITS_FAMILY = re.compile(r"musl-g.*|.*cc-[0-9].*|.*gcc|.*clang.*|.*g\+\+.*")


def is_clang(compiler: str) -> bool:
    try:
        said = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    return b"clang" in said.stdout.lower()


def twin_of(language: str, word: str) -> str:
    """The twin of one compiler, without options; in the same directory where the name itself tells the twin."""
    name = word.rpartition("/")[2]
    found = ((re.fullmatch(pattern, name), new) for pattern, new in TWINS[language])
    twin = next((match.expand(new) for match, new in found if match), "")
    beside = word[: len(word) - len(name)] + twin
    # Some names say no family, or have no twin of their own everywhere.
    if twin and (SAYS_ITS_FAMILY.fullmatch(name) and name != "musl-gcc" or shutil.which(beside)):
        return beside
    if twin and not SAYS_ITS_FAMILY.fullmatch(name) and shutil.which(twin):
        return twin
    return BY_FAMILY[language, is_clang(word)]


def counterpart(language: str, command: str) -> str:
    """Of a command with its launcher and options; language is what is wanted, "c++" or "c"."""
    words = command.split()
    for i, word in enumerate(words):
        if not NO_COMPILER.fullmatch(word.rpartition("/")[2]):
            words[i] = twin_of(language, word)
            break
    return " ".join(words)


if __name__ == "__main__":
    print(counterpart(sys.argv[1], " ".join(sys.argv[2:])))
