"""clang's messages for the user: those of both sides once, without notes about simcc's own headers, and what CUDA has
and the simulated device has not called so.

A header of ours says which names are missing, so that including it stops nothing:

    #pragma sim_missing function cublas cuBLAS       cublasSgemm(...) is an error that names it
    #pragma sim_missing namespace thrust Thrust      thrust::sort is an error that names it
"""

from __future__ import annotations

import re

MESSAGE = re.compile(r"\S.*?: (?:fatal )?(?:error|warning): ")
NOTE = re.compile(r"\S.*?: note: ")
INCLUDED = re.compile(r"In file included from ")
SUM = re.compile(r"\d+ (?:error|warning)s?\b.* generated")
LINE_MARKER = re.compile(r'# \d+ "(.*)"')
ESCAPED = re.compile(r"\\([0-7]{3})")  # what is beyond ASCII

# What clang says of a name that it does not know.
UNKNOWN = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no (?:template|type|member)(?: named)?) '(?P<name>\w+)'"
    r"(?: in namespace '(?P<space>[\w:]+)')?(?:[;,] did you mean .*)?"
)
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma sim_missing (function|namespace) (\w+) (.+)$", re.ASCII | re.MULTILINE)
RUNTIME = ("cuda", "the CUDA runtime")
UNSUPPORTED = ("__managed__", "__cluster_dims__", "texture", "surface")
ALIKE = 0.9  # of two names that differ in a letter or two
DYNAMIC = re.compile(r"reference to __global__ function '\w+' in __(?:global|device)__ function")

# What becomes of a launch with a < or > too few, or without arguments, and what it should have been.
MISSHAPEN = re.compile(
    r"expected '\('(?=\n.*>>>)|invalid operands to binary expression \('void \(.*'\)|expected '>>>'"
    r"|execution configuration arguments to kernel.*|call to global function '\w+' not configured"
)
FORM = "; a launch is kernel<<<grid, block>>>(arguments), or <<<grid, block, shared bytes, stream>>>"

NO_KERNEL = re.compile(r"kernel call to non-global function '.*'")

# On ARM64, where it is wider than what CUDA knows.
LONG_DOUBLE = re.compile(r"(?:'\w+'|expression) requires 128 bit size 'long double' type support, but target .*")

# nvcc takes it in either order.
ALIGNED = re.compile(r"an attribute list cannot appear here(?=\n.*\balignas\b)")

# No function of ours takes these arguments, and why: what is left of the notes about all of them.
NO_FUNCTION = re.compile("no matching (?:function for call to|constructor for initialization of) '.*'")
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

    def __call__(self, text: str) -> str:
        new = [block for block in blocks(text) if block not in self.said]
        self.said += new
        return "".join(self.for_user(block) for block in new)

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
        text = MISSHAPEN.sub(lambda found: found[0] + FORM, text, count=1)
        text = NO_FUNCTION.sub(lambda found: found[0] + reason(notes), text, count=1)
        found = UNKNOWN.search(text)
        if not found:
            return text
        what = self.lacking(found["name"], (found["space"] or "").split("::"))
        return text[: found.start()] + what + text[found.end() :] if what else text

    def lacking(self, name: str, spaces: list[str]) -> str | None:
        """What is said of a name that is nowhere declared; None: it is the program's own mistake."""
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
        return ": a function of the host in device code is not supported"
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
    from difflib import get_close_matches

    has = {found.lower(): found for found in re.findall(rf"\b{prefix}\w+(?=\()", headers, re.ASCII)}
    meant = [] if "_" in name else get_close_matches(name.lower(), has, 1, ALIKE)
    if meant and re.sub(r"\D", "", meant[0]) == re.sub(r"\D", "", name):  # cudaMemcpy3D is no slip for cudaMemcpy2D
        what = f"is not a function of {library} that the simulated device has"
        return f"'{name}' {what}; did you mean '{has[meant[0]]}'?"
    return f"'{name}' ({library}) is not supported by the simulated device"


def text_of(headers: str, preprocessed: str) -> str:
    """Of a preprocessed program, what stands in our headers."""
    lines, ours = [], False
    for line in preprocessed.splitlines(keepends=True):
        found = LINE_MARKER.match(line)
        if found:
            name = ESCAPED.sub(lambda byte: chr(int(byte[1], 8)), found[1])
            ours = name.startswith(f"{headers}/")
        elif ours:
            lines.append(line)
    return "".join(lines)
