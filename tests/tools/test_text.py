"""tools/text: what is planted wrong in a text's spelling and links is found. The repository's: make check-text."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import unittest

from case import ROOT, Case, Outcome, run

HAS_CODESPELL = bool(shutil.which("codespell") or importlib.util.find_spec("codespell_lib"))
WITHOUT = "no codespell: the spelling was not checked; ./setup.sh --all installs it"


class Planted(Case):
    """A repository with the tool and one page."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("tools/text", "tools/lib/american.txt", "tools/lib/__init__.py", "tools/lib/files.py"):
            (self.scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.scratch / name)
        subprocess.run(["git", "init", "-q", self.scratch], check=True)

    def text(self, *arguments: str, **files: str) -> Outcome:
        """Of files NAME="text", a page each."""
        for name, text in files.items():
            (self.scratch / f"{name}.md").write_text(text)
        return run([self.scratch / "tools/text", *arguments], GIT_CEILING_DIRECTORIES=str(self.scratch.parent))

    def test_links_that_lead_somewhere(self) -> None:
        other = "# One `word`\n\n## Twice\n\n## Twice\n\n```sh\n# No heading\n```\n"
        good = (
            "[a](other.md) [b](other.md#one-word) [c](#here) [d](other.md#twice-1) [e](tools) [f][one]\n[g][] [one]\n"
            '<img src="other.md"> [h](https://example.org/a?b=c#d) `[no](link.md)` x[r][c]\n'
            "[![i](other.md)](other.md)\n\n"
            "## Here\n\n    [no](code.md)\n\n```\n[no](fence.md)\n```\n\n[one]: other.md#one-word\n[g]: other.md\n"
        )
        outcome = self.text("--only", "links", page=good, other=other)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome.out)

    def test_links_that_do_not(self) -> None:
        other = "# One\n\n```sh\n# No heading\n```\n"
        for text, says in (
            ("[a](none.md)", "none.md: no such file"),
            ("[a](other.md#two)", "other.md#two: no such heading"),
            ("[a](other.md#no-heading)", "other.md#no-heading: no such heading"),
            ("[a](#here)", "#here: no such heading"),
            ("[a](tools#one)", "tools#one: no such heading"),
            ("[a]()", "no such file"),
            ("[a][none]", "[a][none]: no such definition"),
            ("[a][one]\n\n[one]: none.md", "none.md: no such file"),
            ("[![a](none.svg)](other.md)", "none.svg: no such file"),
            ('<img alt="x" src="none.png">', "none.png: no such file"),
            ('<source media="x" srcset="none.svg">', "none.svg: no such file"),
            ("[a](https://nowhere)", "https://nowhere: no address"),
            ("[a](http:/example.org)", "http:/example.org: no address"),
            ("[a](ftp://example.org)", "ftp://example.org: no address"),
        ):
            with self.subTest(text):
                outcome = self.text("--only", "links", page=f"{text}\n", other=other)
                self.assertEqual(outcome.status, 1, outcome.out)
                self.assertIn(f"page.md: {says}" if not text.endswith("]()") else says, outcome.out)
                self.assertEqual(outcome.err.count("\n"), 1)

    @unittest.skipUnless(HAS_CODESPELL, WITHOUT)
    def test_misspellings(self) -> None:
        # Backward: this file is checked, too.
        wrong, british, color = (word[::-1] for word in ("etarepes", "desitnauq", "ruoloc"))
        found = {wrong: 1, british: 1, color: 1, f'"\\n{wrong}"': 1, r"""a warp's lanes, "\\to", 4Nd + Nd""": 0}
        for text, count in found.items():
            with self.subTest(text):
                outcome = self.text("--only", "spelling", page=f"It is {text}.\n")
                self.assertEqual((outcome.status, outcome.err.count("\n")), (count, count), outcome.out)
                self.assertRegex(outcome.out, r"page.md:1: \w+ ==> \w+\n" if count else r"\Acheck-text: [^\n]*\n\Z")
        self.assertEqual(self.text("--only", "spelling", "--fix", page=f"{color}, and text\n").status, 0)
        self.assertEqual((self.scratch / "page.md").read_text(), "color, and text\n")

    def test_where_it_cannot_work(self) -> None:
        shutil.rmtree(self.scratch / ".git")
        for arguments, status, says in (
            (["--only", "links"], 3, "expected a git checkout"),
            (["x"], 2, "unrecognized"),
        ):
            outcome = self.text(*arguments)
            self.assertEqual((outcome.status, outcome.err.count("\n")), (status, 1), outcome.err)
            self.assertIn(says, outcome.err)
