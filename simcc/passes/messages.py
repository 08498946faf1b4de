"""The compiler's messages about what the source pass wrote, as messages about what the user wrote.

Lines are right, because the pass keeps them. Columns lead back through source.Columns, and a line is shown as it stands
in the user's file, with a caret where the column can be told. What the templates of sim_cuda/launch.h say of a launch
is said as nvcc says it.
"""

from __future__ import annotations

import re

from passes.declarations import BUILTIN
from passes.process import read_file
from passes.source import Columns, Source

AllColumns = dict[tuple[str, int], Columns]  # by file and line
# One line per message, for this module to read; behind the user's own options.
ONE_LINE = {
    "gcc": """-fno-diagnostics-show-caret -fdiagnostics-column-unit=byte -fdiagnostics-color=never
        -fdiagnostics-format=text""".split(),
    "clang": "-fno-caret-diagnostics -fno-color-diagnostics -fdiagnostics-format=clang".split(),
}
QUOTATION_MARK = re.compile("\xe2\x80[\x98\x99]")  # gcc's, in UTF-8
PLACED = re.compile(r"(.+?):(\d+):(?:(\d+):)?(?: ((?:fatal )?error|warning|note):)? *(.*)", re.ASCII)
UNENDED = re.compile(r"""missing terminating (?:"|'|'"') character""")
# What a message says stands there, where the source pass has put it, or proposes, where it is the engine's.
REWRITTEN = re.compile(
    r" before '(?:::|__attribute__|static|extern|__extension__)'(?: token)?|[;,] did you mean '(?:::)?sim\b.*"
    r"|[;,] did you mean '(?:::)?sim_.*"
)

UNDECLARED = re.compile(r"'(\w+)' was not declared in this scope|use of undeclared identifier '(\w+)'", re.ASCII)
INTERNAL = re.compile(r"\bsim::|<lambda\(auto")
NO_MATCH = re.compile(r"no match(?:ing function)? for call to ")
# The same of a function with a name, and what the notes say of those that there are.
NO_FUNCTION = re.compile("no matching (?:function for call to|constructor for initialization of) ")
CONVERSION = re.compile(
    r"(?:no known conversion|cannot convert argument of incomplete type)(?: for argument (\d+))?(?: from)? '(.*?)'"
    r"(?: [({]aka '.*?'[)}])? to '(.*?)'(?: [({]aka '.*?'[)}])?(?: for (\d+)\w\w argument)?"
)
COUNT = re.compile(
    r"(?:expects|requires|allows)( at least | at most | )(\d+|single|no) argument.*?(\d+|no)\b[a-z ]* provided"
)
INCLUDED = re.compile("In file included from | +from ")
NO_KERNEL = "what is launched here is no __global__ function"
# What the notes to such an error say, by gcc or clang, and what it means.
MEANING = [
    (CONVERSION, lambda said: wrong_type(said[1] or said[4], said[2], said[3])),
    (COUNT, lambda said: wrong_number(*(int(NUMBER.get(word, word)) for word in said.groups()[1:]))),
    (
        re.compile("mismatched types 'void' and|could not match 'void' against"),
        lambda said: "a __global__ function must have a void return type",
    ),
]
NUMBER = {"single": "1", "no": "0"}
# gcc says it in two errors.
ILL_FORMED = re.compile(r"conversion of argument (\d+) would be ill-formed")
INVALID = re.compile(r"invalid conversion from '(.*)' to '(.*)'")


def wrong_type(number: str, given: str, wanted: str) -> str:
    return f"argument {number} of type '{given}' is incompatible with the kernel's parameter of type '{wanted}'"


def wrong_number(takes: int, given: int) -> str:
    few = "few" if given < takes else "many"
    return f"too {few} arguments: the kernel takes {takes}, the launch gives {given}"


class Message:
    """A line of what the compiler says. Without a kind (error, ...) it stands in front of one that has it."""

    def __init__(self, said: str) -> None:
        self.said = said
        found = PLACED.fullmatch(said)
        self.file, line, column, self.kind, self.text = found.groups() if found else ("", "", "", None, said)
        self.line, self.column = int(line or 0), int(column or 0)


def of_preprocessor(said: str, headers: str) -> str:
    """The same for what is said before the source pass, which refuses a string that does not end where it is used."""
    lines = QUOTATION_MARK.sub("'", said).split("\n")
    return for_user("\n".join(line for line in lines if not is_refused_later(Message(line))), {}, headers)


def is_refused_later(message: Message) -> bool:
    is_warning = message.kind == "warning" and UNENDED.match(message.text)
    return bool(is_warning) and not line_of(message.file, message.line).lstrip().startswith("#")


def for_user(said: str, columns: AllColumns, headers: str) -> str:
    """What is to be said in place of this. Notes about our headers are about nothing that the user wrote."""
    ours = f"{headers}/"
    messages = [Message(line) for line in QUOTATION_MARK.sub("'", said).split("\n") if line]
    out: list[str] = []
    context: list[Message] = []
    number = ""  # of the argument that the next error is about
    explained: tuple[str, int] | None = None  # where the last error stands, if it says what its notes there would say
    translated = False
    for i, message in enumerate(messages):
        if message.kind is None:
            context.append(message)
            continue
        if message.kind != "note":
            notes = notes_of(messages[i + 1 :])
            text, number = meaning_of(message.text, notes, number, ours)
            translated, message.text = text != message.text, text
            if message.file.startswith(ours):
                take_place(message, [*reversed(context), *notes], ours)
            explained = (message.file, message.line) if any(note.file.startswith(ours) for note in notes) else None
            if not translated:
                message.text += reason(message.text, notes, ours)
        is_told = translated or is_internal(message, ours) or (message.file, message.line) == explained
        if not number and not (message.kind == "note" and is_told):
            out += [said for line in context for said in in_front_of(line, message, columns, ours)]
            out += shown(message, columns)
        context = []
    return "".join(f"{line}\n" for line in [*out, *(line.said for line in context)])


