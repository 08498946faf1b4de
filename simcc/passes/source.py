"""The first pass of simcc: preprocessed CUDA C++ in, plain C++ out.

It rewrites single tokens and never adds or drops a line, so the linemarkers of the preprocessor keep every message of
the compiler, and every line of a hazard report, on the user's own file and line. Because the text is already
preprocessed, a launch or an `extern __shared__` works in a header and in a macro. Text of system headers passes through
untouched.
"""

from __future__ import annotations

from collections import namedtuple

from passes.countable import keep_countable
from passes.declarations import rewrite_declarations
from passes.host_code import refuse_on_host
from passes.launches import refuse_open_launch, rewrite_calls
from passes.missing import refuse_missing
from passes.process import read_file
from passes.tokens import Code


class Columns:
    """How the columns of a line of the rewritten text lead back to the user's.

    `moved` are, per token, its column now, its column before, and whether it was rewritten: then it is one place.
    Beyond column `known` a macro or a comment has changed the line, and columns mean nothing.
    """

    __slots__ = ("moved", "known")

    def __init__(self) -> None:
        self.moved: list[tuple[int, int, bool]] = []
        self.known = 0

    def before(self, column: int) -> int:
        """The column in what the user wrote; 0 where it cannot be told."""
        for now, before, rewritten in reversed(self.moved):
            if now <= column:
                column = before if rewritten else column + before - now
                break
        return column if column <= self.known else 0


Refusal = namedtuple("Refusal", "file line column said")
Refusal.__doc__ = "An error that the pass itself found. The column is 0 where it is not known."


class Source:
    """What the pass made of a file, and what the later passes need to know of it."""

    def __init__(self, code: Code) -> None:
        self.text = code.whole_text()
        self.shared = code.shared
        self.dynamic = code.dynamic
        self.variable_templates = code.variable_templates
        self.files = code.files
        self.columns = columns_of(code)
        self.errors = [Refusal(code.file[i], code.line[i], self.column(code, i), said) for i, said in code.errors]

    def column(self, code: Code, i: int) -> int:
        """Of token i in what the user wrote; 0 where it cannot be told."""
        here, column = (code.file[i], code.line[i]), 1
        while i and (code.file[i - 1], code.line[i - 1]) == here:
            column += len(code.before[i]) + len(code.text[i - 1])
            i -= 1
        column += len(code.before[i]) - code.before[i].rfind("\n") - 1
        known = self.columns.get(here)
        return column if known and column <= known.known else 0


def transform(content: str, fast: bool, compiler: str, headers: str) -> Source:
    """`compiler` is "gcc" or "clang"; `headers` is the directory of our own headers."""
    code = Code(content, fast, compiler, headers)
    if code.errors:  # what follows would make nothing of brackets that do not match
        refuse_open_launch(code)
        return Source(code)
    refuse_missing(code)
    rewrite_declarations(code)
    refuse_on_host(code)
    rewrite_calls(code)
    if not fast:
        keep_countable(code)
    else:
        from passes.places import number_places

        number_places(code)
    return Source(code)


def columns_of(code: Code) -> dict[tuple[str, int], Columns]:
    """By file and line."""
    columns: dict[tuple[str, int], Columns] = {}
    lines: dict[str, dict[int, list[str]]] = {}
    place, now, before, changed, seen = ("", 0), 1, 1, False, []
    for text, out, blank, *here in zip(code.text, code.out, code.before, code.file, code.line):
        if "\n" in blank:
            blank = blank[blank.rindex("\n") + 1 :]
        if (here[0], here[1]) != place:
            place, now, before, changed = (here[0], here[1]), 1, 1, False
            seen = lines.setdefault(here[0], {}).setdefault(here[1], [])
        now += len(blank)
        before += len(blank)
        changed = changed or out != text
        if changed:
            columns.setdefault(place, Columns()).moved.append((now, before, out != text))
        seen += (blank, text)
        now += len(out)
        before += len(text)
    for file, known in lines.items():
        try:
            content = read_file(file).split("\n")
        except OSError:
            continue
        for line, parts in known.items():
            if line <= len(content):
                found = columns.setdefault((file, line), Columns())
                found.known = common_length(content[line - 1] + "\n", "".join(parts))
    return columns


def common_length(first: str, second: str) -> int:
    first, second = first.replace("\t", " "), second.replace("\t", " ")
    if first.startswith(second):
        return len(second) + 1  # also the end of the line, where something may be missing
    return next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
