"""00_gpu/cuda.md: every construct of C++ and CUDA that a kernel's file uses has a row, and names the first file that
uses it; the examples compile. (What 00_gpu/first and its three breaks print: make check-readme.)"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from case import ROOT, Case, run
from lib.chapters import PROGRAMS

PAGE = ROOT / "00_gpu/cuda.md"
FIRST = ROOT / "00_gpu/first"
SIMCC = ROOT / "simcc/simcc"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?!C\")(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
# What C has not, as a pattern for each; most are words, and are their own names in the table.
NAMED = {
    r"<<<": "<<< >>>",
    r'extern "C"': 'extern "C"',
    r"extern __shared__": "extern __shared__",
    r"if constexpr": "if constexpr",
    r"= \{\}": "= {}",
    r"\[[=&]\]": "[=]",
    r"\b\w+::\w+": "T::NAME",
    r"\b[a-z_]\w* &\w+(?=[,)])": "type &name",
}
WORD = re.compile(
    r"#pragma \w+|\b__\w+|\b(?:make_)?(?:u?int|float|double|u?short|u?char)[1234]\b|\b(?:thread|block)Idx\b"
    r"|\b(?:block|grid)Dim\b|\bdim3\b|\batomic[A-Z]\w*|\b(?:min|max)(?=\()|\b(?:template|typename|class|constexpr|auto|using|namespace|operator"
    r"|static_assert|decltype|nullptr|new|delete|this|virtual|friend|private|public|protected|try|catch|throw|bool|inline"
    r"|noexcept|explicit|mutable|typeid|asm|volatile|(?:static|const|dynamic|reinterpret)_cast)\b"
)


def constructs(text: str) -> set[str]:
    """Those of a source. In a longer one that is named its words do not count: extern __shared__, if constexpr."""
    text, found = TEXT.sub(" ", text), set()
    for pattern, name in NAMED.items():
        text, count = re.subn(pattern, " ", text)
        found |= {name} if count else set()
    return found | set(WORD.findall(text))


def rows() -> Iterator[tuple[list[str], str]]:
    """Of each row the words, and the file."""
    for words, name, target in re.findall(
        r"^\| \[(`.+`)\]\(#[\w-]+\) \|[^|]*\| \[(.+)\]\((.+)\) \|$", PAGE.read_text(), re.M
    ):
        assert (PAGE.parent / target).resolve() == ROOT / name, f"{name} leads to {target}"
        yield re.findall(r"`([^`]+)`", words), name


class Table(Case):
    def test_every_construct_of_a_kernels_file_stands_in_it_with_the_file_that_has_it_first(self) -> None:
        """Kills: a chapter that uses a new one, a row whose file came to have it later than another."""
        files = [FIRST / "first.cu", *(path for chapter in PROGRAMS for path in sorted((ROOT / chapter).glob("*.cu*")))]
        first: dict[str, str] = {}
        for path in files:
            for word in constructs(path.read_text()):
                first.setdefault(word, str(path.relative_to(ROOT)))
        told = {word: name for words, name in rows() for word in words}
        self.assertGreater(len(told), 40)
        self.assertEqual({word: name for word, name in first.items() if word not in told}, {}, "not in the table")
        order = [str(path.relative_to(ROOT)) for path in files]
        for words, name in rows():
            used = [first[word] for word in words if word in first]
            self.assertEqual(len(used), len(words), f"{words}: no kernel uses each of these")
            self.assertEqual(name, min(used, key=order.index), words)

    def test_the_examples_compile_and_show_what_their_table_names(self) -> None:
        blocks = re.findall(r"^```cuda\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 15)
        shown = set().union(*map(constructs, blocks))
        missing = {word for words, _ in rows() for word in words} - shown
        self.assertEqual(missing, {"#pragma once"})
        source = self.scratch / "examples.cu"
        bodies = [f"namespace example{n} {{\n{block}}}\n" for n, block in enumerate(blocks)]
        includes = [line for block in blocks for line in block.splitlines() if line.startswith("#include")]
        source.write_text("\n".join([*includes, *(re.sub("#include.*", "", body) for body in bodies)]))
        compilers = [[SIMCC], *([[NVCC, "-std=c++17", "-arch=sm_90"]] if NVCC else [])]
        for compiler in compilers:
            for file in (source, FIRST / "first.cu", FIRST / "xor.cu"):
                done = run([*compiler, "-c", file, "-o", self.scratch / "examples.o"])
                self.assertEqual(done.status, 0, done.out + done.err)
