"""A chapter's runs as a table: cases/CHAPTER.tsv is the suite cases_CHAPTER, a section of it a test.

    # NAME [FLAG]: what the section is for      FLAGs: long, quick, same TENSORS
    OPTIONS <tab> STATUS <tab> EXPECTED

OPTIONS are the program's, quoted as for a shell. {a,b} stands for each in turn ({,--causal}: without and with); a
word NAME=VALUE is for the environment, \\xff a byte, x=[[1,nan],[2,3]] the file in/x.npy, $101 a directory of the
first 101 tokens of real text. With STATUS 0 every kernel must be verified, none skipped and nothing said on stderr.
EXPECTED is "-" or what is True besides, in Python: a kernel's name is its JSON, with keys as attributes (global_ is
global, async_ async), has(OBJECT, "key") whether there is one, `result` all of it; N, H, d and so on are the
problem's, moved(KERNEL, TENSOR) is (read, written) in elements, saved("y") the values that --save wrote, near(A, B,
BY) compares. With STATUS 1 a kernel is not verified, and EXPECTED holds; with 2 and 3 nothing is printed but one line
on stderr, from the program and with the words of EXPECTED, "..." between them.

long: only in make test-all. quick: in make test without racecheck, which takes up to half of a run. same TENSORS: all
runs of a row must save the same bits of these.
"""

from __future__ import annotations

import array
import itertools
import json
import math
import os
import re
import shlex
import shutil
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

from case import BUILD, WITHOUT_RACECHECK, Case, moved, run, split_environment
from npy import first_tokens, nested, read_npy, write_npy

LONG = bool(os.environ.get("LONG"))
LETTERS = {"batch": "B", "heads": "H", "kv_heads": "G", "seq": "N", "keys": "M", "dim": "d", "rows": "R", "cols": "C"}
FILE = re.compile(r"(\w+)=(\[.*)")


class Row(NamedTuple):
    place: str  # FILE:LINE
    options: str
    status: int
    expected: str


class Section(NamedTuple):
    name: str
    flags: list[str]  # without same
    same: list[str]  # tensors
    rows: list[Row]


