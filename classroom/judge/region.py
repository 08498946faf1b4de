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
from dataclasses import replace
from typing import NoReturn

from . import words
from .tokens import Refusal, Token, tokens_of

MOST_CHARACTERS = 16_384
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPE_WORDS = words.ARITHMETIC | words.VECTORS
_LAMBDA = "[: a lambda is written auto f = [&](...) { ... }; or it is called at once: [&] { ... }()"
_BEFORE_A_VALUE = frozenset("= += -= *= /= + - * / % ? == != return".split())  # never before a declaration


def refuse(token: Token, why: str) -> NoReturn:
    raise Refusal(token.line, why)


def spelled_out(tokens: Iterable[Token]) -> list[Token]:
    """Without std:: before what a region has anyway; macros and types of headers as they are written out."""
    out: list[Token] = []
    for token in tokens:
        if token.kind == "pragma":
            out.append(token)
            continue
        if token.text in words.FUNCTIONS | words.ARITHMETIC and [each.text for each in out[-2:]] == ["std", "::"]:
            del out[-2:]
        if token.text in words.WRITTEN:
            out += [replace(each, line=token.line) for each in tokens_of(words.WRITTEN[token.text])]
        elif token.text not in words.LEFT_OUT:
            out.append(token)
    return out


class _Rewriter:
    def __init__(self, tokens: list[Token], names: words.Names) -> None:
        self.tokens = spelled_out(tokens)
        self.names = names
        self.lambdas: set[str] = set()
        self.lambda_brackets: set[int] = set()  # that open the list of what a lambda captures
        self.captures: set[int] = set()  # tokens in such a list
        self.enclosing: list[int] = []  # of each token: the bracket that it is within or closes; -1: none
        self.closing: dict[int, int] = {}  # of an opening bracket: the closing one
        self.beginnings = self.beginnings_of(self.tokens)
        self.calls: dict[int, bool] = {}  # of an opening bracket: is it a call's
        self.out: list[str] = []

    # A token that is not there: before the first, after the last.
    NONE = Token("none", "", 1)

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else self.NONE

    def is_type(self, token: Token) -> bool:
        return token.kind == "word" and (token.text in _TYPE_WORDS or token.text in self.names.types)

    def ends_operand(self, index: int) -> bool:
        """Whether a value stands before: then a sign after it is binary, and [ a subscript."""
        token = self.at(index - 1 if self.at(index).text in ("++", "--") else index)  # the value of p++ is one, too
        no_value = self.is_type(token) or token.text in words.STATEMENTS | words.OTHER_WORDS - {"true", "false"}
        return token.kind == "number" or token.text in (")", "]") or (token.kind == "word" and not no_value)

    def run(self) -> str:
        self.check_brackets()
        own = [index for index, token in enumerate(self.tokens) if token.kind == "word" and self.is_declared(index)]
        self.declared = {self.at(index).text for index in own}
        self.constants = self.names.constants - self.declared
        # Those with the name of a function: float max = ..., int a = 1, min;
        variables = {self.at(index).text for index in own if self.at(index + 1).text not in ("(", ">")}
        self.variables = variables & (words.FUNCTIONS | self.names.functions)
        last = self.at(len(self.tokens) - 1)
        if self.tokens and last.text not in (";", "}"):
            shown = "#pragma unroll" if last.kind == "pragma" else last.text
            refuse(last, f"the region ends in {shown}: expected a whole statement, ending in ; or }}")
        if self.at(0).text == "else":
            refuse(self.at(0), "else: its if is not in the region")
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
        at_its_level = {self.at(index).text for index in own if self.enclosing[index] == -1}  # not within braces
        for name in sorted(self.names.declared - at_its_level):
            raise Refusal(last.line, f"expected a declaration of {name}, which the lines after the region use")
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
                    refuse(token, f"{token.text}: nothing is open that it would close in the region")
                self.closing[opening] = index
        if len(open_ones) > 1:
            token = self.at(open_ones[-1])
            refuse(token, f"{token.text}: not closed in the region")

    @staticmethod
    def beginnings_of(tokens: Iterable[Token]) -> list[int]:
        """Of each token: the first one of its statement."""
        first, found = 0, []
        for index, token in enumerate(tokens):
            found.append(first)
            if token.text in (";", "{", "}") or token.kind == "pragma":
                first = index + 1
        return found

    def in_declaration(self, index: int) -> bool:
        """Whether the statement that token `index` is in begins with a type."""
        first = self.at(self.beginnings[index])
        return self.is_type(first) or first.text in ("auto", "const", "constexpr", "struct")

    def find_lambdas(self) -> None:
        """auto NAME = [captures](parameters) ... : the names that may only be called; others are called at once."""
        for index, token in enumerate(self.tokens):
            is_statement = self.ends_header(index - 1)  # if (...) [&] { ... }();
            is_subscript = self.ends_operand(index - 1) and not is_statement
            if token.text != "[" or is_subscript or self.is_declared_array(index):
                continue
            if self.at(index + 1).text == "[" and self.at(self.closing[index] - 1).text == "]":
                refuse(token, "[[...]]: a region has no attributes: leave it out")
            before = self.at(index - 1 if self.at(index - 1).text not in ("&", "&&") else index - 2)
            if before.text == "auto":  # auto [m, l] = a; auto &[m, l] = a;
                refuse(token, "auto [...]: write a variable for each member: float m = a.m, l = a.l;")
            self.lambda_brackets.add(index)
            self.check_captures(index)
            if self.at(self.end_of_lambda(index) + 1).text == "(":
                continue  # called at once: only its result is left
            name, types = self.at(index - 2), f" {self.at(index - 4).text} {self.at(index - 3).text}"
            if self.at(index - 1).text != "=" or name.kind != "word" or not re.search(" auto(?: const)?$", types):
                refuse(token, _LAMBDA)
            if name.text in self.lambdas:
                refuse(name, f"{name.text}: a second lambda of this name")
            if self.known(name.text):
                refuse(name, f"{name.text}: the function has a thing of this name; choose another one for the lambda")
            self.lambdas.add(name.text)

    def ends_header(self, index: int) -> bool:
        """Whether it is the ) of an if or a loop: what follows is a statement."""
        before = self.at(self.enclosing[index] - 1).text if self.at(index).text == ")" else ""
        return before in ("if", "constexpr", "for", "while", "switch")

    def check_captures(self, index: int) -> None:
        """[&], [=], [] or names, each with or without &."""
        inside = range(index + 1, self.closing[index])
        self.captures.update(inside)
        listed = " ".join("x" if self.at(at).kind == "word" else self.at(at).text for at in inside)
        if not re.fullmatch(r"(?:(?:[&=]|(?:& )?x)(?: , (?:& )?x)*)?", listed):
            refuse(self.at(index), "[: a lambda captures with [&], [=], names as in [&a, b], or not at all, []")

    def end_of_lambda(self, index: int) -> int:
        """The } of the lambda whose captures begin at `index`."""
        at = self.closing[index] + 1
        if self.at(at).text == "(":
            at = self.closing[at] + 1
            if self.at(at).text == "->":
                while self.at(at).text not in ("{", ";", "}", ""):
                    at += 1
        if self.at(at).text != "{":
            refuse(self.at(index), _LAMBDA)
        return self.closing[at]

    def is_declared_array(self, index: int) -> bool:
        return self.at(index - 1).kind == "word" and self.at(index - 1).text not in words.STATEMENTS | words.OTHER_WORDS

    # -- words --

    def begin_of_declarator(self, index: int) -> int:
        """The first of the * and & that stand before a name, and const between them."""
        while self.at(index - 1).text in ("*", "&", "const"):
            index -= 1
        return index

    def follows_type(self, index: int) -> bool:
        before = self.at(index - 1)
        return self.is_type(before) or before.text == "auto"

    def is_declared(self, index: int) -> bool:
        """Whether the region declares a thing of its own here: const float *K = ..., *V = ...; const int &end = ..."""
        first = self.begin_of_declarator(index)
        if self.at(first - 1).text == "," and self.in_declaration(index):
            return self.enclosing[index] == self.enclosing[self.beginnings[index]]
        return self.follows_type(first)

    def known(self, name: str) -> bool:
        names = self.names
        own = names.variables | names.functions | names.templates | names.types | names.declared
        return name in words.FUNCTIONS | words.CONSTANTS | words.BUILT_IN | own or self.is_scope(name)

    def is_scope(self, name: str) -> bool:
        return any(name == scope for scope, _ in self.names.scoped)

    def pragma(self, token: Token) -> str:
        """A number, or what constants of the function and of the region amount to. The device reads no more of it."""
        parts = re.findall(r"\w+::\w+|\w+|[-+*/%()]|:", token.text)
        for at, part in enumerate(parts):
            scope, _, name = part.partition("::")
            is_number = part.isascii() and part.isdigit()
            if is_number or part in "-+*/%()" or part in self.names.variables | self.constants:
                continue
            if (scope, name) in self.names.scoped:
                continue
            if part not in self.declared or self.known(part):  # constexpr int UNROLL = 4;
                refuse(token, f"#pragma unroll {part}: expected a number or a constant of the function")
            parts[at] = f"u_{part}"
        return f"#pragma unroll {' '.join(parts)}".rstrip()

    def word(self, index: int, token: Token) -> str:
        text, names = token.text, self.names
        before, after = self.at(index - 1), self.at(index + 1)
        if text == "void" and (before.text, after.text) in (("(", ")"), ("->", "{")):
            return text  # (void)x; or a lambda without parameters or result
        if text in words.KEYWORDS:
            instead = words.INSTEAD.get(text)
            refuse(token, f"{text}: not in a region" + (f"; write instead: {instead}" if instead else ""))
        if before.text in (".", "->") and not self.is_type(token):  # the type a lambda returns may stand after ->
            if text in names.members or text in words.COMPONENTS:
                return text
            known = ", ".join(f".{name}" for name in sorted(names.members)) or "none but .x, .y, .z and .w"
            refuse(token, f"{before.text}{text}: not a member that a region may use here; it may use {known}")
        if before.text == "::":
            if (self.at(index - 2).text, text) in names.scoped:
                return text
            refuse(token, f"{self.at(index - 2).text}::{text}: expected {self.scoped_names()}")
        if text in _TYPE_WORDS or text in names.types:
            self.check_type(index, token)
            return text
        if text in words.STATEMENTS or text in words.OTHER_WORDS:
            self.check_word(index, token)
            return text
        if index in self.captures and text in self.lambdas:
            return f"u_{text}"
        if text in self.variables and after.text != "(":
            return f"u_{text}"
        if text in words.FUNCTIONS | names.functions or text in self.lambdas or text in names.templates:
            self.check_called(index, token)
            return f"u_{text}" if text in self.lambdas else text
        if text in words.BUILT_IN:
            if after.text != "." or self.at(index + 2).text not in ("x", "y", "z"):
                refuse(token, f"{text}: expected {text}.x, .y or .z")
            return text
        if self.is_scope(text):
            if after.text != "::":
                refuse(token, f"{text}: expected {self.scoped_names()}")
            return text
        if text in words.CONSTANTS or text in names.variables | names.declared | self.constants:
            return text
        if "__" in text:
            refuse(token, f"{text}: not one of the device functions that a region may call")
        return f"u_{text}"

    def scoped_names(self) -> str:
        known = sorted(f"{scope}::{name}" for scope, name in self.names.scoped)
        return f"one of {', '.join(known)}" if known else "no :: in this region"

    def past(self, index: int) -> int:
        """The first token after template arguments, of which `index` is the first."""
        while self.at(index).text not in (">", ";", "{", ""):
            index += 1
        return index + 1

    def check_called(self, index: int, token: Token) -> None:
        if token.text in self.lambdas and self.at(index + 1).text == "=" and self.at(index + 2).text == "[":
            return
        before = self.at(index - 1)
        if self.is_type(before) or before.text in ("auto", "*", "&") and self.is_type(self.at(index - 2)):
            refuse(token, f"{token.text}: a function has this name; choose another one")
        after = index + 1
        if token.text in self.names.templates and self.at(after).text == "<":
            after = self.past(after)
        if self.at(after).text == "<" and self.at(self.past(after)).text == "(":
            how = f"call it without <...>: {token.text}(a, b), with both of one type, as in {token.text}((float)a, b)"
            refuse(token, f"{token.text}<{self.at(after + 1).text}>: {how}")
        if self.at(after).text != "(":
            refuse(token, f"{token.text}: a function, which can only be called: {token.text}(...)")

    def check_word(self, index: int, token: Token) -> None:
        after = self.at(index + 1)
        if token.text == "struct" and not (after.kind == "word" and after.text in self.names.types):
            known = ", ".join(sorted(f"struct {name}" for name in self.names.types))
            refuse(token, f"struct {after.text}: expected {known or 'no struct: the function has none'}")
        if token.text == "struct" and self.at(index + 2).text in ("{", ":", ";"):
            refuse(token, f"struct {after.text} {self.at(index + 2).text}: a type is used here, not defined")
        if token.text in ("static_cast", "reinterpret_cast"):
            close = self.past(index + 2) - 1
            self.check_cast(token, [inside.text for inside in self.tokens[index + 2 : close]], close + 2)
        if token.text == "auto" and self.is_parameter_list(self.enclosing[index]):
            refuse(token, "auto: a parameter's type is written out")
        if token.text == "auto":
            self.refuse_deeper_pointers(index)

    def check_type(self, index: int, token: Token) -> None:
        """A type: of a declaration, or of a cast."""
        if token.text in words.ARITHMETIC and self.at(index - 1).text in words.ARITHMETIC:
            return  # looked at with its first word
        first = index
        while self.at(first - 1).text in ("const", "struct"):
            first -= 1
        last = index
        while self.at(last + 1).text == "const" or self.at(last + 1).text in words.ARITHMETIC:
            last += 1
        after = self.at(last + 1)
        is_value = self.at(first - 1).text in _BEFORE_A_VALUE  # float((a + b) / 2)
        if after.text == "(" and self.at(last + 2).text in ("*", "&", "(") and not is_value:
            shown = f"{token.text} ({self.at(last + 2).text}"
            refuse(token, f"{shown}: pointers to functions and arrays are not in a region")
        self.refuse_deeper_pointers(last)
        if self.at(first - 1).text == "(" and not self.is_parameter_list(first - 1):
            close = last + 1
            while self.at(close).text in ("*", "&", "const", "&&"):
                close += 1
            if self.at(close).text == ")" and self.at(first - 2).text != "sizeof":
                self.check_cast(token, [inside.text for inside in self.tokens[first:close]], close + 1)

    def is_parameter_list(self, index: int) -> bool:
        """Whether the bracket at `index` is the ( after a lambda's captures."""
        return self.at(index).text == "(" and self.enclosing[index - 1] in self.lambda_brackets

    def refuse_deeper_pointers(self, index: int) -> None:
        """After the type at `index`: no pointer to a pointer, no array of pointers, no reference to a temporary."""
        stars, at = 0, index + 1
        while self.at(at).text in ("*", "&", "&&", "const"):
            if self.at(at).text == "&&":
                refuse(self.at(at), "&&: a reference is written with one &")
            stars += self.at(at).text == "*"
            at += 1
        if stars > 1:
            refuse(self.at(at - 1), "**: no pointers to pointers in a region")
        if stars and self.at(at).kind == "word" and self.at(at + 1).text == "[":
            refuse(self.at(at), f"{self.at(at).text}: no arrays of pointers in a region")

    def check_cast(self, token: Token, type_words: Iterable[str], index: int) -> None:
        """Of what begins at `index`."""
        operand = self.at(index)
        spelled = [word for word in type_words if word != "const"]
        if all(word in words.ARITHMETIC for word in spelled) and spelled:
            return
        if len(spelled) == 2 and spelled[0] in words.CASTABLE_VECTORS and spelled[1] == "*":
            if operand.text in ("&", "*") and not self.is_element(index):
                how = f"cast a pointer: ({spelled[0]} *)(p + i) or ({spelled[0]} *)&p[i]"
                refuse(token, f"({' '.join(type_words)}){operand.text}: {how}")
            return
        if len(spelled) == 2 and spelled[0] == "struct" and operand.text == "{":
            return  # (struct partial){m, l}
        refuse(token, f"({' '.join(type_words)}): casts are to numbers, or to float2 * and float4 *")

    # -- signs --

    def sign(self, index: int, token: Token) -> None:
        text, after = token.text, self.at(index + 1)
        if text == "[" and after.text == "[":
            refuse(token, "[[: not in a region")
        if text in (".", "->") and after.kind != "word":
            refuse(token, f"{text}{after.text}: expected a member's name after {text}")
        if text == "::" and self.at(index - 1).text == "std":
            instead = words.STANDARD.get(after.text) or words.INSTEAD.get(after.text, words.STANDARD["*"])
            refuse(token, f"std::{after.text}: not in a region; write instead: {instead}")
        if text == "::" and not self.is_scope(self.at(index - 1).text):
            refuse(token, f"::: expected {self.scoped_names()}")
        if text in ("&", "&&") and not self.ends_operand(index - 1):
            self.check_address(index, token)
        if text == "*" and not self.ends_operand(index - 1):
            self.check_star(index, token)

    def check_address(self, index: int, token: Token) -> None:
        before = self.at(index - 1)
        if token.text == "&&":
            refuse(token, "&&: expected a value before it")
        if self.is_type(before) or before.text in ("auto", "const"):
            return  # a reference
        if index in self.captures or self.is_element(index):
            return
        if before.text in ("(", ",") and self.is_argument(index):
            return
        refuse(token, "&: an address is taken only of an element, &p[i] or &a.K[i], or for an argument of a function")

    def is_element(self, index: int) -> bool:
        """&p[i] is another way to write p + i; p may be a member, &a.K[i], and brackets may stand around: &(p[i])."""
        first = index + 1
        is_within = self.at(first).text == "("
        first += is_within
        while self.at(first).kind == "word" and self.at(first + 1).text in (".", "->"):
            first += 2
        at = first + 1
        if self.at(index).text != "&" or self.at(first).kind != "word" or self.at(at).text != "[":
            return False
        while is_within and self.at(at).text == "[":
            at = self.closing[at] + 1
        return not is_within or self.at(at).text == ")"

    def check_star(self, index: int, token: Token) -> None:
        """Of a declaration or of what a pointer points to."""
        if self.at(index + 1).text == "*":
            refuse(token, "**: no pointers to pointers in a region")
        if self.at(index - 1).text == "," and self.at(index + 2).text == "[" and self.in_declaration(index):
            refuse(token, f"{self.at(index + 1).text}: no arrays of pointers in a region")

    def is_argument(self, index: int) -> bool:
        """Whether token `index` is directly within the brackets of a call of a listed function."""
        opening = self.enclosing[index]
        if opening not in self.calls:
            self.calls[opening] = self.at(opening).text == "(" and self.is_call(opening)
        return self.calls[opening]

    def is_call(self, index: int) -> bool:
        """Whether the ( at `index` follows a listed function's name, or its template arguments."""
        name = index - 1
        if self.at(name).text == ">":
            while name > 0 and self.at(name).text != "<":
                name -= 1
            name -= 1
        word = self.at(name)
        return word.kind == "word" and word.text in words.FUNCTIONS | self.names.functions | self.names.templates


def rewrite(text: str, names: words.Names) -> str:
    """The region as it is compiled: as many lines as it has, one blank between tokens, no comments. Raises Refusal."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal(1, f"a region of {len(text)} characters, expected at most {MOST_CHARACTERS}")
    return _Rewriter(tokens_of(text), names).run()


def original(text: str) -> str:
    """A compiler's message in the student's own names."""
    return re.sub(r"\bu_([A-Za-z_]\w*)", r"\1", text)
