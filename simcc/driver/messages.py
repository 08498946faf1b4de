"""clang's messages for the user: those of both sides once, without notes about simcc's own headers, and what CUDA has
and the simulated device has not called so.

A header of ours says which names are missing, so that including it stops nothing:

    #pragma sim_missing function cublas cuBLAS       cublasSgemm(...) is an error that names it
    #pragma sim_missing namespace thrust Thrust      thrust::sort is an error that names it
"""

from __future__ import annotations

import re

from driver.process import is_file, read_file, unescaped

MESSAGE = re.compile(r"\S.*?: (?:fatal )?(?:error|warning): ")
NOTE = re.compile(r"\S.*?: note: ")
PLACE = re.compile(r"^(\S.*?):(\d+):\d+: ", re.MULTILINE)
INCLUDED = re.compile(r"In file included from ")
SUM = re.compile(r"\d+ (?:error|warning)s?\b.* generated")
LINE_MARKER = re.compile(r'# \d+ "(.*)"')

# What clang says of a name that it does not know.
UNKNOWN = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no (?:template|type|member)(?: named)?) '(?P<name>\w+)'"
    r"(?: in namespace '(?P<space>[\w:]+)')?(?:[;,] did you mean (?:'(?P<meant>\w+)')?.*)?"
)
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma sim_missing (function|namespace) (\w+) (.+)$", re.ASCII | re.MULTILINE)
RUNTIME = ("cuda", "the CUDA runtime")
UNSUPPORTED = ("__managed__", "__cluster_dims__", "texture", "surface")
ALIKE = 0.9  # of two names that differ in a letter or two
DYNAMIC = re.compile(r"reference to __global__ function '\w+' in __(?:global|device)__ function")

# What becomes of a launch with a < or > too few, or without arguments, and what it should have been.
MISSHAPEN = re.compile(
    r"expected '\('(?=\n.*>>>)|invalid operands to binary expression \('void \(.*'\)|expected '>>>'"
    r"|comparison between pointer and integer \('void \(\*\)\(.*'\)(?=\n.*<.*>\s*\()"
    r"|expected expression(?=\n.*(?:<<<\s*(?:>>>|,)|,\s*>>>))"
    r"|execution configuration arguments to kernel.*|call to global function '\w+' not configured"
)
FORM = "; a launch is kernel<<<grid, block>>>(arguments), or <<<grid, block, shared bytes, stream>>>"

# The grid of `k<<<ceil(n / 256.0), 256>>>` is whole.
ROUNDED = re.compile(r"floating-point value loses its fraction.*\n.*\b(?:ceil|floor|round|l?rint|trunc)f?\s*\(")

# clang takes a function for the host's that was to be a kernel.
NOT_VOID = re.compile(r"(?:must have void return type|requires a type specifier).*\n.*__global__.*?\b(?!__)(\w+)\s*\(")
OF_HOST = re.compile(r"(?:allowed in|from|in a function of the|in) _*host(?:__ functions?)?$", re.MULTILINE)
TOKEN = re.compile(r"""//.*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{};]""")

# An array of __shared__ memory whose size is none of the compiler's numbers.
VARIABLE = re.compile(r"variable length array declaration cannot have 'static' storage duration")

NO_KERNEL = re.compile(r"kernel call to non-global function '.*'")

# On ARM64, where it is wider than what CUDA knows.
LONG_DOUBLE = re.compile(r"(?:'\w+'|expression) requires 128 bit size 'long double' type support, but target .*")

# nvcc takes it in either order.
ALIGNED = re.compile(r"an attribute list cannot appear here(?=\n.*\balignas\b)")

# No function of ours takes these arguments, and why: what is left of the notes about all of them. The name of
# a typedef is 'string' (aka 'basic_string<char>').
NO_FUNCTION = re.compile(r"no matching (?:(?:member )?function for call to|constructor for initialization of) '.*'\)?")
CONVERSION = re.compile(
    r"(?:no known conversion|cannot convert argument of incomplete type) from '(.*?)'(?: \(aka '.*?'\))? to '(.*?)'"
    r"(?: \(aka '.*?'\))? for (\d+)\w\w argument"
)
COUNT = re.compile(r"(?:requires|allows)( at least | at most | )(\d+|single|no) argument.*?(\d+|no)\b[a-z ]* provided")
NUMBER = {"single": "1", "no": "0"}


