"""What keeps the pages right: tools/text finds what is planted wrong in spelling and links, lib/glossary.py links each
word where a page uses it first, tools/pages re-makes what a page shows. The course's: make check-text check-readme."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import unittest

from case import ROOT, Case, Outcome, run
from lib.glossary import linked

HAS_TOOLS = all(map(importlib.util.find_spec, ("markdown_it", "pygments"))) and bool(
    shutil.which("codespell") or importlib.util.find_spec("codespell_lib")
)


@unittest.skipUnless(HAS_TOOLS, "codespell, markdown-it or Pygments is not installed: ./setup.sh --all")
class Text(Case):
    """A repository with the tool and one page."""

    OTHER = "# One `word`\n\n## Twice\n\n## Twice\n\n```sh\n# No heading\n```\n"

    def setUp(self) -> None:
        super().setUp()
        ignored = shutil.ignore_patterns("__pycache__", "*.html")
        shutil.copytree(ROOT / "tools/lib", self.scratch / "tools/lib", ignore=ignored)
        shutil.copy(ROOT / "tools/text", self.scratch / "tools")
        (self.scratch / ".gitignore").write_text("tools\n")
        subprocess.run(["git", "init", "-q", self.scratch], check=True)
        (self.scratch / "other.md").write_text(self.OTHER)

    def text(self, page: str, *arguments: str) -> Outcome:
        (self.scratch / "page.md").write_text(page)
        return run([self.scratch / "tools/text", *arguments], GIT_CEILING_DIRECTORIES=str(self.scratch.parent))

    def test_links(self) -> None:
        good = (
            "[a](other.md) [b](other.md#one-word) [c](#here) [d](other.md#twice-1) [f][one]\n[g][] [one]\n"
            '<img src="other.md"> [h](https://example.org/a?b=c#d) `[no](link.md)` x[r][c]\n'
            "[![i](other.md)](other.md)\n\n"
            "## Here\n\n    [no](code.md)\n\n```\n[no](fence.md)\n```\n\n[one]: other.md#one-word\n[g]: other.md\n"
        )
        for text, says in (
            (good, ""),
            ("[a](none.md)", "page.md: the link to none.md leads nowhere"),
            ("[a](other.md#no-heading)", "page.md: other.md#no-heading: other.md has no heading of that name"),
            ("[a](#here)", "page.md: #here: page.md has no heading of that name"),
            ("[a][none]", "page.md: [a][none]: no such definition"),
            ("[a][one]\n\n[one]: none.md", "page.md: the link to none.md leads nowhere"),
            ("[![a](none.svg)](other.md)", "page.md: the link to none.svg leads nowhere"),
            ('<source media="x" srcset="none.svg">', "page.md: the link to none.svg leads nowhere"),
        ):
            with self.subTest(text):
                outcome = self.text(f"{text}\n")
                self.assertEqual((outcome.status, outcome.err.count("\n")), (1, 1) if says else (0, 0), outcome)
                self.assertIn(says, outcome.out)

    def test_misspellings(self) -> None:
        # Backward: this file is checked, too.
        wrong, british, color = (word[::-1] for word in ("etarepes", "desitnauq", "ruoloc"))
        found = {wrong: 1, british: 1, color: 1, f'"\\n{wrong}"': 1, r"""a warp's lanes, "\\to", 4Nd + Nd""": 0}
        for text, count in found.items():
            with self.subTest(text):
                outcome = self.text(f"It is {text}.\n")
                self.assertEqual((outcome.status, outcome.err.count("\n")), (count, count), outcome.out)
                self.assertRegex(outcome.out, r"page.md:1: \w+ ==> \w+\n" if count else r"\Acheck-text: [^\n]*\n\Z")
        self.assertEqual(self.text(f"{color}, and text\n", "--fix").status, 0)
        self.assertEqual((self.scratch / "page.md").read_text(), "color, and text\n")

    def test_without_git(self) -> None:
        shutil.rmtree(self.scratch / ".git")
        self.assertEqual(self.text(""), (3, "", "text: git does not list the tree's files: a clone is needed\n"))


