"""What a chapter's program says to people and to programs, to the letter: screens.txt, results.jsonl and
details.jsonl."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

import golden
from test_screens import CHAPTERS, LINES, SCREENS, ScreenCase


def masked(text: str) -> str:
    """Without the digits, widths, places and tensors of errors, power, and lines of sources."""
    text = re.sub(r"(\.cuh?):\d+ *", r"\1:# ", text)
    text = re.sub(r"(?m)^# (\S+ on|machine:|compiler:|date:).*", r"# \1 #", text)  # of a table
    text = re.sub(r"( ?) *\d+(\.\d+)?e[+-]\d+", r"\1#", text)  # right-aligned, and 2.0e-07 is 2e-07
    text = re.sub(r"(?<=\d\t)[A-Za-z]+(?=\t#\t#)", "#", text)  # of a table: the tensor of the largest error
    return re.sub(r"(error # at )\w+\[[\d,]+\]", r"\1#", text)


# And what some of them say to programs (--json), a line each, without zeros: kills every number there.
RESULTS = Path(__file__).with_name("results.jsonl")
DETAILS = Path(__file__).with_name("details.jsonl")
ROUNDED = re.compile(
    "tensor|max_abs|tolerance|row_ratio|.*power|worst.*|line|.*_error|tokens_per_s"
)  # what rounding, or a comment, changes


def pruned(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: "#" if ROUNDED.fullmatch(key) else pruned(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in (0, {}, [])}
    if isinstance(value, list):
        return [pruned(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def differences(kept: Any, found: Any, place: str = "") -> list[str]:
    if isinstance(kept, dict) and isinstance(found, dict):
        keys = sorted({*kept, *found})
        return [line for key in keys for line in differences(kept.get(key), found.get(key), f"{place}.{key}")]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        pairs = enumerate(zip(kept, found))
        return [line for at, pair in pairs for line in differences(*pair, f"{place}[{at}]")]
    return [] if kept == found else [f"{place[1:]}: {kept} was {found}"]


class Letters(ScreenCase):
    def test_every_other_run_to_the_letter(self) -> None:
        """Kills: another number, unit, formula or word on a screen; a line that is lost."""
        made = ""
        for chapter, lines in LINES.items():
            for line, kept in lines.items():
                with contextlib.nullcontext() if golden.REMAKE else self.subTest(f"{chapter} {line}"):
                    out = self.program(chapter, line)
                    shown = masked(out[out.index(f"\n{kept.begins}") + 1 if kept.begins else 0 :])
                    made += f"$ {chapter} {line}{kept.begins and ' ... '}{kept.begins}\n{shown}"
                    if not re.search("--verbose|--tsv|--sweep|--color", line):
                        self.assert_screen(out, 40, f"{chapter} {line}")
                    self.assertNotRegex(out, r"\b-?nan\b|\binf-", "a number that is none")
                    if not golden.REMAKE:
                        self.assertEqual(shown, kept.text)
        self.assertEqual(({*LINES}, sum(map(len, LINES.values()))), ({*CHAPTERS}, 21), "screens were lost")
        if golden.REMAKE:
            golden.write(SCREENS, made)

    def compare(self, path: Path, number: int, said: Callable[[str, str], Any]) -> set[str]:
        """What a chapter says with some options, with each line that is kept of it, so many; the chapters."""
        kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        made = ""
        for name, expected in kept:
            chapter, _, options = name.partition(" ")
            found = pruned(said(chapter, options))
            made += json.dumps([name, found], separators=(",", ":"), ensure_ascii=False) + "\n"
            if not golden.REMAKE:
                with self.subTest(name):
                    self.assertEqual(differences(expected, found)[:10], [])
        if golden.REMAKE:
            golden.write(path, made)
        self.assertEqual(len(kept), number, "runs were lost")
        return {name.partition(" ")[0] for name, _ in kept}

    def test_every_number_of_json(self) -> None:
        """Kills: a count, floor or closed form of JSON that is another one, a key that is lost."""
        chapters = self.compare(
            RESULTS, 14, lambda chapter, options: json.loads(self.program(chapter, f"{options} --json -"))
        )
        self.assertEqual(chapters, {*CHAPTERS})

    def test_every_number_of_details(self) -> None:
        """Kills: what the page of --explain is made of that is another, but for what --json says, too."""

        def details(chapter: str, options: str) -> dict[str, Any]:
            self.program(chapter, f"{options} --quiet --details", self.scratch)
            found = json.loads((self.scratch / "run.json").read_text())
            return {**found, "result": sorted(found["result"])}

        self.compare(DETAILS, 5, details)
