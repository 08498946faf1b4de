"""What the README's first screen prints: tools/broken, a kernel without a barrier, and tools/pages loop."""

from __future__ import annotations

import runpy
import unittest

from case import ROOT, Case, run

BROKEN, PAGES = ROOT / "tools/broken", ROOT / "tools/pages"


class Broken(Case):
    def test_only_the_first_barrier_of_a_loop_is_removed(self) -> None:
        without = runpy.run_path(str(BROKEN), run_name="broken")["without_barrier"]
        text = "{\n\t__syncthreads();\n\tfor (;;) {\n\t\t__syncthreads(); // one\n\t\t__syncthreads(); // two\n\t}\n}\n"
        self.assertEqual(without(text), text.replace("\t\t__syncthreads(); // one\n", ""))
        row = (ROOT / "05_fa2/row.cu").read_text()
        self.assertEqual(len(without(row).splitlines()), len(row.splitlines()) - 1)

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


if __name__ == "__main__":
    unittest.main()
