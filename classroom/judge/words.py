"""The words a region may use: the language's, the device's, and those of a task's place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from lib.tasks import rows_of

_WORDS: dict[str, list[str]] = {}
for _, (_kind, _words) in rows_of(Path(__file__).with_name("words.tsv"), 2):
    _WORDS.setdefault(_kind, []).extend(_words.split(" "))
ARITHMETIC, VECTORS, CASTABLE_VECTORS, STATEMENTS, OTHER_WORDS, BUILT_IN, CONSTANTS, COMPONENTS, LEFT_OUT = (
    frozenset(_WORDS[kind])
    for kind in "arithmetic vectors castable statements other built_in constants components left_out".split()
)
FUNCTIONS = frozenset([*_WORDS["functions"], *_WORDS["math"], *(f"{name}f" for name in _WORDS["math"])])
INSTEAD = {kind.rpartition(" ")[2]: " ".join(words) for kind, words in _WORDS.items() if kind.startswith("instead of ")}
WRITTEN = {kind[8:]: " ".join(words) for kind, words in _WORDS.items() if kind.startswith("written ")}
STANDARD = {kind[4:]: " ".join(words) for kind, words in _WORDS.items() if kind.startswith("std ")}
SIGNS = {kind[5:]: " ".join(words) for kind, words in _WORDS.items() if kind.startswith("sign ")}
KEYWORDS = frozenset([*_WORDS["refused"], *INSTEAD])


@dataclass
class Names:
    """What a task's place offers: classroom/tasks/ID/names, words separated by blanks, # for comments.

    q                  a variable or constant          f()          a function, always called
    .m                 a member, after . or ->         f<>()        a function with template arguments
    struct:partial     a type                          T::KEYS      a constant of a type
    declares:end       a variable that the region must declare for the lines after it

    `constants` are in no such file: those that the files of the task declare above it, for all functions.
    """

    variables: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    templates: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    scoped: set[tuple[str, str]] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)


_FORMS = {
    "variables": r"(\w+)",
    "members": r"\.(\w+)",
    "functions": r"(\w+)\(\)",
    "templates": r"(\w+)<>\(\)",
    "types": r"struct:(\w+)",
    "declared": r"declares:(\w+)",
    "scoped": r"(\w+)::(\w+)",
}


def constants_of(text: str) -> set[str]:
    """What a file declares for all its functions: constexpr int WARP = 32, TILE = 2 * WARP;"""
    text = re.sub(r"//.*|/\*.*?\*/", "", text)
    found = re.findall(r"(?<!>)\nconstexpr (?:\w+ )+(\w+ =[^;{]*);", "\n" + text)
    return {match[1] for each in found for part in each.split(",") if (match := re.match(r"\s*(\w+) =", part))}


def parse_names(text: str, path: str | Path = "-") -> Names:
    """Raises ValueError, FILE:LINE: ..., for a word that is none of the forms."""
    names = Names()
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.partition("#")[0].split():
            for kind, form in _FORMS.items():
                if match := re.fullmatch(form, word, re.ASCII):
                    getattr(names, kind).add(match[1] if kind != "scoped" else match.groups())
                    break
            else:
                forms = "a name, .member, f(), f<>(), struct:TYPE, T::NAME or declares:NAME"
                raise ValueError(f"{path}:{number}: {word}: expected {forms}")
    return names
