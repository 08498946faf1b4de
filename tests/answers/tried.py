"""The answers to a chapter's exercises, tried: their commands run in a copy of the course, with their edits, and print
what the answers say. A chapter is the suite answers_CHAPTER, an answer a test."""

from __future__ import annotations

import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from lib import printed
from lib.answers import Answer, answers_file, read_answers
from lib.trial import Trial


class Tried(unittest.TestCase):
    chapter = ""
    trial: Trial
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="answers-")
        cls.addClassCleanup(scratch.cleanup)
        cls.trial = Trial(cls.chapter, Path(scratch.name) / "course")
        cls.trial.copy()

    def try_answer(self, answer: Answer) -> None:
        self.trial.left_out.clear()
        for block, said in self.trial.try_answer(answer):
            where = f"{answers_file(self.chapter)}:{block.line}"
            self.assertEqual(printed.comparable(said), printed.comparable(block.text), where)
        if self.trial.left_out:
            self.skipTest("; ".join(self.trial.left_out))


def answers_of(chapter: str) -> type[Tried]:
    def trying(answer: Answer) -> Callable[[Tried], None]:
        return lambda self: self.try_answer(answer)

    methods = {f"test_{answer.number:02}": trying(answer) for answer in read_answers(chapter)}
    return type("Answers", (Tried,), {"chapter": chapter, **methods})


if Path(sys.argv[1]).stem == "tried":  # suite.py's words: this file, then the results, answers_CHAPTER.xml
    Answers = answers_of(Path(sys.argv[2]).stem.partition(":")[0].removeprefix("answers_"))
