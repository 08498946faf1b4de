"""The judge's mutation score: submissions/wrong_*.edits and cheats.edits must each lose exactly what they name,
right.edits must keep everything."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutants
from grading import only_when_thorough

SUBMISSIONS = Path(__file__).resolve().parent / "submissions"
# Wrong ones of three chapters, a right one and a cheat: what make test has time for.
FEW = (
    r"^(?:01_naive (?:a mask of -1e4|a one-element array .*)"
    r"|03_tiled_matmul (?:no barrier before fetching|guards as ifs)|05_fa2 nothing is skipped)$"
)


class Mutants(unittest.TestCase):
    def expect_full_score(self, pattern: str, least: int, only: str = "") -> None:
        chosen = [
            mutant
            for mutant in mutants.read(sorted(SUBMISSIONS.glob(pattern)))
            if re.search(only, f"{mutant.edit.name} {mutant.edit.words}")
        ]
        self.assertGreaterEqual(len(chosen), least)
        with tempfile.TemporaryDirectory() as scratch:
            lines, total = mutants.score(chosen, Path(scratch))
        self.assertEqual(lines, [], "\n".join(lines))
        print(f"    table: {pattern}: {total}")

    def test_a_few_of_all(self) -> None:
        self.expect_full_score("*.edits", 5, FEW)

    @only_when_thorough
    def test_wrong_ones(self) -> None:
        self.expect_full_score("wrong_*.edits", 339)

    @only_when_thorough
    def test_cheats(self) -> None:
        self.expect_full_score("cheats.edits", 152)

    @only_when_thorough
    def test_right_ones_keep_all_points(self) -> None:
        self.expect_full_score("right.edits", 59)

    def test_an_edit_that_does_not_apply_fails(self) -> None:
        """Or changes nothing, or whose grades are others than it says: none must pass for a mutant that was caught."""
        store = "O[row * d + c] = sum;"
        entries = (
            ("01.score: all", "no such text", "other"),
            ("01.score: all", "scale * dot", "scale * dot"),
            ("01.score: all", '#include "naive.h"', "#error"),
            ("01.weighted-sum: fresh", store, "O[row * d + c] = sum"),
            ("01.weighted-sum: refused", store, "O[row * d + c] = sum + sum;"),
        )
        text = "".join(f"@ 01_naive an entry\nloses {loses}\n---\n{old}\n+++\n{new}\n\n" for loses, old, new in entries)
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "bad.edits")
            path.write_text(text)
            lines, total = mutants.score(mutants.read([path]), Path(scratch))
        self.assertEqual((len(lines), total), (5, "mutation score 0 of 5"), lines)
        for line, words in zip(
            lines, ("found 0 times", "changes nothing", "keeps plain", "loses plain", "expected 'refused'")
        ):
            self.assertIn(words, line)


if __name__ == "__main__":
    unittest.main()
