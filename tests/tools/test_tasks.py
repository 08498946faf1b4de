"""tools/lib/tasks.py and tools/lib/leaks.py: the regions of the classroom's tasks, and where their solutions show."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from lib import leaks, tasks

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """void f()
{
	// task 01.a: the first
	a = 1;
#pragma unroll
	for (;;)
		b();

	// end 01.a
	if (c) {
		// task 01.b: the second
		c();
		// end 01.b
	}
}
"""
# What any kernel may use (the judge of regions will have its own list).
COMMON = """threadIdx blockIdx blockDim gridDim x y z w expf exp2f logf tanhf fmaxf fminf abs min max __shfl_xor_sync
    __syncthreads __syncwarp INFINITY size_t float float4 int bool const constexpr for if else return struct while void
    pragma unroll"""


class Regions(unittest.TestCase):
    def test_a_source_comes_back(self) -> None:
        for text in (SOURCE, SOURCE.replace("\n", "\r\n"), "int x;", "", "\n\n"):
            self.assertEqual(tasks.put_together(tasks.take_apart("x", text)), text)

    def test_parts(self) -> None:
        found = [(part.id, part.indent) for part in tasks.take_apart("x", SOURCE)]
        self.assertEqual(found, [(None, ""), ("01.a", "\t"), (None, ""), ("01.b", "\t\t"), (None, "")])

    def test_texts_have_the_indent_of_their_place(self) -> None:
        texts = tasks.solutions_of("x", {"x.cu": SOURCE})
        self.assertEqual(texts, {"01.a": "a = 1;\n#pragma unroll\nfor (;;)\n\tb();\n\n", "01.b": "c();\n"})
        self.assertEqual(tasks.fill("x", SOURCE, texts), (SOURCE, 2))
        filled, count = tasks.fill("x", SOURCE, {"01.b": "if (d)\n#pragma unroll 2\n\td();\n\n"})
        self.assertEqual(count, 1)
        self.assertIn("\n\t\tif (d)\n#pragma unroll 2\n\t\t\td();\n\n\t\t// end 01.b\n", filled)

    def test_mistakes_are_told(self) -> None:
        for change, expected in (
            (("// end 01.a", "// end 01.b"), "x: '// end 01.b' where '// end 01.a' was expected"),
            (("// end 01.b", "// and 01.b"), "x: no line '// end 01.b'"),
        ):
            with self.assertRaises(tasks.TaskError) as raised:
                tasks.take_apart("x", SOURCE.replace(*change))
            self.assertEqual(str(raised.exception), expected)
        with self.assertRaisesRegex(tasks.TaskError, "x/b.cu: task 01.a: not the same lines"):
            tasks.solutions_of("x", {"a.cu": SOURCE, "b.cu": SOURCE.replace("a = 1", "a = 2")})
        with self.assertRaisesRegex(tasks.TaskError, "less indented than its marker: c"):
            tasks.solutions_of("x", {"a.cu": SOURCE.replace("\t\tc();", "\tc();")})

    def test_places(self) -> None:
        sources = {"a.cu": SOURCE, "b.cuh": SOURCE.replace("01.a", "01.c"), "c.cu": "int x;\n"}
        self.assertEqual(tasks.places_of("x", sources), {"a.cu": ["01.a", "01.b"], "b.cuh": ["01.c", "01.b"]})


class Names(unittest.TestCase):
    """classroom/tasks/ID/names holds what the region takes from its place: all else it has to declare itself."""

    def test_answers_and_stubs_use_no_others(self) -> None:
        table = tasks.read_tasks(ROOT / "classroom/tasks.tsv")
        solutions: dict[str, str] = {}
        for chapter in {task.chapter for task in table}:
            solutions.update(tasks.solutions_of(chapter, tasks.read_sources(ROOT / chapter)))
        for task in table:
            directory = ROOT / "classroom/tasks" / task.id
            words = re.sub(r"#.*", "", (directory / "names").read_text()).split()
            self.assertEqual(len(words), len(set(words)), task.id)
            names = {name for word in words for name in re.findall(r"[A-Za-z_]\w*", word)}
            texts = [solutions[task.id], *(path.read_text() for path in directory.glob("*.cu"))]
            for code in (re.sub(r"//.*|\b[0-9][\w.]*", "", text) for text in texts):
                declared = set(re.findall(r"(?:float|int|bool|size_t|partial|[,;])\s+\*?(\w+)\s*[=\[;{]", code))
                used = set(re.findall(r"[A-Za-z_]\w*", code))
                self.assertEqual(used - declared - names - set(COMMON.split()), set(), task.id)


class Leaks(unittest.TestCase):
    SOLUTION = "float m = 0;\n{\n#pragma unroll\n\tfor (;;)\n\t\tm += a[i];\n__syncthreads();\nreturn m;\n"

    def found(self, text: str, solution: str = SOLUTION) -> list[tuple[int, str]]:
        return leaks.Solutions([("01.a", solution)]).find(text)

    def test_three_lines_are_found_however_they_are_laid_out(self) -> None:
        for text in (
            self.SOLUTION,
            "float m=0; // a comment\n\n  for( ; ; )\n  {\n /* and\none */ m += a[i];\n",
            "text\n+\tfor (;;)\n+\t\tm += a[i];\n+}\n+\treturn m;\n",
            "> float m = 0;\n> for (;;)\n> m += a[i];\n",
        ):
            self.assertTrue(self.found(text), text)

    def test_fewer_are_not(self) -> None:
        self.assertEqual(self.found("float m = 0;\nfor (;;)\nint other;\nm += a[i];\nreturn m;\n"), [])
        self.assertEqual(self.found(""), [])

    def test_a_short_solution_is_found_whole(self) -> None:
        self.assertEqual(self.found("int x;\n\treturn m;\n", "return m;\n"), [(2, "01.a")])
        self.assertEqual(self.found("a();\nc();\na();\nb();\n", "a();\nb();\n"), [(3, "01.a")])

    def test_places_in_a_directory(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            (directory / "deep/er").mkdir(parents=True)
            (directory / "deep/er/notes.md").write_text("one\n" + self.SOLUTION, encoding="utf-8")
            (directory / "picture").write_bytes(b"\0" + self.SOLUTION.encode())
            (directory / "latin").write_bytes(b"\xff\n" + self.SOLUTION.encode())
            found = leaks.Solutions([("01.a", self.SOLUTION)]).find_in(directory)
        self.assertEqual(len(found), 4)
        self.assertEqual(found[0], "deep/er/notes.md:2: lines of the solution of 01.a")
        self.assertTrue(found[2].startswith("latin:2:"))


if __name__ == "__main__":
    unittest.main()