def is_internal(message: Message, ours: str) -> bool:
    return message.file.startswith(ours) or bool(INTERNAL.search(message.said))


def in_front_of(line: Message, message: Message, columns: AllColumns, ours: str) -> list[str]:
    if is_internal(line, ours) or (line.line and (line.file, line.line) == (message.file, message.line)):
        return []
    if INCLUDED.match(line.said) and (ours in line.said or "<command-line>" in line.said):
        return []
    return [f"{place_of(line, columns)[0]}   {line.text}".rstrip()] if line.line else [line.said]


def notes_of(messages: list[Message]) -> list[Message]:
    """Those at the beginning."""
    end = next((i for i, message in enumerate(messages) if message.kind not in (None, "note")), len(messages))
    return [message for message in messages[:end] if message.kind]


def reason(text: str, notes: list[Message], ours: str) -> str:
    """Why no function of ours takes the arguments of a call: what is left of the notes about all of them. Of several
    functions the one counts that wants a pointer to what is given, or the first."""
    said = [note.text for note in notes if "implicit" not in note.text]
    if not NO_FUNCTION.match(text) or not any(note.file.startswith(ours) for note in notes):
        return ""
    wrong = [found for found in map(CONVERSION.search, said) if found]
    if wrong:
        found = next((one for one in wrong if one[3].startswith(one[2])), wrong[0])
        return f": argument {found[1] or found[4]} of type '{found[2]}' is incompatible with '{found[3]}'"
    counts = [found for found in map(COUNT.search, said) if found]
    if not counts:
        return ""
    takes = " or ".join(sorted({found[1].lstrip() + NUMBER.get(found[2], found[2]) for found in counts}))
    given = NUMBER.get(counts[0][3], counts[0][3])
    return f": it takes {takes} argument{'s' * (takes.split()[-1] != '1')}, the call gives {given}"


def meaning_of(text: str, notes: list[Message], number: str, ours: str) -> tuple[str, str]:
    """What the error is to say, and if it says nothing, the number of the argument that the next one is about."""
    if number:
        found = INVALID.match(text)
        return (wrong_type(number, *found.groups()) if found else text), ""
    if not NO_MATCH.match(text) or not ("sim::" in text or any(is_candidate(note, ours) for note in notes)):
        return text, ""
    said = "\n".join(note.text for note in notes)
    found = ILL_FORMED.search(said)
    if found:
        return "", found[1]
    for pattern, meaning in MEANING:
        found = pattern.search(said)
        if found:
            return meaning(found), ""
    return NO_KERNEL, ""


def is_candidate(note: Message, ours: str) -> bool:
    return note.file == f"{ours}sim_cuda/launch.h" and note.text.startswith("candidate")


def take_place(message: Message, others: list[Message], ours: str) -> None:
    """What went wrong in a template of ours, at the line that needs it."""
    for other in others:
        if other.line and not other.file.startswith(ours) and not INCLUDED.match(other.said):
            message.file, message.line, message.column = other.file, other.line, other.column
            return


def place_of(message: Message, columns: AllColumns) -> tuple[str, int]:
    """As it is shown, and the column."""
    known = columns.get((message.file, message.line))
    column = known.before(message.column) if known else message.column
    return f"{message.file}:{message.line}:" + (f"{column}:" if column else ""), column


def of_source(source: Source) -> list[str]:
    """What the source pass itself refused."""
    out = []
    for file, line, column, said in source.errors:
        place = f"{file}:{line}:" + (f"{column}:" if column else "")
        out += [f"{place} error: {said}", *quoted_line(file, line, column)]
    return out


def shown(message: Message, columns: AllColumns) -> list[str]:
    place, column = place_of(message, columns)
    text = as_written(REWRITTEN.sub("", message.text))
    return [f"{place} {message.kind}: {text}", *quoted_line(message.file, message.line, column)]


BARRIERS = ("__syncthreads", "__syncwarp")


def as_written(text: str) -> str:
    """With the built-in variables in place of what the source pass made of them, also where one was meant."""
    for word, call in BUILTIN.items():
        text = text.replace(call[1:-1], word)
    unknown = UNDECLARED.fullmatch(text)
    name = unknown and (unknown[1] or unknown[2])
    if name in BUILTIN:
        return f'a __device__ variable "{name}" cannot be directly read in a host function'
    if name:
        from difflib import get_close_matches

        names = {word.lower(): word for word in (*BUILTIN, *BARRIERS)}
        meant = get_close_matches(name.lower(), names, 1, 0.8)
        text += f"; did you mean '{names[meant[0]]}'?" if meant else ""
    return text


def quoted_line(file: str, number: int, column: int) -> list[str]:
    """A line of the user's, with a caret where the column is known."""
    written = line_of(file, number).rstrip().replace("\t", " ")
    if not written:
        return []
    lines = [f"{number:5} | {written}"]
    if column:
        in_front = written[: column - 1].encode("latin-1").decode("utf-8", "replace")
        lines.append(f"      | {' ' * len(in_front)}^")
    return lines


def line_of(file: str, number: int) -> str:
    try:
        return read_file(file).split("\n")[number - 1]
    except (OSError, IndexError):
        return ""
