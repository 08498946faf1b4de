"""tools/glossary and GLOSSARY.md: every word is linked where a page uses it first. Where links lead: test_text.py."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from case import ROOT, Case, Outcome, run
from lib.chapters import PROGRAMS

PAGES = [*(ROOT / chapter / "README.md" for chapter in PROGRAMS), ROOT / "00_gpu/attention.md"]
# What a beginner has to be able to look up.
NEEDED = (
    """wavefront sector request footprint hazard occupancy spill floor warp lane block bank coalesced tile LSE barrier
    shuffle""".split()
    + ["plain build", "register tile", "bank conflict", "shared memory"]
)


def words() -> list[str]:
    return re.findall(r"^### (.+)$", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)


def running_text(page: Path) -> str:
    """Line by line, without code, headings, comments and what tools write; another way than the tool's own."""
    kept, fence, made, before, code = [], False, False, "", False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fence = not fence
            line = ""
        elif line.startswith("<!-- "):
            made = line.startswith(("<!-- markdown:", "<!-- output:")) or (made and line != "<!-- end -->")
            line = ""
        elif re.match(r" {4}\S| {5}", line) and (code or not before.strip()):
            code = True
            continue
        elif line.strip():
            code = False
        skip = fence or made or line.startswith("#") or re.match(r"\[[^]]+\]: ", line)
        kept.append("" if skip else line)
        before = line
    text = re.sub(r"`[^`]*`", "``", "\n".join(kept))
    return re.sub(r"\[[^\]]*\]\([^)]*\)", "", text)


class Pages(Case):
    def glossary(self, *arguments: object) -> Outcome:
        return run([ROOT / "tools/glossary", *arguments], cwd=ROOT)

    def linked(self, text: str) -> str:
        """The page with links, without the lines that say where they lead."""
        (self.scratch / "page.md").write_text(text)
        self.assertEqual(self.glossary(self.scratch / "page.md").status, 0)
        return re.sub(r"\n(\[.*?\]: .*\n)+\Z", "", (self.scratch / "page.md").read_text())


class Course(Pages):
    def test_has_the_words_that_a_beginner_meets(self) -> None:
        self.assertEqual([word for word in NEEDED if word not in words()], [])
        self.assertEqual(len(words()), len(set(words())))

    def test_an_entry_has_two_or_three_lines(self) -> None:
        entries = re.split(r"^### .+\n", (ROOT / "GLOSSARY.md").read_text(), flags=re.MULTILINE)[1:]
        lengths = [len(re.split(r"\n\n?#", entry)[0].strip().splitlines()) for entry in entries]
        self.assertEqual([word for word, lines in zip(words(), lengths) if not 1 <= lines <= 4], [])

    def test_every_page_is_linked(self) -> None:
        outcome = self.glossary("--check", *PAGES)
        self.assertEqual((outcome.status, outcome.err), (0, ""))

    def test_every_word_is_linked_at_its_first_use(self) -> None:
        for page in PAGES:
            text, found = running_text(page), 0
            for word in words():
                longer = [other for other in words() if word in other and other != word]
                hidden = text
                for other in longer:
                    spaced = other.replace(" ", r"\s+")
                    hidden = re.sub(rf"\[?{spaced}s?\]?(\[{other}\])?", lambda use: "." * len(use[0]), hidden)
                pattern = r"\s+".join(map(re.escape, word.split()))
                use = re.search(rf"(?<![\w`/.-])({pattern}s?)(?![\w`-])", hidden, re.IGNORECASE)
                if use:
                    found += 1
                    before, after = hidden[use.start() - 1], hidden[use.end()]
                    self.assertEqual(
                        (before, after), ("[", "]"), f"{page}: '{use[0]}' at {text[use.start() - 40 : use.end()]!r}"
                    )
            self.assertGreater(found, 3, page)


class Tool(Pages):
    def test_the_first_use_and_no_other(self) -> None:
        self.assertEqual(self.linked("# A warp\n\nTwo warps. A warp.\n"), "# A warp\n\nTwo [warps][warp]. A warp.\n")
        self.assertEqual(self.linked("A Warp, a warp.\n"), "A [Warp], a warp.\n")
        self.assertEqual(self.linked("A warp: it.\n"), "A [warp][warp]: it.\n")
        self.assertEqual(self.linked("softmax(S)\n"), "[softmax][softmax](S)\n")
        self.assertEqual(self.linked("In shared\nmemory.\n"), "In [shared\nmemory].\n")

    def test_code_links_and_blocks_of_tools_are_no_use(self) -> None:
        for skipped in (
            "```text\nwarp\n```\n",
            "<!-- markdown: x -->\nwarp\n<!-- end -->\n",
            "<!-- a warp -->\n",
            "## The warp\n",
            "`warp` and `a\nwarp`\n",
            "[a warp](x.md)\n",
            "Code:\n\n    a warp\n\n    another warp\n",
            "warp_of_the_grid, tests/warp, warp-level\n",
        ):
            with self.subTest(skipped):
                self.assertEqual(self.linked(f"{skipped}\nA warp.\n"), f"{skipped}\nA [warp].\n")

    def test_a_longer_word_is_no_use_of_a_shorter_one(self) -> None:
        self.assertEqual(self.linked("A register tile, a tile, a register.\n"),
                         "A [register tile], a [tile], a [register].\n")  # fmt: skip

    def test_run_again_after_an_edit(self) -> None:
        page = self.scratch / "page.md"
        page.write_text("A warp.\n\nMore warps, a lane.\n")
        self.glossary(page)
        once = page.read_text()
        self.glossary(page)
        self.assertEqual(page.read_text(), once)
        page.write_text("Before it a warp and lanes. " + once)
        self.assertEqual(self.glossary("--check", page).status, 1)
        self.glossary(page)
        expected = "Before it a [warp] and [lanes][lane]. A warp.\n\nMore warps, a lane.\n\n"
        self.assertEqual(page.read_text(), expected + once[once.index("[lane]: ") :])
        self.assertEqual(self.glossary("--check", page).status, 0)

    def test_a_link_that_is_missing_is_found(self) -> None:
        page = self.scratch / "page.md"
        page.write_text((ROOT / "03_tiled_matmul/README.md").read_text())
        self.glossary(page)
        linked = page.read_text()
        for old, new in (("[sectors][sector]", "sectors"), ("[HBM]", "HBM"), ("#warp\n", "#wrap\n")):
            self.assertEqual(linked.count(old) > 0, True, old)
            page.write_text(linked.replace(old, new, 1))
            outcome = self.glossary("--check", page)
            self.assertEqual(outcome.status, 1, old)
            self.assertRegex(outcome.err, r"\A[^\n]*a word of the glossary is not linked at its first use[^\n]*\n\Z")

    def test_what_cannot_be_read(self) -> None:
        for name, says in (("none.md", "No such file"), ("", "Is a directory")):
            outcome = self.glossary(self.scratch / name)
            self.assertEqual(outcome.status, 2)
            self.assertIn(says, outcome.err)


if __name__ == "__main__":
    unittest.main()
