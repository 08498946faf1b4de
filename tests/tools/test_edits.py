"""tools/lib/edits.py and tools/plant: the dialect of "replace this text"."""

from __future__ import annotations

import unittest

from case import ROOT, Case, Outcome, run
from lib import edits

FILE = """# What goes wrong.

@ plain the words of its name
options: --seq 200 --scale: no
keeps all
---
	a = 1;
+++
	a = 2;
# ---- what follows ----

@ two
--- all in a.cu

	b();
#pragma unroll

+++
--- in b.cu
c
+++
d
"""

SOURCES = {"a.cu": '#include "a.cuh"\n\ta = 1;\n\tb();\n#pragma unroll\n\tb();\n#pragma unroll\n', "b.cu": "c\n"}


class Dialect(unittest.TestCase):
    def test_applies_to_all_files_or_to_one(self) -> None:
        plain, two = edits.parse(FILE)
        self.assertEqual(plain.header, {"options": "--seq 200 --scale: no", "keeps": "all"})
        self.assertEqual(plain.apply(SOURCES), {**SOURCES, "a.cu": SOURCES["a.cu"].replace("= 1", "= 2")})
        self.assertEqual(two.apply(SOURCES), {"a.cu": '#include "a.cuh"\n\ta = 1;\n\n\n', "b.cu": "d\n"})
        (edit,) = edits.parse("@ x\n---\na = 1\n+++\na = 22\n---\n22\n+++\n3\n")  # one after the other
        self.assertIn("a = 3;", edit.apply(SOURCES)["a.cu"])

    def test_what_is_refused(self) -> None:
        """A text that does not occur as often as said, what changes nothing, what is no entry."""
        for text, says in (
            ("@ x\n---\n\tb();\n+++\nc\n", "2: x: text found 2 times in a.cu (2), expected once: b();"),
            ("@ x\n---\nz\n+++\nc\n", "2: x: text found 0 times in a.cu, b.cu, expected once: z"),
            ("@ x\n--- all in b.cu\nz\n+++\nc\n", "2: x: text found 0 times in b.cu, expected at least once: z"),
            ("@ x\n--- in c.cu\nz\n+++\nc\n", "2: x: there is no file c.cu"),
            ("@ x\n---\na = 1\n+++\n\na = 1\n", "2: x: the replacement changes nothing"),
            (
                "@ x\n---\na = 1\n+++\na = 2\n---\na = 2\n+++\na = 1\n",
                "1: x: the replacements change nothing",
            ),
            ("---\na\n+++\nb\n", "1: not understood: ---"),
            ("@ x\n--- everywhere\na\n+++\nb\n", "2: not understood: --- everywhere"),
            ("@ x\noptions: 1\n", "1: x: nothing is replaced"),
            ("@ x\n---\na\n@ y\n---\na\n+++\nb\n", "2: x: a text without a +++"),
            ("@ x\n---\n+++\nb\n", "2: x: an empty text"),
            (
                "@ x\n---\na = 1\n+++\na = 2\n@ x\n---\na = 1\n+++\na = 3\n",
                "6: x: a second entry of this name, the first is in line 1",
            ),
        ):
            with self.subTest(text), self.assertRaises(edits.EditError) as caught:
                for edit in edits.parse(text, "x.edits"):
                    edit.apply(SOURCES)
                edits.named([edit], edit.name)
                edits.named(edits.parse(text, "x.edits"), "x")
            self.assertEqual(str(caught.exception), f"x.edits:{says}")

    def test_who_includes_what_changed(self) -> None:
        before = {"a.cu": '#include "b.cuh"\n', "b.cuh": '#include "c.cuh"\n', "c.cuh": "1\n", "d.cu": "2\n"}
        self.assertEqual(edits.affected(before, {**before, "c.cuh": "3\n"}), {"a.cu", "b.cuh", "c.cuh"})
        self.assertEqual(edits.affected(before, {**before, "d.cu": "3\n"}), {"d.cu"})


class Plant(Case):
    def setUp(self) -> None:
        super().setUp()
        (self.scratch / "chapter").mkdir()
        for name, text in {**SOURCES, "a.cuh": "// shared\n", "a.h": "", "chapter.c": "a = 1;\n"}.items():
            (self.scratch / "chapter" / name).write_text(text)

    def plant(self, *arguments: str, text: str = FILE) -> Outcome:
        (self.scratch / "x.edits").write_text(text)
        return run([ROOT / "tools/plant", "x.edits", *arguments], cwd=self.scratch)

    def planted(self, text: str) -> dict[str, int]:
        """{file: when it was written} of what it makes in the directory out."""
        self.assertEqual(self.plant("chapter", "out", text=text), (0, "", ""))
        out = self.scratch / "out"
        return {str(path.relative_to(out)): path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}

    def test_writes_every_entry_and_lists_what_to_compile(self) -> None:
        first = self.planted(FILE + "@ shared\n---\n// shared\n+++\n// other\n")
        listed = {path.parent.name: path.read_text().split() for path in self.scratch.glob("out/*/planted")}
        self.assertEqual(listed, {"plain": ["a.cu"], "two": ["a.cu", "b.cu"], "shared": ["a.cu"]})
        names = ["a.cu", "a.cuh", "a.h", "b.cu", "planted"]
        self.assertEqual(sorted(first), [f"{entry}/{name}" for entry in sorted(listed) for name in names])
        second = self.planted(FILE.replace("@ two", "@ three") + "@ shared\n--- in b.cu\nc\n+++\nd\n")
        self.assertEqual({name.partition("/")[0] for name in second}, {"plain", "shared", "three"})
        written = {name for name in first.keys() & second.keys() if first[name] != second[name]}
        self.assertEqual(written, {"shared/a.cuh", "shared/b.cu", "shared/planted"})

    def test_says_in_one_line_what_is_wrong(self) -> None:
        (self.scratch / "chapter/b.cu").write_text("// nothing\n")
        says = "plant: x.edits:19: two: text found 0 times in b.cu, expected once: c\n"
        self.assertEqual(self.plant("chapter", "out"), (2, "", says))
