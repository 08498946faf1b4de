"""tools/wrong_runs: the site's pages of three wrong runs say what is wrong, each in its own way."""

from __future__ import annotations

from browser import Page
from case import ROOT, Case, run


class WrongRuns(Case):
    def test_each_page_names_its_mistake(self) -> None:
        """Kills: a mistake that no longer applies or shows, a page that blames something else; right numbers that pass
        for a wrong kernel's."""
        done = run([ROOT / "tools/wrong_runs", self.scratch / "pages"], seconds=300)
        self.assertEqual((done.status, done.err), (0, ""))
        told = (self.scratch / "pages/index.tsv").read_text().splitlines()
        self.assertEqual([line.split("\t")[0] for line in told], ["barrier", "correction", "key"])
        for name, replay, words in (
            ("barrier", "-", ["a __syncthreads() is missing behind line"]),
            ("correction", "8,9", ["as if O were not multiplied by the correction", "while l was."]),
            ("key", "0,1", ["Wrong already with a single key", "is the mask a key too strict?"]),
        ):
            with self.subTest(name), Page(self.scratch / f"pages/{name}.html") as page:
                told = page.eval("document.body.innerText").lower()
                for sentence in words:
                    self.assertIn(sentence.lower(), told)
                found = page.eval("$('[data-replay]')?.dataset.replay ?? '-'")
                self.assertEqual(found, replay, "the key from which on it is wrong")
                self.assertRegex(page.eval("document.title"), r"^FlashAttention-2: (a barrier is|the correction|a key)")
                self.assertRegex(page.text("#subtitle"), r"In row\.cuh?, .+ became .+")
                if name == "barrier":
                    continue
                page.hash("view=tile&s=99")
                text = page.eval("$('#tile').innerText")
                self.assertIn("This is what a right kernel computes, not what this one wrote.", text)
                self.assertIn("The kernel of this run failed.", text)
