"""tools/wrong_runs: the site's pages of three wrong runs say what is wrong, each in its own way."""

from __future__ import annotations

from browser import Page
from case import ROOT, Case, run


class WrongRuns(Case):
    def test_each_page_names_its_mistake(self) -> None:
        """Kills: a mistake that no longer applies or shows, a page that blames something else; right numbers that pass
        for a wrong kernel's; a key's number over another key."""
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
                found = page.eval("document.querySelector('[data-replay]')?.dataset.replay ?? '-'")
                self.assertEqual(found, replay, "the key from which on it is wrong")
                self.assertRegex(page.eval("document.title"), r"^FlashAttention-2: (a barrier is|the correction|a key)")
                subtitle = page.eval("document.getElementById('subtitle').textContent")
                self.assertRegex(subtitle, r"In row\.cuh?, .+ became .+")
                if name == "barrier":
                    continue
                page.hash("view=tile&s=99")
                text = page.eval("document.getElementById('tile').innerText")
                self.assertIn("This is what a right kernel computes, not what this one wrote.", text)
                self.assertIn("The kernel of this run failed.", text)
                apart = page.eval(
                    "(({left}, range) => { range.selectNode([...document.querySelectorAll('.scores thead th')]"
                    ".find((th) => th.textContent === '8').firstChild); "
                    "return range.getBoundingClientRect().left - left; })(document.querySelector("
                    "'.scores td[data-at=\"0,8\"]').getBoundingClientRect(), document.createRange())"
                )
                self.assertTrue(0 <= apart < 8, apart)
