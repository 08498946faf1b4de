"""The text between a task's two marker lines, as the judge takes it: recognized token by token, never byte by byte.

`rewrite` writes out the tokens it recognized. What it does not know it refuses, in one line that says what to write
instead. Every identifier that neither the language, nor the common list of device functions, nor the task's own list
(classroom/tasks/ID/names) holds becomes u_NAME: it can mean only what the region itself declares. So the result names
nothing else of the program, of the judge or of the compiler, holds the address of no function, and reaches memory only
through accesses that the simulated device counts and checks.

The grammar is the part of CUDA C in which the body of a kernel is written: statements, expressions, local variables and
arrays, references, pointers to numbers, vector types, and lambdas that are only called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .tokens import Refusal, Token, tokens_of
from .words import (
    ARITHMETIC,
    BUILT_IN,
    CASTABLE_VECTORS,
    COMPONENTS,
    CONSTANTS,
    FUNCTIONS,
    INSTEAD,
    KEYWORDS,
    OTHER_WORDS,
    STATEMENTS,
    VECTORS,
    Names,
)

MOST_CHARACTERS = 16_384
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPE_WORDS = ARITHMETIC | VECTORS
_BEFORE_A_VALUE = frozenset("= += -= *= /= + - * / % ? == != return".split())  # never before a declaration


class _Rewriter:
    def __init__(self, tokens: list[Token], names: Names) -> None:
        self.tokens = tokens
        self.names = names
        self.lambdas: set[str] = set()
        self.enclosing: list[int] = []  # of each token: the bracket that it is within or closes; -1: none
        self.out: list[str] = []

    # A token that is not there: before the first, after the last.
    NONE = Token("none", "", 0)

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else self.NONE

    def is_type(self, token: Token) -> bool:
        return token.kind == "word" and (token.text in _TYPE_WORDS or token.text in self.names.types)

    def ends_operand(self, index: int) -> bool:
        """Whether a value stands before: then a sign after it is binary, and [ a subscript."""
        token = self.at(index)
        if token.kind == "number" or token.text in (")", "]"):
            return True
        return (
            token.kind == "word"
            and not self.is_type(token)
            and token.text not in STATEMENTS | OTHER_WORDS - {"true", "false"}
        )

    def run(self) -> str:
        self.check_brackets()
        last = self.at(len(self.tokens) - 1)
        if self.tokens and last.text not in (";", "}"):
            shown = "#pragma unroll" if last.kind == "pragma" else last.text
            raise Refusal(last.line, f"the region ends in {shown}: expected a whole statement, ending in ; or }}")
        if self.at(0).text == "else":
            raise Refusal(self.at(0).line, "else: its if is not in the region")
        self.find_lambdas()
        line, fresh = 1, True
        for index, token in enumerate(self.tokens):
            if token.line > line:
                self.out.append("\n" * (token.line - line))
                line, fresh = token.line, True
            if not fresh:
                self.out.append(" ")
            fresh = False
            if token.kind == "pragma":
                self.out.append(self.pragma(token))
            elif token.kind == "word":
                self.out.append(self.word(index, token))
            else:
                if token.kind == "sign":
                    self.sign(index, token)
                self.out.append(token.text)
        for name in sorted(self.names.declared):
            if not self.declares(name):
                raise Refusal(last.line or 1, f"expected a declaration of {name}, which the lines after the region use")
        return "".join(self.out) + ("\n" if self.tokens else "")

    # -- whole --

    def check_brackets(self) -> None:
        open_ones = [-1]
        for index, token in enumerate(self.tokens):
            self.enclosing.append(open_ones[-1])
            if token.text in _CLOSING:
                open_ones.append(index)
            elif token.text in _CLOSING.values():
                opening = open_ones.pop()
                if opening < 0 or _CLOSING[self.at(opening).text] != token.text:
                    raise Refusal(token.line, f"{token.text}: nothing is open that it would close in the region")
        if len(open_ones) > 1:
            token = self.at(open_ones[-1])
            raise Refusal(token.line, f"{token.text}: not closed in the region")

    def declares(self, name: str) -> bool:
        """Whether it is declared at the region's own level, not within braces: `int end = ...`, `int a, end = ...`."""
        depth = 0
        for index, token in enumerate(self.tokens):
            depth += token.text in ("{", "(")
            depth -= token.text in ("}", ")")
            if token.kind == "word" and token.text == name and depth == 0:
                before = self.at(index - 1)
                if (
                    self.is_type(before)
                    or before.text in ("auto", "const")
                    or (before.text == "," and self.in_declaration(index))
                ):
                    return True
        return False

    def in_declaration(self, index: int) -> bool:
        """Whether the statement that token `index` is in begins with a type."""
        while index > 0 and self.at(index - 1).text not in (";", "{", "}") and self.at(index - 1).kind != "pragma":
            index -= 1
        first = self.at(index)
        return self.is_type(first) or first.text in ("auto", "const", "constexpr", "struct")

    def find_lambdas(self) -> None:
        """auto NAME = [captures](parameters) ... : the names that may only be called."""
        for index, token in enumerate(self.tokens):
            if token.text != "[" or self.ends_operand(index - 1) or self.is_declared_array(index):
                continue
            name = self.at(index - 2)
            if self.at(index - 1).text != "=" or name.kind != "word" or self.at(index - 3).text != "auto":
                raise Refusal(token.line, "[: a lambda is written auto f = [&](...) { ... };")
            if name.text in self.lambdas:
                raise Refusal(name.line, f"{name.text}: a second lambda of this name")
            if self.known(name.text):
                raise Refusal(
                    name.line, f"{name.text}: the function has a thing of this name; choose another one for the lambda"
                )
            self.lambdas.add(name.text)
            close = index + 1
            while self.at(close).text != "]":
                inside = self.at(close)
                if inside.text not in ("&", "=", ","):
                    raise Refusal(inside.line, f"{inside.text}: a lambda captures with [&], [=] or not at all, []")
                close += 1
            if self.at(close + 1).text != "(":
                raise Refusal(token.line, "[: a lambda is written auto f = [&](...) { ... };")

    def is_declared_array(self, index: int) -> bool:
        return self.at(index - 1).kind == "word" and self.at(index - 1).text not in STATEMENTS | OTHER_WORDS

    # -- words --

    def known(self, name: str) -> bool:
        names = self.names
        return (
            name in FUNCTIONS | CONSTANTS | BUILT_IN
            or name in names.variables | names.functions | names.templates | names.types | names.declared
            or any(name == scope for scope, _ in names.scoped)
        )

    def pragma(self, token: Token) -> str:
        count = token.text
        if count and not count.isdigit() and count not in self.names.variables:
            raise Refusal(token.line, f"#pragma unroll {count}: expected a number or a constant of the function")
        return f"#pragma unroll {count}".rstrip()

    def word(self, index: int, token: Token) -> str:
        text, names = token.text, self.names
        before, after = self.at(index - 1), self.at(index + 1)
        if text in KEYWORDS or text in INSTEAD:
            instead = INSTEAD.get(text)
            raise Refusal(token.line, f"{text}: not in a region" + (f"; write instead: {instead}" if instead else ""))
        if before.text in (".", "->") and not self.is_type(token):  # the type a lambda returns may stand after ->
            if text in names.members or text in COMPONENTS:
                return text
            known = ", ".join(f".{name}" for name in sorted(names.members)) or "none but .x, .y, .z and .w"
            raise Refusal(
                token.line, f"{before.text}{text}: not a member that a region may use here; it may use {known}"
            )
        if before.text == "::":
            if (self.at(index - 2).text, text) in names.scoped:
                return text
            raise Refusal(token.line, f"{self.at(index - 2).text}::{text}: not one of {self.scoped_names()}")
        if text in _TYPE_WORDS or text in names.types:
            self.check_type(index, token)
            return text
        if text in STATEMENTS or text in OTHER_WORDS:
            self.check_word(index, token)
            return text
        if text in FUNCTIONS | names.functions or text in self.lambdas or text in names.templates:
            self.check_called(index, token)
            return f"u_{text}" if text in self.lambdas else text
        if text in BUILT_IN:
            if after.text != "." or self.at(index + 2).text not in ("x", "y", "z"):
                raise Refusal(token.line, f"{text}: expected {text}.x, .y or .z")
            return text
        if any(text == scope for scope, _ in names.scoped):
            if after.text != "::":
                raise Refusal(token.line, f"{text}: expected one of {self.scoped_names()}")
            return text
        if text in CONSTANTS or text in names.variables or text in names.declared:
            return text
        if "__" in text:
            raise Refusal(token.line, f"{text}: not one of the device functions that a region may call")
        return f"u_{text}"

    def scoped_names(self) -> str:
        return (
            ", ".join(sorted(f"{scope}::{name}" for scope, name in self.names.scoped)) or "none: no :: is needed here"
        )

    def check_called(self, index: int, token: Token) -> None:
        if token.text in self.lambdas and self.at(index - 1).text == "auto" and self.at(index + 2).text == "[":
            return
        before = self.at(index - 1)
        if self.is_type(before) or before.text in ("auto", "*", "&") and self.is_type(self.at(index - 2)):
            raise Refusal(token.line, f"{token.text}: a function has this name; choose another one")
        after = index + 1
        if token.text in self.names.templates and self.at(after).text == "<":
            while self.at(after).text not in (">", ";", "{", ""):
                after += 1
            after += 1
        if self.at(after).text != "(":
            raise Refusal(token.line, f"{token.text}: a function, which can only be called: {token.text}(...)")

    def check_word(self, index: int, token: Token) -> None:
        after = self.at(index + 1)
        if token.text == "struct" and not (after.kind == "word" and after.text in self.names.types):
            known = ", ".join(sorted(f"struct {name}" for name in self.names.types))
            raise Refusal(token.line, f"struct {after.text}: expected {known or 'no struct: the function has none'}")
        if token.text == "struct" and self.at(index + 2).text in ("{", ":", ";"):
            raise Refusal(
                token.line, f"struct {after.text} {self.at(index + 2).text}: a type is used here, not defined"
            )
        if token.text in ("static_cast", "reinterpret_cast"):
            close = index + 2
            while self.at(close).text not in (">", ";", "{", ""):
                close += 1
            self.check_cast(token, [inside.text for inside in self.tokens[index + 2 : close]], self.at(close + 2))
        if token.text == "auto" and self.is_parameter_list(self.enclosing[index]):
            raise Refusal(token.line, "auto: a parameter's type is written out")
        if token.text == "auto":
            self.refuse_deeper_pointers(index)

    def check_type(self, index: int, token: Token) -> None:
        """A type: of a declaration, or of a cast."""
        if token.text in ARITHMETIC and self.at(index - 1).text in ARITHMETIC:
            return  # looked at with its first word
        first = index
        while self.at(first - 1).text in ("const", "struct") or self.at(first - 1).text in ARITHMETIC:
            first -= 1
        last = index
        while self.at(last + 1).text == "const" or self.at(last + 1).text in ARITHMETIC:
            last += 1
        after = self.at(last + 1)
        is_value = self.at(first - 1).text in _BEFORE_A_VALUE  # float((a + b) / 2)
        if after.text == "(" and self.at(last + 2).text in ("*", "&", "(") and not is_value:
            raise Refusal(
                token.line,
                f"{token.text} ({self.at(last + 2).text}: pointers to functions and arrays are not in a region",
            )
        self.refuse_deeper_pointers(last)
        controls = self.at(first - 2).text in ("for", "if", "while", "switch")
        if self.at(first - 1).text == "(" and not controls and not self.is_parameter_list(first - 1):
            close = last + 1
            while self.at(close).text in ("*", "&", "const", "&&"):
                close += 1
            if self.at(close).text == ")" and self.at(first - 2).text != "sizeof":
                self.check_cast(token, [inside.text for inside in self.tokens[first:close]], self.at(close + 1))

    def is_parameter_list(self, index: int) -> bool:
        """Whether the bracket at `index` is the ( after a lambda's captures."""
        if self.at(index).text != "(" or self.at(index - 1).text != "]":
            return False
        opening = self.enclosing[index - 1]
        return not self.ends_operand(opening - 1) and not self.is_declared_array(opening)

    def refuse_deeper_pointers(self, index: int) -> None:
        """After the type at `index`: no pointer to a pointer, no array of pointers, no reference to a temporary."""
        stars, at = 0, index + 1
        while self.at(at).text in ("*", "&", "&&", "const"):
            if self.at(at).text == "&&":
                raise Refusal(self.at(at).line, "&&: a reference is written with one &")
            stars += self.at(at).text == "*"
            at += 1
        if stars > 1:
            raise Refusal(self.at(at - 1).line, "**: no pointers to pointers in a region")
        if stars and self.at(at).kind == "word" and self.at(at + 1).text == "[":
            raise Refusal(self.at(at).line, f"{self.at(at).text}: no arrays of pointers in a region")

    def check_cast(self, token: Token, type_words: Iterable[str], operand: Token) -> None:
        words = [word for word in type_words if word != "const"]
        if all(word in ARITHMETIC for word in words) and words:
            return
        if len(words) == 2 and words[0] in CASTABLE_VECTORS and words[1] == "*":
            if operand.text in ("&", "*"):
                raise Refusal(
                    token.line, f"({' '.join(type_words)}){operand.text}: cast a pointer: ({words[0]} *)(p + i)"
                )
            return
        if len(words) == 2 and words[0] == "struct" and operand.text == "{":
            return  # (struct partial){m, l}
        raise Refusal(token.line, f"({' '.join(type_words)}): casts are to numbers, or to float2 * and float4 *")

    # -- signs --

    def sign(self, index: int, token: Token) -> None:
        text, after = token.text, self.at(index + 1)
        if text == "[" and after.text == "[":
            raise Refusal(token.line, "[[: not in a region")
        if text in (".", "->") and after.kind != "word":
            raise Refusal(token.line, f"{text}{after.text}: expected a member's name after {text}")
        if text == "::" and not any(self.at(index - 1).text == scope for scope, _ in self.names.scoped):
            raise Refusal(token.line, f"::: expected one of {self.scoped_names()}")
        if text in ("&", "&&") and not self.ends_operand(index - 1):
            self.check_address(index, token)
        if text == "*" and not self.ends_operand(index - 1):
            self.check_star(index, token)

    def check_address(self, index: int, token: Token) -> None:
        before = self.at(index - 1)
        if token.text == "&&":
            raise Refusal(token.line, "&&: expected a value before it")
        if self.is_type(before) or before.text in ("auto", "const"):
            return  # a reference
        if before.text == "[" and self.at(index + 1).text in ("]", ","):
            return  # [&]
        if before.text in ("(", ",") and self.is_argument(index):
            return
        raise Refusal(token.line, "&: an address is taken only for an argument of a function: write p + i for &p[i]")

    def check_star(self, index: int, token: Token) -> None:
        """Of a declaration or of what a pointer points to."""
        if self.at(index + 1).text == "*":
            raise Refusal(token.line, "**: no pointers to pointers in a region")
        if self.at(index - 1).text == "," and self.at(index + 2).text == "[" and self.in_declaration(index):
            raise Refusal(token.line, f"{self.at(index + 1).text}: no arrays of pointers in a region")

    def is_argument(self, index: int) -> bool:
        """Whether token `index` is directly within the brackets of a call of a listed function."""
        opening = self.enclosing[index]
        return self.at(opening).text == "(" and self.is_call(opening)

    def is_call(self, index: int) -> bool:
        """Whether the ( at `index` follows a listed function's name, or its template arguments."""
        name = index - 1
        if self.at(name).text == ">":
            while name > 0 and self.at(name).text != "<":
                name -= 1
            name -= 1
        word = self.at(name)
        return word.kind == "word" and word.text in FUNCTIONS | self.names.functions | self.names.templates


def rewrite(text: str, names: Names) -> str:
    """The region as it is compiled: as many lines as it has, one blank between tokens, no comments. Raises Refusal."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal(1, f"a region of {len(text)} characters, expected at most {MOST_CHARACTERS}")
    return _Rewriter(tokens_of(text), names).run()


def original(text: str) -> str:
    """A compiler's message in the student's own names."""
    return re.sub(r"\bu_([A-Za-z_]\w*)", r"\1", text)
