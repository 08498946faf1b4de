"""tools/glossary links each word of GLOSSARY.md where a page uses it first. The course's pages: make check-readme."""

from __future__ import annotations

import re

from case import ROOT, Case, Outcome, run


class Glossary(Case):
    def glossary(self, *arguments: object) -> Outcome:
        return run([ROOT / "tools/glossary", *arguments], cwd=ROOT)

    def test_the_first_use_in_running_text_and_no_other(self) -> None:
        cases = [
            ("# A warp\n\nTwo warps. A warp.\n", "# A warp\n\nTwo [warps][warp]. A warp.\n"),
            ("A Warp, a warp.\n", "A [Warp], a warp.\n"),
            ("A warp: it.\n", "A [warp][warp]: it.\n"),  # or Markdown reads a definition, a link
            ("softmax(S)\n", "[softmax][softmax](S)\n"),
            ("In shared\nmemory.\n", "In [shared\nmemory].\n"),
            ("Two queries.\n", "Two [queries][query].\n"),
            # A longer word is no use of a shorter one.
            ("A register tile, a tile, a register.\n", "A [register tile], a [tile], a [register].\n"),
        ]
        for no_use in (
            "```text\nwarp\n```\n",
            "<!-- markdown: x -->\nwarp\n<!-- end -->\n",
            "<!-- a warp -->\n",
            "## The warp\n",
            "`warp` and `a\nwarp`\n",
            "[a warp](x.md)\n",
            "Code:\n\n    a warp\n\n    another warp\n",
            "warp_of_the_grid, tests/warp, warp-level\n",
        ):
            cases.append((f"{no_use}\nA warp.\n", f"{no_use}\nA [warp].\n"))
        page = self.scratch / "page.md"
        for text, linked in cases:
            with self.subTest(text):
                page.write_text(text)
                self.assertEqual(self.glossary(page).status, 0)
                self.assertEqual(re.sub(r"\n(\[.*?\]: .*\n)+\Z", "", page.read_text()), linked)

    def test_run_again_after_an_edit(self) -> None:
        """Kills: links that stay where the first use was; a second list of where they lead; a --check that writes, or
        does not see a link that is missing, or that leads elsewhere."""
        page = self.scratch / "page.md"
        page.write_text("A warp.\n\nMore warps, a lane.\n")
        self.glossary(page)
        once = page.read_text()
        self.glossary(page)
        self.assertEqual(page.read_text(), once)
        for stale in (
            f"Before it a warp and lanes. {once}",
            once.replace("[warp]", "warp", 1),
            once.replace("#warp", "#w"),
        ):
            page.write_text(stale)
            outcome = self.glossary("--check", page)
            self.assertEqual((outcome.status, page.read_text()), (1, stale))
            self.assertRegex(outcome.err, r"\A[^\n]*a word of the glossary is not linked at its first use[^\n]*\n\Z")
            self.glossary(page)
            self.assertEqual(self.glossary("--check", page).status, 0)
        page.write_text(f"Before it a warp and lanes. {once}")
        self.glossary(page)
        expected = "Before it a [warp] and [lanes][lane]. A warp.\n\nMore warps, a lane.\n\n"
        self.assertEqual(page.read_text(), expected + once[once.index("[lane]: ") :])

    def test_what_cannot_be_read(self) -> None:
        (self.scratch / "latin1.md").write_bytes(b"caf\xe9\n")
        for name, says in (
            ("none.md", "No such file"),
            ("", "Is a directory"),
            ("latin1.md", "expected text in UTF-8"),
        ):
            outcome = self.glossary(self.scratch / name)
            self.assertEqual((outcome.status, outcome.err.count("\n")), (2, 1))
            self.assertIn(says, outcome.err)
