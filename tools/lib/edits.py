"""The one dialect of "replace this text": faults, answers of a class variant, wrong submissions.

    # a comment: "# " at the beginning of a line, anywhere
    @ NAME words of the name
    key: value                    header lines; without a colon the first word is the key: "keeps all"
    --- [all] [in FILE]
    a text that occurs exactly once in the files (all: at least once, and every occurrence is replaced; in FILE: only
    that file is looked at)
    +++
    what stands there instead; it may be nothing

An entry has one replacement or more, applied one after the other. Newlines before and after a text do not count, blanks
and tabs do. A text that occurs another number of times, or a replacement that changes nothing, is an error: an entry
that no longer applies must not quietly become the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from .files import InputError, read_text


class EditError(InputError):
    """One line: FILE:LINE: NAME: what is wrong."""


@dataclass
class Replacement:
    line: int  # of its "---"
    everywhere: bool = False
    file: str | None = None  # the only one that is looked at
    old: str = ""
    new: str = ""


@dataclass
class Edit:
    path: str  # of the file of entries
    line: int
    name: str
    words: str
    header: dict[str, str] = field(default_factory=dict)
    replacements: list[Replacement] = field(default_factory=list)

    def fail(self, what: str, line: int | None = None) -> NoReturn:
        raise EditError(f"{self.path}:{line or self.line}: {self.name}: {what}")

    def apply(self, sources: Mapping[str, str]) -> dict[str, str]:
        """All of the sources, {file name: text}, with the replacements made."""
        changed = dict(sources)
        for each in self.replacements:
            if each.file is not None and each.file not in changed:
                self.fail(f"there is no file {each.file}", each.line)
            names = [each.file] if each.file is not None else sorted(changed)
            counts = {name: changed[name].count(each.old) for name in names}
            total = sum(counts.values())
            if total == 0 or (total != 1 and not each.everywhere):
                places = ", ".join(f"{name} ({count})" for name, count in counts.items() if count) or ", ".join(names)
                expected = "at least once" if each.everywhere else "once"
                first = each.old.split("\n", 1)[0].strip()
                self.fail(f"text found {total} times in {places}, expected {expected}: {first}", each.line)
            if each.old == each.new:
                self.fail("the replacement changes nothing", each.line)
            for name in names:
                changed[name] = changed[name].replace(each.old, each.new)
        if changed == sources:
            self.fail("the replacements change nothing")
        return changed


def parse(text: str, path: str = "-") -> list[Edit]:
    """The entries of a file, in its order; several may have one name."""
    edits: list[Edit] = []
    where = None  # "old", "new": the text that is being read; None: a header
    lines: list[str] = []

    def end_text() -> None:
        if where is None:
            return
        replacement = edits[-1].replacements[-1]
        setattr(replacement, where, "\n".join(lines).strip("\n"))
        if where == "old":
            edits[-1].fail("a text without a +++", replacement.line)

    for number, line in enumerate(text.split("\n"), 1):
        if line == "#" or line.startswith("# "):
            continue
        if match := re.fullmatch(r"@ (\S+)(?: (.*))?", line):
            end_text()
            edits.append(Edit(path, number, match[1], (match[2] or "").strip()))
            where = None
        elif edits and (match := re.fullmatch(r"---( all)?(?: in (\S+))?", line)):
            end_text()
            edits[-1].replacements.append(Replacement(number, bool(match[1]), match[2]))
            where, lines = "old", []
        elif line == "+++" and where == "new":
            edits[-1].fail("a second +++", number)
        elif line == "+++" and where == "old":
            replacement = edits[-1].replacements[-1]
            replacement.old = "\n".join(lines).strip("\n")
            if not replacement.old:
                edits[-1].fail("an empty text", replacement.line)
            where, lines = "new", []
        elif where:
            lines.append(line)
        elif line.strip():
            if not edits or line.startswith(("---", "+++", "@")):
                raise EditError(f"{path}:{number}: not understood: {line}")
            key, colon, value = line.partition(":")
            if not colon:
                key, _, value = line.partition(" ")
            edits[-1].header[key.strip()] = value.strip()
    end_text()
    for edit in edits:
        if not edit.replacements:
            edit.fail("nothing is replaced")
    return edits


def read(path: str | Path) -> list[Edit]:
    return parse(read_text(path, EditError), str(path))


def named(edits: Iterable[Edit], name: str) -> Edit:
    """The only entry of that name."""
    found = [edit for edit in edits if edit.name == name]
    if not found:
        raise EditError(f"there is no entry {name}")
    if len(found) > 1:
        found[1].fail(f"a second entry of this name, the first is in line {found[0].line}")
    return found[0]


def affected(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """The files whose text differs, and those that include one of them, however indirectly."""
    found = {name for name, text in after.items() if before.get(name) != text}
    includes = {
        name: set(re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)) for name, text in after.items()
    }
    while more := {name for name, headers in includes.items() if headers & found} - found:
        found |= more
    return found
