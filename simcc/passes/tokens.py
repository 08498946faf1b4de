"""The text of a .cu file after the preprocessor, as tokens, and how to move about in them.

Token i is `text[i]`, is written as `out[i]`, and has in front of it `before[i]`: white space, linemarkers, pragmas and
the text of system headers. All analysis reads `text`, all rewriting sets `out`. Behind the last token and before the
first one `text` is empty: its list ends with some empty tokens, which small negative indices find as well.
"""

from __future__ import annotations

import re

from passes.process import unescaped

MARGIN = 8  # empty tokens behind the last one

# White space, then a token. `<` and `>` are always single, because only the parser knows whether `>>>` ends a launch
# configuration, three template argument lists or a shift.
TOKEN = re.compile(
    r"""([ \t\r\f\v\n]*(?:\\\n[ \t\r\f\v\n]*)*)
        ((?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\3"
        |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
        |(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'
        |[A-Za-z_$\x80-\xff][\w$\x80-\xff]*
        |\.?\d(?:[eEpP][+-]|'?[\w.])*
        |->|::|\.\.\.|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=
        |.
        )?""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
OPENED_BY = {close: opened for opened, close in CLOSED_BY.items()}
MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"', re.ASCII)
WHOLE_MARKER = re.compile(r'# \d+ "((?:[^"\\]|\\.)*)"([ \d]*)$', re.ASCII | re.MULTILINE)
SYSTEM_HEADER = re.compile(r"\b3\b", re.ASCII)
UNROLL = re.compile(r"#\s*pragma\s+(?:no)?unroll\b", re.ASCII)
OPTIMIZE = re.compile(r"#\s*pragma\s+GCC\s+optimize\b", re.ASCII)
IDENTIFIER = re.compile(r"[A-Za-z_$\x80-\xff]")

# Words that may stand in front of an expression without being part of it.
STATEMENT_WORD = frozenset("return else do throw case co_return co_yield and or not".split())

# Specifiers that carry their own parentheses, which must not be taken for a parameter list.
TAKES_PARENTHESES = frozenset(
    """__attribute__ __attribute alignas decltype __align__ __launch_bounds__ __maxnreg__ __cluster_dims__
    __block_size__ noexcept typeof __typeof__ explicit""".split()
)


def next_marker(content: str, at: int) -> re.Match | None:
    """The first linemarker of the preprocessor from `at` on."""
    while True:
        marker = WHOLE_MARKER.match(content, at)
        if marker:
            return marker
        at = content.find("\n# ", at) + 1
        if not at:
            return None


def find_user_files(content: str, headers: str) -> dict[str, bool]:
    """The names of the user's files, in order.

    The preprocessor flags system headers with 3; it also flags a macro of theirs that is expanded in the user's own
    file. What counts is therefore the file: one that is ever entered without the flag is the user's. `headers` is the
    directory of ours.
    """
    files = {}
    marker = next_marker(content, 0)
    while marker:
        file, flags = unescaped(marker[1]), marker[2]
        if not (SYSTEM_HEADER.search(flags) or file[:1] == "<" or file[-1:] == "/" or file.startswith(headers + "/")):
            files[file] = True
        marker = next_marker(content, marker.end())
    return files


class Code:
    """The tokens, and what the parts of the source pass find out about them."""

    def __init__(self, content: str, fast: bool, compiler: str, headers: str) -> None:
        self.fast = fast
        self.compiler = compiler  # "gcc" or "clang"
        self.files = find_user_files(content, headers)
        self.text: list[str] = []
        self.out: list[str] = []
        self.before: list[str] = []
        self.file: list[str] = []
        self.line: list[int] = []
        self.tail = ""  # behind the last token
        self.tokenize(content)
        self.count = len(self.text)
        self.out = list(self.text)
        self.text += [""] * MARGIN
        self.partner: list[int | None] = [None] * (self.count + MARGIN)  # of a bracket
        # 1 in a function that may run on the host as well, 2 where it is for the device alone
        self.device = bytearray(self.count + MARGIN)
        self.errors: list[tuple[int, str]] = []  # at a token
        self.refuse_open_literals()
        if not self.errors:
            self.pair_brackets()

        self.kernels: dict[str, Kernel] = {}
        self.kernel_at: dict[int, str] = {}  # its name, where its __global__ stands
        self.device_functions: list[Function] = []
        self.shared: dict[str, bool] = {}  # names of __shared__ variables
        self.dynamic: dict[str, bool] = {}  # and of those with extern
        self.variable_templates: dict[str, str] = {}  # of device variables -> their section

    def tokenize(self, content: str) -> None:
        file, line, position, length = "", 1, 0, len(content)
        before: list[str] = []  # pieces: there are megabytes of system headers in front of the first token
        fresh = True  # nothing but blanks on this line yet
        while position < length:
            found = TOKEN.match(content, position)
            blank, token = found.group(1, 2)
            position = found.end()
            if blank:
                before.append(blank)
                if "\n" in blank:
                    line += blank.count("\n")
                    fresh = True
            if token == "#" and fresh:
                start, end = position - 1, content.find("\n", position) + 1 or length
                position = end
                marker = MARKER.match(content, start, end)
                if not marker:
                    before.append(self.pragma(content[start:end]))
                    line += 1
                    continue
                line, file = int(marker[1]), unescaped(marker[2])
                if file not in self.files:  # passes through untouched, up to the next linemarker
                    following = next_marker(content, end)
                    position = following.start() if following else length
                before.append(content[start:position])
            elif token:
                self.text.append(token)
                self.before.append("".join(before))
                self.file.append(file)
                self.line.append(line)
                if "\n" in token:
                    line += token.count("\n")
                fresh = False
                before.clear()
        self.tail = "".join(before)

    def pragma(self, directive: str) -> str:
        """`#pragma unroll` says nothing to an unoptimized build, and gcc would warn about it.

        Optimized, clang understands it, and gcc does better with its own judgment (it vectorizes first).
        """
        unrolls = UNROLL.match(directive) and not (self.fast and self.compiler == "clang")
        optimizes = OPTIMIZE.match(directive) and not self.fast  # counted code is never optimized
        if not (unrolls or optimizes):
            return directive
        return "\n" if "\n" in directive else ""

    def refuse_open_literals(self) -> None:
        """A quotation mark that is a token of its own opens a string that its line does not close; what follows on that
        line is text, or would have been."""
        if '"' not in self.text and "'" not in self.text:
            return
        place = ("", 0)
        for i, token in enumerate(self.text):
            if token in ('"', "'") and (self.file[i], self.line[i]) != place:
                place = (self.file[i], self.line[i])
                self.error(i, f"missing terminating {token} character")

    def pair_brackets(self) -> None:
        partner, opened, text = self.partner, [], self.text
        for i, token in enumerate(text):
            if token in CLOSED_BY:
                opened.append(i)
            elif token in OPENED_BY:
                if not opened or CLOSED_BY[text[opened[-1]]] != token:
                    self.refuse_close(i, opened)
                    return
                j = opened.pop()
                partner[i], partner[j] = j, i
        if opened:
            self.refuse_open(*self.left_open(opened[0]))

    def refuse_open(self, i: int, before: str) -> None:
        self.error(i, f"the '{self.text[i]}' opened here is not closed{before}")

    def refuse_close(self, i: int, opened: list[int]) -> None:
        """The bracket that closes at i does not close the last of these. One that could close none of them is one too
        many, or its own is missing; so is one without which all that follows would match."""
        token = self.text[i]
        if all(self.text[j] != OPENED_BY[token] for j in opened) or self.is_balanced(i + 1, opened):
            self.error(i if opened else self.surplus(i), f"'{token}' without a '{OPENED_BY[token]}'")
        else:
            self.refuse_open(opened[-1], f" before the '{token}' at line {self.line[i]}")

    def is_balanced(self, i: int, opened: list[int]) -> bool:
        """Whether the text from i on closes these brackets and its own."""
        expected = [CLOSED_BY[self.text[j]] for j in opened]
        for token in self.text[i:]:
            if token in CLOSED_BY:
                expected.append(CLOSED_BY[token])
            elif token in OPENED_BY and (not expected or expected.pop() != token):
                return False
        return not expected

    def surplus(self, last: int) -> int:
        """The bracket that is one too many, where nothing is open at `last`: the first `}` that begins a line further
        right than the line of its `{`, as if it were to close another one."""
        for i in range(last):
            opened = self.partner[i] if self.text[i] == "}" else None
            if opened is not None and "\n" in self.before[i] and self.indent(i) > self.indent(opened):
                return i
        return last

    def left_open(self, first: int) -> tuple[int, str]:
        """The bracket that is not closed, where `first` is open at the end of the file; and before what it should be.

        A `}` further left than the line of its `{` was to close another one: what is missing is that `{`'s own.
        """
        for i in range(first + 1, self.count):
            close = self.partner[i] if self.text[i] == "{" else None
            if close is not None and "\n" in self.before[close] and self.indent(close) < self.indent(i):
                return i, f" before the '}}' at line {self.line[close]}, which is further left"
        return first, ""

    def indent(self, i: int) -> int:
        """Of the line on which token i stands; a tab counts as one."""
        while i and "\n" not in self.before[i]:
            i -= 1
        return len(self.before[i]) - self.before[i].rfind("\n") - 1

    def whole_text(self) -> str:
        parts = [""] * (2 * self.count)
        parts[::2] = self.before
        parts[1::2] = self.out
        return "".join(parts) + self.tail

    # ---- moving about ----

    def is_identifier(self, i: int) -> bool:
        token = self.text[i]
        return IDENTIFIER.match(token) is not None and token[-1] not in "\"'"

    def after(self, i: int) -> int:
        """The index behind the bracket that opens at i, or just i + 1."""
        close = self.partner[i] if self.text[i] in ("(", "[", "{") else None
        return i + 1 if close is None else close + 1

    def after_item(self, i: int) -> int:
        """The same, of a template argument list too."""
        close = self.angle_close(i) if self.text[i] == "<" else None
        return self.after(i) if close is None else close + 1

    def skip_to(self, i: int, ends: tuple[str, ...]) -> int:
        """From i to one of these tokens or to the end of the text, over what stands in brackets."""
        text = self.text
        while text[i] and text[i] not in ends:
            i = self.after(i)
        return i

    def opens_angle(self, i: int) -> bool:
        """May this `<` open a template argument list? Not in a shift, and not behind a number or a bracket."""
        return self.text[i + 1] != "<" and self.is_identifier(i - 1)

    def angle_close(self, i: int) -> int | None:
        """The `>` that closes the template argument list opening at i; None when `<` was a comparison."""
        depth, opened = 0, i
        while i < self.count:
            token = self.text[i]
            if token in (";", ")", "]", "}"):
                return None
            if token == "<":
                depth += i == opened or self.opens_angle(i)
            elif token == ">":
                depth -= 1
            if depth == 0:
                return i
            i = self.after(i)
        return None

    def angle_open(self, i: int) -> int | None:
        """The `<` that belongs to the `>` at i."""
        depth = 0
        while i >= 0:
            token = self.text[i]
            if token in (")", "]", "}"):
                if self.partner[i] is None:
                    return None
                i = self.partner[i]
            else:
                if token in (";", "(", "[", "{"):
                    return None
                if token == ">":
                    depth += 1
                elif token == "<" and self.opens_angle(i):
                    depth -= 1
                if depth == 0:
                    return i
            i -= 1
        return None

    def declaration_start(self, i: int) -> int:
        """The first token of the declaration that i is in."""
        while i > 0:
            token = self.text[i - 1]
            if token in (";", "{", "}", ",", "(", ":"):
                break
            if token in (")", "]"):
                opened = self.partner[i - 1]
            elif token == ">":
                opened = self.angle_open(i - 1)
            else:
                opened = i - 1
            if opened is None:
                break
            i = opened
        return i

    def count_items(self, opened: int, close: int) -> int:
        """How many items stand between these brackets; top-level commas count."""
        return len(self.items(opened, close))

    def items(self, opened: int, close: int, of_call: bool = False) -> list[tuple[int, int]]:
        """What stands between these brackets, separated by top-level commas: first index, index behind the last.

        In a call, `a < b, c > d` is two comparisons: behind a template argument list no name follows.
        """
        if close == opened + 1:
            return []
        items, i = [], opened + 1
        first = i
        while i < close:
            angle = self.angle_close(i) if self.text[i] == "<" and self.opens_angle(i) else None
            if angle is not None and angle < close and not (of_call and self.starts_operand(angle + 1)):
                i = angle
            elif self.text[i] == ",":
                items.append((first, i))
                first = i + 1
            i = self.after(i)
        return [*items, (first, close)]

    def starts_operand(self, i: int) -> bool:
        return self.text[i][:1].isalnum() or self.is_identifier(i)

    # ---- rewriting ----

    def drop(self, first: int, last: int | None = None) -> None:
        for i in range(first, (first if last is None else last) + 1):
            self.out[i] = ""

    def error(self, i: int, message: str) -> None:
        self.errors.append((i, message))

    def mark_device_code(self, body: int | None, device: int) -> None:
        if body is None:
            return
        close = self.partner[body]
        for i in range(body, self.count if close is None else close + 1):
            self.device[i] = device


class Function:
    """A function's place: the indices of its name, its parameters and its body, body None for a declaration."""

    def __init__(self, name: str, name_at: int, parameters: int, body: int | None) -> None:
        self.name = name
        self.name_at = name_at
        self.parameters = parameters
        self.body = body


class Kernel:
    """What a launch has to know: is it a template, and of how many arguments; which functions have its name.

    When all of them are given, its address is one function. `shapes` tells overloads from redeclarations.
    """

    def __init__(self) -> None:
        self.template = False
        self.arguments: int | None = None
        self.shapes: set[tuple[int, int]] = set()
        self.overloads: dict[int, Overload] = {}  # those that are no templates, by the number of their parameters
        self.named_at: set[int] = set()  # where a declaration names it
        self.shares_name = False  # with a function of the host
        self.is_hidden = False  # perhaps, by something else of its name
        self.declared: list[tuple[int, float, int]] = []  # least and most arguments, index of the name


class Overload:
    """Kernels of one name and number of parameters.

    A parameter, without its default, is a first index and one behind the last.
    """

    def __init__(self, parameters: list[tuple[int, int]], defaults: set[int], has_spelling: bool) -> None:
        self.parameters = parameters
        self.defaults = defaults  # which have one, by position
        self.has_spelling = has_spelling  # its type can be written in any scope
        self.bodies = 0  # more than one: they differ in types

    def least(self) -> int:
        return min(self.defaults, default=len(self.parameters))
