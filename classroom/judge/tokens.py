"""A region, token by token. What is no token of the part of CUDA C that a region may use is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .words import SIGNS


class Refusal(Exception):
    """Why a region is not taken. `line` counts from 1 within the region."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


@dataclass(frozen=True)
class Token:
    kind: str  # word, number, sign, pragma
    text: str
    line: int


_SIGNS = (
    "<<= >>= -> ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^= :: "
    "{ } [ ] ( ) ; : ? , . ~ ! = + - * / % & | ^ < >"
).split()
_TOKEN = re.compile(
    r"(?P<end>\n)|(?P<blank>[ \t]+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|(?P<directive>#[^\n]*)"
    rf"|(?P<refused>{'|'.join(map(re.escape, SIGNS))})|(?P<word>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.]|'(?=[0-9a-fA-F]))*)"
    rf"|(?P<sign>{'|'.join(map(re.escape, _SIGNS))})|(?P<other>.)",
    re.DOTALL,
)
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?")
_FLOAT = re.compile(
    r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?[fFlL]?|0[xX][0-9a-fA-F]+\.?[0-9a-fA-F]*[pP][+-]?[0-9]+[fF]?"
)
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>")
_LONGEST_NUMBER, _LONGEST_DIRECTIVE = 100, 500  # characters; what takes longer than that to look at is no mistake
_PRAGMA = re.compile(r"# ?pragma unroll\b((?!.*/\*)[\w+*/%(): -]*)", re.ASCII)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a region; comments are left out. Raises Refusal."""
    text = text.replace("\r\n", "\n")
    tokens: list[Token] = []
    at, line, fresh = 0, 1, True  # fresh: nothing but blanks stands before on this line
    while match := _TOKEN.match(text, at):
        kind, said, begin, at = match.lastgroup, match[0], at, match.end()
        if kind == "end":
            line, fresh = line + 1, True
        elif kind == "comment":
            if said.startswith("//") and said.rstrip().endswith("\\"):
                raise Refusal(line, "a comment that ends in \\ swallows the next line: leave the \\ out")
            line += said.count("\n")
        elif kind == "open":
            raise Refusal(line, "/* without */")
        elif fresh and text.startswith(_CONFLICT, begin):
            raise Refusal(line, f"{text[begin : begin + 7]}: a merge has a conflict here: keep one of its two texts")
        elif kind == "directive":
            directive = re.sub(r"//.*", "", said)
            unroll = _PRAGMA.fullmatch(_without_comments(directive))
            if not unroll or not fresh:
                shown = repr(directive.strip()[:40])
                allowed = "#pragma unroll on its own line, alone or with a number or constants"
                raise Refusal(line, f"{shown}: a region has no directives but {allowed}")
            tokens.append(Token("pragma", unroll[1].strip(), line))
            at = begin + len(directive)
        elif kind != "blank":
            tokens.append(_token(kind, said, line))
            fresh = False
    return tokens


def _without_comments(directive: str) -> str:
    if len(directive) <= _LONGEST_DIRECTIVE:
        directive = re.sub(r"/\*.*?\*/", " ", directive)
    return re.sub(r"[ \t]+", " ", directive)


def _token(kind: str, said: str, line: int) -> Token:
    if kind == "refused":
        raise Refusal(line, f"{said}: {SIGNS[said]}")
    if kind == "number":
        number = said.replace("'", "")  # 1'000'000
        is_number = len(said) <= _LONGEST_NUMBER and (_INTEGER.fullmatch(number) or _FLOAT.fullmatch(number))
        if not is_number:
            raise Refusal(line, f"{said[:40]}: expected a number such as 12, 0xff, 1.5f or 1e-3f")
        return Token(kind, number, line)
    if kind == "other":
        shown = said if " " < said < "\x7f" else f"the character U+{ord(said):04X}"
        raise Refusal(line, f"{shown}: expected plain ASCII outside of comments")
    return Token(kind, said, line)
