"""The judge's mutation score: submissions/wrong_*.edits and cheats.edits must each lose exactly what they name,
right.edits must keep everything."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutants
from grading import only_when_thorough

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = ROOT / "tests/classroom/submissions"
# Wrong ones of three chapters, a right one and a cheat: what make test has time for. Those without a maximum or a tile
# once kept 65 and 85 %.
FEW = (
    r"^(?:01_naive (?:a mask of -1e4|a one-element array .*|no maximum is subtracted)"
    r"|03_tiled_matmul (?:no barrier before fetching|guards as ifs|no tile: .*)"
    r"|05_fa2 (?:nothing is skipped|no maximum is subtracted)|08_decode every split has all.*)$"
)


TOLD = Path(__file__).with_name("told.txt")


def masked(text: str) -> str:
    """Without what another seed, sandbox or compiler changes, and so without the ends of wrapped lines."""
    text = re.sub(r"\n {6,}", " ", text)
    text = re.sub(r"--seed \d+", "--seed #", text)
    text = re.sub(r"\w+\[[\d,]+\] is \S+, expected \S+ \(error \S+ tolerance \S+\)", "X is #", text)
    text = re.sub(r"(local_overrun at \w+\.cu):\d+", r"\1:#", text)
    return re.sub(r"note: submissions run .*\n", "", text)


class Mutants(unittest.TestCase):
    def test_the_pages_say_how_many_there_are(self) -> None:
        """They said 327, 339 and 350 wrong ones at the same time."""
        counts = (
            len(mutants.read(sorted(SUBMISSIONS.glob(f"{kind}*.edits")))) for kind in ("wrong_", "right", "cheats")
        )
        wrong, right, cheats = (f"{count} {what}" for count, what in zip(counts, ("wrong", "right", "cheats")))
        for page in ("README.md", "classroom/README.md"):
            text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
            self.assertTrue(all(each in text for each in (wrong, right, cheats)), f"{page}: {wrong}, {right}, {cheats}")

    def expect_full_score(self, pattern: str, least: int) -> None:
        chosen = mutants.read(sorted(SUBMISSIONS.glob(pattern)))
        self.assertGreaterEqual(len(chosen), least)
        with tempfile.TemporaryDirectory() as scratch:
            lines, total = mutants.score(chosen, Path(scratch))
        self.assertEqual(lines, [], "\n".join(lines))
        print(f"    table: {pattern}: {total}")

    def test_a_few_of_all_to_the_word(self) -> None:
        """Kills: another point, reason, hint or case in what a student reads. REMAKE=1 writes told.txt anew: read its
        difference."""
        chosen = [
            mutant
            for mutant in mutants.read(sorted(SUBMISSIONS.glob("*.edits")))
            if re.search(FEW, f"{mutant.edit.name} {mutant.edit.words}")
        ]
        self.assertEqual(len(chosen), 9)
        with tempfile.TemporaryDirectory() as scratch:
            bench = mutants.Bench(Path(scratch))
            self.assertEqual("".join(bench.judge_all(chosen)), "")
        text = "".join(f"@ {name}\n{masked(said)}\n" for name, said in sorted(bench.told.items()))
        if os.environ.get("REMAKE"):
            TOLD.write_text(text, encoding="utf-8")
        kept = TOLD.read_text(encoding="utf-8").splitlines()
        changes = [line for line in difflib.unified_diff(kept, text.splitlines(), lineterm="", n=0) if line[0] in "+-"]
        self.assertEqual(changes, [], "\n".join(changes[2:12]))

    @only_when_thorough
    def test_wrong_ones(self) -> None:
        self.expect_full_score("wrong_*.edits", 357)

    @only_when_thorough
    def test_cheats(self) -> None:
        self.expect_full_score("cheats.edits", 170)

    @only_when_thorough
    def test_right_ones_keep_all_points(self) -> None:
        self.expect_full_score("right.edits", 68)

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