class Translation:
    """Of what one compilation says after the other. `headers` is the folder of our own; `preprocessed` makes the
    program's text with them, which is asked for where a name is unknown."""

    def __init__(self, headers: str, preprocessed) -> None:
        self.headers, self.preprocessed = headers, preprocessed
        self.text = ""  # of our headers in it
        self.said: list[str] = []
        self.launches: list[tuple[str, str]] = []  # files and lines of those that are none
        self.kernels: list[tuple[str, str, range]] = []  # functions that were to be some: files, names, lines

    def __call__(self, text: str) -> str:
        new = [block for block in blocks(text) if block not in self.said]
        self.said += new
        return "".join(map(self.unless_it_follows, map(self.for_user, new)))

    def unless_it_follows(self, text: str) -> str:
        """ "" for what is only there because of a mistake that has been told."""
        at = PLACE.search(text)
        if not at:
            return text
        file, line = at[1], at[2]
        if (file, line) in self.launches:
            return ""
        for of_file, name, lines in self.kernels:
            if NO_KERNEL.search(text) and re.search(rf"function '{name}[<']", text):
                return ""
            if file == of_file and int(line) in lines and OF_HOST.search(text):
                return ""
        if FORM in text:
            self.launches.append((file, line))
        kernel = NOT_VOID.search(text)
        if kernel and is_file(file):
            self.kernels.append((file, kernel[1], function_at(read_file(file), int(line))))
        return text

    def for_user(self, block: str) -> str:
        lines, notes, ours = [], [], False
        for line in block.splitlines(keepends=True):
            if MESSAGE.match(line) or NOTE.match(line):
                ours = bool(NOTE.match(line)) and line.startswith((f"{self.headers}/", "/usr/"))
                notes += [line] if ours else []
            if not ours and not line.startswith(f"In file included from {self.headers}/"):
                lines.append(line)
        text = DYNAMIC.sub(
            "a launch in device code (dynamic parallelism) is not supported by the simulated device", "".join(lines)
        )
        text = NO_KERNEL.sub(r"\g<0>; a kernel is declared __global__ void", text)
        text = LONG_DOUBLE.sub("'long double' in device code is not supported by the simulated device on ARM64", text)
        text = ALIGNED.sub(r"\g<0>; alignas(...) goes in front of __shared__", text, count=1)
        text = VARIABLE.sub(lambda found: found[0] + dynamic_array(text), text, count=1)
        text = MISSHAPEN.sub(lambda found: found[0] + FORM, text, count=1)
        text = NO_FUNCTION.sub(lambda found: found[0] + reason(notes), text, count=1)
        if ROUNDED.search(text):
            return ""
        found = UNKNOWN.search(text)
        if not found:
            return text
        what = self.lacking(found["name"], (found["space"] or "").split("::"), found["meant"])
        return text[: found.start()] + what + text[found.end() :] if what else text

    def lacking(self, name: str, spaces: list[str], meant: str | None) -> str | None:
        """What is said of a name that is nowhere declared; None: it is the program's mistake. `meant`: says clang."""
        if name in UNSUPPORTED:
            return f"'{name}' is not supported by the simulated device"
        text = self.text = self.text or text_of(self.headers, self.preprocessed())
        known = {(kind, prefix): library for kind, prefix, library in PRAGMA.findall(text)}
        known["function", RUNTIME[0]] = RUNTIME[1]
        for space in reversed(spaces):
            if ("namespace", space) in known:
                return f"'{space}::{name}' ({known['namespace', space]}) is not supported by the simulated device"
        prefixes = [prefix for kind, prefix in known if kind == "function" and name.startswith(prefix)]
        if not prefixes or spaces != [""]:
            return None
        if meant and slip_for(name, [meant]) and not re.search(rf"\b{meant}\(", text):
            return None  # a constant or a type that is there
        prefix = max(prefixes, key=len)
        return missing_function(name, prefix, known["function", prefix], text)