class Glossary(unittest.TestCase):
    WORDS = "".join(
        f"### {word}\n" for word in "warp,lane,softmax,shared memory,query,register,register tile,tile".split(",")
    )

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
        for text, expected in cases:
            with self.subTest(text):
                made = linked(text, self.WORDS, "../GLOSSARY.md")
                self.assertEqual(re.sub(r"\n(\[.*?\]: .*\n)+\Z", "", made), expected)

    def test_done_again_after_an_edit(self) -> None:
        """Kills: links that stay where the first use was; a second list of where they lead."""
        places = "[lane]: GLOSSARY.md#lane\n[warp]: GLOSSARY.md#warp\n"
        once = f"A [warp].\n\nMore warps, a [lane].\n\n{places}"
        for text, expected in (
            ("A warp.\n\nMore warps, a lane.\n", once),
            (once, once),
            (once.replace("#warp", "#w"), once),
            (
                f"Before it a warp and lanes. {once}",
                f"Before it a [warp] and [lanes][lane]. A warp.\n\nMore warps, a lane.\n\n{places}",
            ),
        ):
            self.assertEqual(linked(text, self.WORDS, "GLOSSARY.md"), expected)


class Pages(Case):
    def test_a_loop_is_shown_from_its_first_line_to_its_brace(self) -> None:
        kernel = self.scratch / "a.cu"
        kernel.write_text("void f()\n{\n\tfor (int i = 0;;) { // here\n\t\tif (i) {\n\t\t}\n\t}\n\tg();\n}\n")
        expected = "```cuda\nfor (int i = 0;;) { // here\n    if (i) {\n    }\n}\n```\n"
        self.assertEqual(run([ROOT / "tools/pages", "loop", kernel, "for (int i"]), (0, expected, ""))

    def test_what_is_stale_and_what_is_no_whole_block(self) -> None:
        """Each page answers for itself; a check changes nothing; what stands around a block stays."""
        page, other = self.scratch / "a.md", self.scratch / "b.md"
        text = "A\n<!-- output: echo 1 -->\n```text\n{}\n```\n<!-- markdown: echo 3 -->\n{}\n<!-- end -->\nB\n"
        other.write_text("<!-- output: echo 4 -->\n```text\n4\n```\n")
        of_1, of_3 = (f"a.md: the block printed by 'echo {n}' is stale: make readme\n" for n in (1, 3))
        broken = "pages: b.md: 1 blocks begin and 0 are whole: after the comment ```text and ```, or <!-- end -->\n"
        stale = "a.md: 2 blocks, 1 of them stale\nb.md: 1 blocks as printed\n"
        for shown, options, status, out, err in (
            ((2, 3), ["--check"], 1, stale, of_1),
            ((1, 4), ["--check"], 1, stale, of_3),
            ((2, 4), [], 0, "a.md: 2 blocks re-made\nb.md: 1 blocks re-made\n", ""),
            ((1, 3), ["--check"], 0, "a.md: 2 blocks as printed\nb.md: 1 blocks as printed\n", ""),
        ):
            page.write_text(text.format(*shown))
            done = run([ROOT / "tools/pages", "readme", *options, "a.md", "b.md"], cwd=self.scratch)
            self.assertEqual(done, (status, out, err))
            self.assertEqual(page.read_text(), text.format(*(shown if options else (1, 3))))
        for whole in ("<!-- output: echo 4 -->\n\n```text\n5\n```\n", "<!-- markdown: echo 4 -->\n5\n"):
            other.write_text(whole)
            done = run([ROOT / "tools/pages", "readme", "--check", "b.md"], cwd=self.scratch)
            self.assertEqual(done, (1, "", broken))

    def test_in_a_chapter_words_of_the_glossary_are_linked(self) -> None:
        page, other = self.scratch / "01_naive/a.md", self.scratch / "b.md"
        page.parent.mkdir()
        for path in (page, other):
            path.write_text("A warp.\n")
        for options, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
            done = run([ROOT / "tools/pages", "readme", *options, page, other])
            self.assertEqual((done.status, done.err.count("is not linked at its first use")), (status, status))
        self.assertRegex(page.read_text(), r"\AA \[warp\]\.\n\n\[warp\]: .*GLOSSARY\.md#warp\n\Z")
        self.assertEqual(other.read_text(), "A warp.\n")
