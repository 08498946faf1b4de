"""tools/lib/tasks.py and tools/lib/leaks.py: the regions of the classroom's tasks, and where their solutions show."""

from __future__ import annotations

from case import Case
from lib import leaks, tasks

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
SOLUTION = "float m = 0;\n{\n#pragma unroll\n\tfor (;;)\n\t\tm += a[i];\n__syncthreads();\nreturn m;\n"


class Regions(Case):
    def test_mistakes_are_told(self) -> None:
        other = {"a.cu": SOURCE, "b.cu": SOURCE.replace("a = 1", "a = 2")}
        for sources, says in (
            ({"a.cu": SOURCE.replace("// end 01.a", "// end 01.b")}, "'// end 01.b' where '// end 01.a' was expected"),
            ({"a.cu": SOURCE.replace("// end 01.b", "// and 01.b")}, "x/a.cu: no line '// end 01.b'"),
            ({"a.cu": SOURCE.replace("\t\tc();", "\tc();")}, "less indented than its marker: c"),
            (other, "x/b.cu: task 01.a: not the same lines"),
        ):
            with self.assertRaisesRegex(tasks.TaskError, says):
                tasks.solutions_of("x", sources)
        table = self.scratch / "tasks.tsv"
        table.write_text("01.a\t01_naive\tnaive\ta title\tfive\t1.5\n")
        with self.assertRaisesRegex(tasks.TaskError, ":1: lines 'five', points '1.5': expected numbers"):
            tasks.read_tasks(table)


class Leaks(Case):
    def test_three_lines_are_found_however_they_are_laid_out_and_fewer_are_not(self) -> None:
        whole, short = SOLUTION, "return m;\n"
        for text, solution, first in (
            (SOLUTION, whole, 1),
            ("float m=0; // a comment\n\n  for( ; ; )\n  {\n /* and\none */ m += a[i];\n", whole, 1),
            ("text\n+\tfor (;;)\n+\t\tm += a[i];\n+}\n+\treturn m;\n", whole, 2),
            ("> float m = 0;\n> for (;;)\n> m += a[i];\n", whole, 1),
            ("float m = 0;\nfor (;;)\nint other;\nm += a[i];\nreturn m;\n", whole, None),
            ("", whole, None),
            # A solution that has fewer lines is found by all of it.
            ("int x;\n\treturn m;\n", short, 2),
            ("a();\nc();\na();\nb();\n", "a();\nb();\n", 3),
        ):
            with self.subTest(text):
                found = leaks.Solutions([("01.a", solution)]).find(text)
                self.assertEqual(found[:1], [(first, "01.a")] if first else [])

    def test_places_in_a_directory(self) -> None:
        (self.scratch / "deep").mkdir()
        (self.scratch / "deep/notes.md").write_text(f"one\n{SOLUTION}", encoding="utf-8")
        (self.scratch / "picture").write_bytes(b"\0" + SOLUTION.encode())
        (self.scratch / "latin").write_bytes(b"\xff\n" + SOLUTION.encode())
        found = leaks.Solutions([("01.a", SOLUTION)]).find_in(self.scratch)
        self.assertEqual(len(found), 4)
        self.assertEqual(found[0], "deep/notes.md:2: lines of the solution of 01.a")
        self.assertTrue(found[2].startswith("latin:2:"))