class Node:
    """A JSON object, its keys as attributes. What is not there may only be asked for by `has`."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __getattr__(self, key: str) -> Any:
        if key.rstrip("_") not in self.value:
            raise AttributeError(f"no '{key}', of {', '.join(self.value)}")
        return node(self.value[key.rstrip("_")])


def node(value: Any) -> Any:
    return Node(value) if isinstance(value, dict) else [*map(node, value)] if isinstance(value, list) else value


def read_sections(path: Path) -> list[Section]:
    """A line that is no heading goes on with the one before it, or is a row."""
    sections: list[Section] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path.name}:{number}"
        if head := re.fullmatch(r"# (\w+)(?: \[([^]]+)\])?: .+", line):
            flags = (head[2] or "").split(", ") if head[2] else []
            same = [flag.split()[1:] for flag in flags if flag.startswith("same ")]
            flags = [flag for flag in flags if not flag.startswith("same ")]
            assert {*flags} <= {"long", "quick"}, f"{place}: {flags}, expected long, quick or same TENSORS"
            assert all(section.name != head[1] for section in sections), f"{place}: a second section '{head[1]}'"
            sections.append(Section(head[1], flags, same[0] if same else [], []))
        elif line.startswith("# "):
            assert not sections[-1].rows, f"{place}: a comment, or a heading without '# NAME [FLAGS]: what for'"
        else:
            sections[-1].rows.append(read_row(place, line))
    for section in sections:
        assert section.rows, f"{path.name}: section '{section.name}' has no row"
        assert not section.same or all(len(expand(row.options)) > 1 for row in section.rows), (
            f"{path.name}: same as what?"
        )
    return sections


def read_row(place: str, line: str) -> Row:
    options, status, expected = line.split("\t")
    assert status in ("0", "1", "2", "3"), f"{place}: status {status}"
    assert int(status) < 2 or expected not in ("-", ""), f"{place}: expected words of what it says"
    return Row(place, options, int(status), expected)


def has(value: Node, key: str) -> bool:
    return key in value.value


def said(comparison: str, known: dict[str, Any]) -> str:
    """With what stands on its left, where that can be told."""
    left = re.split(" (?:==|!=|<=|>=|<|>) ", comparison)[0]
    try:
        return f"{comparison}; it is {eval(left, {'__builtins__': {}, **known})}"[:500]  # noqa: S307
    except (SyntaxError, AttributeError, TypeError):
        return comparison


def expand(options: str) -> list[str]:
    """{a,b} in turn, as a shell does."""
    parts = [part.split(",") if at % 2 else [part] for at, part in enumerate(re.split(r"\{([^}]*)\}", options))]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def write_values(path: Path, rows: list[Any]) -> None:
    """Numbers, or rows of numbers."""
    is_table = isinstance(rows[0], list)
    values = [value for row in rows for value in row] if is_table else rows
    write_npy(path, [len(rows), len(rows[0])] if is_table else [len(rows)], array.array("f", values))


class Cases(Case):
    program: Path

    def run_section(self, section: Section) -> None:
        if "long" in section.flags and not LONG:
            self.skipTest("only in make test-all")
        for row in section.rows:
            saved = set()
            for options in expand(row.options):
                with self.subTest(f"{row.place}: {options}"):
                    self.run_case(row._replace(options=options), section)
                    if section.same:
                        files = (self.scratch / f"saved/{name}.npy" for name in section.same)
                        saved.add(b"".join(file.read_bytes() for file in files))
            self.assertEqual(len(saved), bool(section.same), f"{row.place}: other bits")

    def run_case(self, row: Row, section: Section) -> None:
        for old in ("in", "saved"):
            shutil.rmtree(self.scratch / old, ignore_errors=True)
        text = re.sub(r"\\x(..)", lambda byte: os.fsdecode(bytes.fromhex(byte[1])), row.options)
        words = [self.tokens(word) for word in shlex.split(text)]
        for name, values in (found.groups() for found in map(FILE.fullmatch, words) if found):
            write_values(self.scratch / f"in/{name}.npy", eval(values, {"nan": math.nan, "inf": math.inf}))  # noqa: S307
        options, environment = split_environment(word for word in words if not FILE.fullmatch(word))
        if "quick" in section.flags and not LONG:
            environment = {"SIM_CHECK": WITHOUT_RACECHECK, **environment}
        options += ["--save", "saved"] if section.same or "saved(" in row.expected else []
        options += ["--json", "-"] if row.status < 2 else []
        done = run([self.program, *options], cwd=self.scratch, **environment)
        self.assertEqual(done.status, row.status, (done.err or done.out)[:1000])
        if row.status < 2:
            self.assertTrue(row.status or not done.err, done.err)
            self.expect_result(json.loads(done.out), row)
        else:
            self.assertEqual((done.out, done.err.count("\n")), ("", 1), done.err)
            words = [f"{self.program.name}: ", *row.expected.split(" ... ")]
            self.assertRegex(done.err, "^" + ".*".join(map(re.escape, words)))

    def expect_result(self, result: dict[str, Any], row: Row) -> None:
        kernels = {kernel["name"]: node(kernel) for kernel in result["kernels"]}
        self.assertTrue(kernels, "it ran no kernel")
        for name, kernel in kernels.items():
            if row.status == 0 and f"{name}.skipped" not in row.expected:
                self.assertEqual((kernel.value.get("verified"), kernel.value.get("skipped")), (True, None), name)
        if row.expected != "-":
            known = {letter: result["problem"].get(key) for key, letter in LETTERS.items()}
            known |= {"sum": sum, "len": len, "all": all, "zip": zip, "exp": math.exp, "has": has}
            known |= {f"{name}_" * iskeyword(name) or name: kernel for name, kernel in kernels.items()}
            known["result"] = node(result)
            known["moved"] = lambda kernel, tensor: moved(kernel.value)[tensor]
            known["saved"] = lambda name: nested(*read_npy(self.scratch / f"saved/{name}.npy"))
            known["near"] = lambda a, b, by: abs(a - b) <= by
            for each in row.expected.split("; "):
                self.assertIs(eval(each, {"__builtins__": {}, **known}), True, said(each, known))  # noqa: S307 (our table)

    def tokens(self, word: str) -> str:
        if not re.fullmatch(r"\$\d+", word):
            return word
        directory = self.scratch / word[1:]
        return str(directory if directory.exists() else first_tokens(directory, int(word[1:])))


def suite_of(path: Path) -> type[Cases]:
    """A test for each section."""
    sections = read_sections(path)
    tests = {f"test_{section.name}": (lambda self, section=section: self.run_section(section)) for section in sections}
    return type(path.stem, (Cases,), {**tests, "program": BUILD / "chapters" / path.stem.partition("_")[2]})


if Path(sys.argv[1]).stem == "cases":  # suite.py's words: this file, then the results, cases_CHAPTER.xml
    TABLE = Path(__file__).with_name(f"{Path(sys.argv[2]).stem.partition(':')[0].removeprefix('cases_')}.tsv")
    globals()[TABLE.stem] = suite_of(TABLE)
