"""A chapter's runs as a table: cases/CHAPTER.tsv is the suite cases_CHAPTER, a section of it a test.

    # NAME [FLAG]: what the section is for      FLAGs: long, quick, same TENSOR
    OPTIONS <tab> STATUS <tab> EXPECTED

OPTIONS are the program's; a word NAME=VALUE is for its environment, {a,b} stands for each in turn ({,--causal}: without
and with), $TOKENS for a directory of the first tokens of real text. With STATUS 0 every kernel must be verified, none
skipped and nothing said on stderr; EXPECTED is "-" or what holds besides, in Python: a kernel's name is its JSON, with
keys as attributes (global_ is global), N, H, d and so on are the problem's, moved(KERNEL, TENSOR) is (read, written) in
elements. With another STATUS nothing is printed but one line on stderr, with the words of EXPECTED, "..." between them.

long: only in make test-all. quick: in make test without racecheck, which takes up to half of a run. same TENSOR: all
runs of a row must save the same bits of it.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case import BUILD, ROOT, Case, moved, run

LONG = bool(os.environ.get("LONG"))
LETTERS = {"batch": "B", "heads": "H", "kv_heads": "G", "seq": "N", "keys": "M", "dim": "d", "rows": "R", "cols": "C"}


class Row(NamedTuple):
    place: str  # FILE:LINE
    options: str
    status: int
    expected: str


class Section(NamedTuple):
    name: str
    flags: str
    rows: list[Row]


class Node:
    """A JSON object, its keys as attributes; what is not there is None."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __getattr__(self, key: str) -> Any:
        return node(self.value.get(key.rstrip("_")))


def node(value: Any) -> Any:
    return Node(value) if isinstance(value, dict) else [*map(node, value)] if isinstance(value, list) else value


def read_sections(path: Path) -> list[Section]:
    sections: list[Section] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path.name}:{number}"
        if head := re.fullmatch(r"# (\w+)(?: \[(.+)\])?: .+", line):
            sections.append(Section(head[1], head[2] or "", []))
        elif not line.startswith("#"):
            options, status, expected = line.split("\t")
            sections[-1].rows.append(Row(place, options, int(status), expected))
    return sections


def expand(options: str) -> list[str]:
    """{a,b} in turn, as a shell does."""
    parts = [part.split(",") if at % 2 else [part] for at, part in enumerate(re.split(r"\{([^}]*)\}", options))]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def first_tokens(directory: Path, tokens: int) -> Path:
    """Of the model's Q, K and V (B, H, N, d) in tests/data/real_qkv, float32 in C's order."""
    directory.mkdir()
    for name in ("q.npy", "k.npy", "v.npy"):
        content = (ROOT / "tests/data/real_qkv" / name).read_bytes()
        start = 10 + int.from_bytes(content[8:10], "little")  # numpy's format, version 1
        B, H, N, d = ast.literal_eval(content[10:start].decode())["shape"]
        heads = [content[start + 4 * head * N * d :][: 4 * tokens * d] for head in range(B * H)]
        header = str({"descr": "<f4", "fortran_order": False, "shape": (B, H, tokens, d)}).ljust(117) + "\n"
        (directory / name).write_bytes(
            content[:8] + len(header).to_bytes(2, "little") + header.encode() + b"".join(heads)
        )
    return directory


class Cases(Case):
    program: Path

    def run_section(self, section: Section) -> None:
        if "long" in section.flags and not LONG:
            self.skipTest("only in make test-all")
        self.assertTrue(section.rows, section.name)
        for row in section.rows:
            saved = set()
            for options in expand(row.options):
                with self.subTest(f"{row.place}: {options}"):
                    self.run_case(row._replace(options=options), section.flags)
                    if found := re.search(r"same (\w+)", section.flags):
                        saved.add((self.scratch / f"saved/{found[1]}.npy").read_bytes())
            self.assertLessEqual(len(saved), 1, f"{row.place}: other bits")

    def run_case(self, row: Row, flags: str) -> None:
        words = [self.tokens(word) for word in row.options.split()]
        environment = dict(word.split("=", 1) for word in words if re.match("[A-Z_]+=", word))
        if "quick" in flags and not LONG:
            environment = {"SIM_CHECK": "memcheck,initcheck,synccheck", **environment}
        options = [word for word in words if not re.match("[A-Z_]+=", word)]
        save = ["--save", "saved"] if "same" in flags else []
        report = ["--json", "-"] if row.status == 0 else []
        done = run([self.program, *report, *options, *save], cwd=self.scratch, **environment)
        self.assertEqual(done.status, row.status, done.err or done.out)
        if row.status:
            self.assertEqual((done.out, done.err.count("\n")), ("", 1), done.err)
            self.assertRegex(done.err, ".*".join(map(re.escape, row.expected.split(" ... "))))
        else:
            self.assertEqual(done.err, "")
            self.expect_result(json.loads(done.out), row.expected)

    def expect_result(self, result: dict[str, Any], expected: str) -> None:
        kernels = {kernel["name"]: node(kernel) for kernel in result["kernels"]}
        self.assertTrue(kernels, "it ran no kernel")
        for name, kernel in kernels.items():
            if f"{name}.skipped" not in expected:
                self.assertEqual((kernel.verified, kernel.skipped), (True, None), name)
        if expected != "-":
            sizes = {letter: result["problem"].get(key) for key, letter in LETTERS.items()}
            known = {
                **sizes,
                **kernels,
                "moved": lambda kernel, tensor: moved(kernel.value, tensor),
                "problem": node(result["problem"]),
                "sum": sum,
                "abs": abs,
            }
            for each in expected.split("; "):
                self.assertTrue(eval(each, {"__builtins__": {}, **known}), each)  # noqa: S307 (our own table)

    def tokens(self, word: str) -> str:
        if not re.fullmatch(r"\$\d+", word):
            return word
        directory = self.scratch / word[1:]
        return str(directory if directory.exists() else first_tokens(directory, int(word[1:])))


def suite_of(path: Path) -> type[Cases]:
    """A test for each section."""
    tests = {
        f"test_{section.name}": (lambda self, section=section: self.run_section(section))
        for section in read_sections(path)
    }
    return type(path.stem, (Cases,), {**tests, "program": BUILD / "chapters" / path.stem.partition("_")[2]})


if Path(sys.argv[1]).stem == "cases":  # support/suite.py's first word; the last is the table
    TABLE = Path(__file__).with_name(f"{sys.argv[3]}.tsv")
    globals()[TABLE.stem] = suite_of(TABLE)
