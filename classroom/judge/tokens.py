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
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS))
_LINE = re.compile(r"[^\n]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_PP_NUMBER = re.compile(r"\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.]|'(?=[0-9a-fA-F]))*")
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
    while at < len(text):
        char = text[at]
        if char == "\n":
            at, line, fresh = at + 1, line + 1, True
        elif char in " \t":
            at += 1
        elif text.startswith("//", at):
            end = _LINE.match(text, at).end()
            if text[at:end].rstrip().endswith("\\"):
                raise Refusal(line, "a comment that ends in \\ swallows the next line: leave the \\ out")
            at = end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise Refusal(line, "/* without */")
            line += text.count("\n", at, end)
            at = end + 2
        elif fresh and text.startswith(_CONFLICT, at):
            raise Refusal(line, f"{text[at : at + 7]}: a merge has a conflict here: keep one of its two texts")
        elif char == "#":
            end = _LINE.match(text, at).end()
            directive = re.sub(r"//.*", "", text[at:end])
            match = _PRAGMA.fullmatch(_without_comments(directive))
            if not match or not fresh:
                shown = repr(directive.strip()[:40])
                allowed = "#pragma unroll on its own line, alone or with a number or constants"
                raise Refusal(line, f"{shown}: a region has no directives but {allowed}")
            tokens.append(Token("pragma", match[1].strip(), line))
            at += len(directive)
        else:
            token, length = _token_at(text, at, line)
            tokens.append(token)
            at += length
            fresh = False
    return tokens


def _without_comments(directive: str) -> str:
    if len(directive) <= _LONGEST_DIRECTIVE:
        directive = re.sub(r"/\*.*?\*/", " ", directive)
    return re.sub(r"[ \t]+", " ", directive)


def _token_at(text: str, at: int, line: int) -> tuple[Token, int]:
    """The token, and how many characters it has in the text."""
    for sign, instead in SIGNS.items():
        if text.startswith(sign, at):
            raise Refusal(line, f"{sign}: {instead}")
    if match := _WORD.match(text, at):
        return Token("word", match[0], line), len(match[0])
    if match := _PP_NUMBER.match(text, at):
        number = match[0].replace("'", "")  # 1'000'000
        is_number = len(match[0]) <= _LONGEST_NUMBER and (_INTEGER.fullmatch(number) or _FLOAT.fullmatch(number))
        if not is_number:
            raise Refusal(line, f"{match[0][:40]}: expected a number such as 12, 0xff, 1.5f or 1e-3f")
        return Token("number", number, line), len(match[0])
    if match := _SIGN.match(text, at):
        return Token("sign", match[0], line), len(match[0])
    char = text[at]
    shown = char if " " < char < "\x7f" else f"the character U+{ord(char):04X}"
    raise Refusal(line, f"{shown}: expected plain ASCII outside of comments")
