"""What the README's first screen prints, make check-readme looks at; here, what tools/broken and tools/pages refuse."""

from __future__ import annotations

from case import ROOT, Case, run

BROKEN, PAGES = ROOT / "tools/broken", ROOT / "tools/pages"


class Broken(Case):
    def test_what_has_no_such_barrier_is_one_line(self) -> None:
        for file, says in (
            ("gone.cu", "expected a kernel's file"),
            ("chapter.c", "expected a __syncthreads() in a loop"),
        ):
            done = run([BROKEN, "05_fa2", file, "./fa2"])
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertRegex(done.err, rf"\Abroken: 05_fa2/{file}: {says.replace('()', '..')}[^\n]*\n\Z")


class Loop(Case):
    def test_from_its_first_line_to_its_brace(self) -> None:
        kernel = self.scratch / "a.cu"
        kernel.write_text("void f()\n{\n\tfor (int i = 0;;) { // here\n\t\tif (i) {\n\t\t}\n\t}\n\tg();\n}\n")
        expected = "```cuda\nfor (int i = 0;;) { // here\n    if (i) {\n    }\n}\n```\n"
        self.assertEqual(run([PAGES, "loop", kernel, "for (int i"]), (0, expected, ""))
        done = run([PAGES, "loop", kernel, "while"])
        self.assertEqual(done, (1, "", f"pages: {kernel}: no line that begins with 'while'\n"))