def blocks(text: str) -> list[str]:
    """clang's messages, each with its notes and the lines that belong to it, but for how many they are: of both sides
    that would be two."""
    found: list[str] = []
    leads = False  # the lines in front of a message that say where its file is included
    for line in text.splitlines(keepends=True):
        if SUM.match(line):
            continue
        if not found or (not leads and (INCLUDED.match(line) or MESSAGE.match(line))):
            found.append("")
        leads = bool(INCLUDED.match(line))
        found[-1] += line
    return found


def reason(notes: list[str]) -> str:
    """Of several functions the one counts that wants a pointer to what is given, or the first."""
    said = [note for note in notes if "implicit" not in note]
    if any("call to __device__ function from __host__ function" in note for note in said):
        return ": a __device__ function, and the call is in a function of the host"
    if any("call to __host__ function from __" in note for note in said):
        return ": a function of the host, which a kernel cannot call"
    wrong = [found for found in map(CONVERSION.search, said) if found]
    if wrong:
        found = next((one for one in wrong if one[2].startswith(one[1])), wrong[0])
        return f": argument {found[3]} of type '{found[1]}' is incompatible with '{found[2]}'"
    counts = [found for found in map(COUNT.search, said) if found]
    if not counts:
        return ""
    takes = " or ".join(sorted({found[1].lstrip() + NUMBER.get(found[2], found[2]) for found in counts}))
    given = NUMBER.get(counts[0][3], counts[0][3])
    return f": it takes {takes} argument{'s' * (takes.split()[-1] != '1')}, the call gives {given}"


def missing_function(name: str, prefix: str, library: str, headers: str) -> str:
    """Of names like __float2half_rz the last letters are no slip: there is one for each way to round."""
    has = re.findall(rf"\b{prefix}\w+(?=\()", headers, re.ASCII)
    meant = None if "_" in name else slip_for(name, has)
    if meant:
        what = f"is not a function of {library} that the simulated device has"
        return f"'{name}' {what}; did you mean '{meant}'?"
    return f"'{name}' ({library}) is not supported by the simulated device"


def slip_for(name: str, names: list[str]) -> str | None:
    """Which of the names it may stand for: cudaMemcpy3D is no slip for cudaMemcpy2D."""
    from difflib import get_close_matches

    has = {one.lower(): one for one in names}
    meant = get_close_matches(name.lower(), has, 1, ALIKE)
    return has[meant[0]] if meant and re.sub(r"\D", "", meant[0]) == re.sub(r"\D", "", name) else None


def dynamic_array(text: str) -> str:
    """How to declare the __shared__ array at the caret of a message where the compiler does not know its size."""
    source, _, caret = VARIABLE.split(text)[1].lstrip("\n").partition("\n")
    shared = re.search(r"__shared__\s+((?:(?:const|volatile|unsigned)\s+)*[\w:<>]+)", source)
    name = re.match(r"\w+", source[max(caret.find("^"), 0) :])
    if not (shared and name):
        return ""
    array = f"extern __shared__ {shared[1]} {name[0]}[];"
    return f"; its size must be a constant, or it is `{array}` and the launch says its bytes: <<<grid, block, bytes>>>"


def function_at(text: str, line: int) -> range:
    """The lines of a function that begins there."""
    start = len("\n".join(text.split("\n")[: line - 1]))
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0 and token[0] in ("}", ";"):
            return range(line, text.count("\n", 0, token.end()) + 2)
    return range(line, text.count("\n") + 2)


def text_of(headers: str, preprocessed: str) -> str:
    """Of a preprocessed program, what stands in our headers."""
    lines, ours = [], False
    for line in preprocessed.splitlines(keepends=True):
        found = LINE_MARKER.match(line)
        if found:
            ours = unescaped(found[1]).startswith(f"{headers}/")
        elif ours:
            lines.append(line)
    return "".join(lines)
