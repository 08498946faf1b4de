"""A real CUDA Toolkit on the same machine: its headers are never ours.

Directories of a toolkit that the command line or the environment names are not searched. What of it lies in the
compiler's own path (Debian's packages put it into /usr/include) is found behind our headers: one that we do not have is
an error that names it, in place of the hundred that its text would make.
"""

from __future__ import annotations

import os
import re

from driver.process import as_bytes, as_text, is_file, unescaped, variable

SEARCHED = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"[ \d]*$', re.ASCII | re.MULTILINE)
OWNER = "NVIDIA Corporation"
DEPTH = 3  # how deep below a toolkit's directory its headers lie: thrust/system/cuda/vector.h


def is_toolkit(directory: str) -> bool:
    return is_file(f"{directory}/crt/host_config.h") and is_file(f"{directory}/cuda_runtime.h")


def without_toolkits(options: list[str]) -> list[str]:
    """These options of the preprocessor, but for the directories of a toolkit."""
    kept, words = [], iter(options)
    for word in words:
        if word.startswith("-I"):
            kept += [] if is_toolkit(word[2:]) else [word]
        elif word in ("-isystem", "-iquote", "-idirafter"):
            directory = next(words)
            kept += [] if is_toolkit(directory) else [word, directory]
        else:
            kept.append(word)
    return kept


def clean_environment() -> None:
    for name in SEARCHED:
        directories = (variable(name) or "").split(":")
        kept = [directory for directory in directories if not is_toolkit(directory)]
        if len(kept) < len(directories):
            os.environb[as_bytes(name)] = as_bytes(":".join(kept))
            if not kept:  # an empty list would mean the working directory
                del os.environb[as_bytes(name)]


def refused_headers(rule: str, preprocessed) -> list[str]:
    """The message for the first header of a toolkit in a file of which this is what -M says; `preprocessed` makes its
    text, which tells where the header is included."""
    for name in rule.replace("\\\n", " ").split():
        if is_of_toolkit(name):
            above, entered, _ = unescaped(preprocessed()).partition(f'\n# 1 "{name}" 1')
            if not entered:  # its name is written otherwise there
                return [f"error: {described(name)}"]
            *_, includer = MARKER.finditer(above)
            line = int(includer[1]) + above.count("\n", includer.end())
            return [f"{includer[2]}:{line}: error: {described(name)}"]
    return []


def described(name: str) -> str:
    return f"{name} is a header of the CUDA Toolkit, and the simulated device has none in its place"


_toolkits: dict[str, bool] = {}


def is_of_toolkit(name: str) -> bool:
    directory = name.rpartition("/")[0] or "."
    if directory not in _toolkits:
        place = as_text(os.path.realpath(as_bytes(directory)))
        above = [place, *(place.rsplit("/", n)[0] for n in range(1, DEPTH + 1))]
        _toolkits[directory] = any(is_toolkit(candidate) for candidate in above if candidate)
    if not _toolkits[directory]:
        return False
    try:
        with open(as_bytes(name), "rb") as file:
            return as_bytes(OWNER) in file.read(4096)
    except OSError:
        return False
