"""tools/answer: every exercise has an answer and every answer an exercise, in the form of tools/lib/answers.py; what is
shown of them, and what is said of a mistake. Their commands are tried by tests/answers, in the long tests."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from case import ROOT, Case, run
from lib import answers
from lib.answers import AnswerError
from lib.chapters import PROGRAMS
from lib.trial import Trial

README = """# 00 · A chapter

1. no exercise

## Exercises

Words.

1. How many? Predict 4096
   of them.
2. Why?

## Further reading

1. no exercise
"""


def blocks(*kinds_and_texts: tuple[str, str]) -> str:
    return "".join(f"```{kind}\n{text}\n```\n" for kind, text in kinds_and_texts)


def edit(old: int, new: int, header: str = "") -> tuple[str, str]:
    return "edits", f"@ a.cu {new}\n{header}--- in a.cu\nint a = {old};\n+++\nint a = {new};"


SHOW = (("sh", "cat a.cu"), ("text", ""))
ONE = blocks(("sh", "echo 17"), ("text", "17"))
TWO = blocks(edit(1, 2), ("sh nvcc", "cat a.cu"), ("text", "int a = 2;"))
ANSWERS = f"""# Answers

## 1

As many as 4,096, and 17 more with 128 threads.

{ONE}
## 2

Because of `4711` and chapter 03.

{TWO}"""


class Course(unittest.TestCase):
    def test_every_exercise_has_one_answer_in_the_form_which_is_tried(self) -> None:
        for chapter in PROGRAMS:
            with self.subTest(chapter):
                self.assertEqual(answers.mistakes_in(chapter), [])

    def test_each_chapter_says_what_it_asks_for(self) -> None:
        """In three lines under its title, before the first heading."""
        for chapter in PROGRAMS:
            head = (ROOT / chapter / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
            said = re.findall(r"^\* \*\*(.+?)\*\*: \S", head, re.MULTILINE)
            self.assertEqual(said, ["Time", "You should know", "Afterwards you can"], chapter)

    def test_edits_apply(self) -> None:
        """Kills, in a second, a chapter that changed under its answers; the long tests take minutes."""
        for chapter in PROGRAMS:
            for answer in answers.read_answers(chapter):
                with self.subTest(chapter, answer=answer.number), tempfile.TemporaryDirectory() as scratch:
                    trial = Trial(chapter, Path(scratch))
                    for block in answer.of_kind("edits"):
                        for name in {replacement.file for replacement in block.edit.replacements}:
                            copy = trial.directory / name
                            if not copy.exists():
                                copy.parent.mkdir(parents=True, exist_ok=True)
                                copy.write_text((ROOT / chapter / name).read_text())
                        trial.apply(block.edit)


class Form(Case):
    """On a course of one chapter."""

    def mistakes(self, old: str = "", new: str = "") -> str:
        """What is said of a course in whose exercises or answers a text is replaced."""
        (self.scratch / "00_a").mkdir(exist_ok=True)
        (self.scratch / "00_a/README.md").write_text(README.replace(old, new, 1), encoding="utf-8")
        (self.scratch / "00_a.md").write_text(ANSWERS.replace(old, new, 1), encoding="utf-8")
        try:
            return "\n".join(answers.mistakes_in("00_a"))
        except AnswerError as error:
            return str(error)

    def setUp(self) -> None:
        super().setUp()
        for name in ("ROOT", "ANSWERS"):
            patch = mock.patch.object(answers, name, self.scratch)
            patch.start()
            self.addCleanup(patch.stop)

    def test_exercises_and_answers(self) -> None:
        self.assertEqual(self.mistakes(), "")
        self.assertEqual(answers.exercises_of("00_a"), {1: "How many? Predict 4096\nof them.", 2: "Why?"})
        one, two = answers.read_answers("00_a")
        self.assertEqual([block.kind for block in one.blocks], ["prose", "sh", "text"])
        self.assertEqual([block.kind for block in two.blocks], ["prose", "edits", "sh", "text"])
        self.assertEqual(two.blocks[2].needs, "nvcc")
        self.assertEqual(two.blocks[1].edit.replacements[0].new, "int a = 2;")

    def test_mistakes_are_told(self) -> None:
        for old, new, says in (
            ("## 2", "## 3", "00_a.md: has answers [1, 3], the exercises are [1, 2]"),
            ("and 17", "and 18", "answer 1: 18 is in nothing that it runs"),
            ("4,096", "4,095", "answer 1: 4,095 is in nothing"),
            ("128 threads", "129 threads", "answer 1: 129 is in nothing"),
            ("```text\n17\n```\n", "", "answer 1: no command with what it prints"),
            ("Because of `4711` and chapter 03.", "", "answer 2: no text"),
            ("threads.", "threads " + "x" * 80, "columns, expected 80 at most"),
            ("```sh\n", "```bash\n", ":7: expected ```sh"),
            ("```text\nint a = 2;\n```", "```text\nint a = 2;", ": a block without its end"),
            ("```edits", "```text", ": a block of text without commands before it"),
            ("--- in a.cu", "---", ": expected --- in FILE"),
            ("@ a.cu 2\n", "@ a.cu 2\n@ b.cu 2\n", "nothing is replaced"),
            ("2. Why", "3. Why", "exercise 3, expected 2"),
            ("## Exercises", "## Questions", "no exercises under"),
        ):
            with self.subTest(new):
                self.assertIn(says, self.mistakes(old, new))


class Edited(Case):
    """Of a chapter that is one file, without a compiler."""

    def setUp(self) -> None:
        super().setUp()
        self.trial = Trial("00_a", self.scratch)
        self.trial.directory.mkdir()
        self.source = self.trial.directory / "a.cu"
        self.source.write_text("int a = 1;\n")
        (self.trial.directory / "Makefile").write_text("build:\n\t@! grep -q 9 a.cu\n")
        patch = mock.patch.object(answers, "ANSWERS", self.scratch)
        patch.start()
        self.addCleanup(patch.stop)

    def tried(self, *kinds_and_texts: tuple[str, str]) -> list[str]:
        answers.answers_file("00_a").write_text(f"## 1\n\n{blocks(*kinds_and_texts)}")
        said = [said for _, said in self.trial.try_answer(answers.read_answers("00_a")[0])]
        self.assertEqual(self.source.read_text(), "int a = 1;\n")
        return said

    def test_edits_add_up_and_are_put_back(self) -> None:
        more = (*SHOW, edit(1, 2), *SHOW, edit(2, 3), *SHOW, edit(1, 4, "from the start\n"), *SHOW)
        self.assertEqual(self.tried(*more), [f"int a = {value};\n" for value in (1, 2, 3, 4)])

    def test_what_fails_is_told(self) -> None:
        for says, *parts in (
            ("text found 0 times", edit(1, 2), edit(1, 3), *SHOW),
            ("end with status 3", ("sh", "exit 3")),
            ("does not compile", edit(1, 9), ("sh", "true")),
        ):
            with self.assertRaisesRegex(AnswerError, says):
                self.tried(*parts)
            self.assertEqual(self.source.read_text(), "int a = 1;\n")

    def test_commands_that_cannot_run_are_left_out(self) -> None:
        with mock.patch("lib.trial.missing", lambda needs, _: "it is away" if needs else ""):
            said = self.tried(("sh nvcc", "exit 1"), ("text", "x"), ("sh", "echo y"), ("text", ""))
        self.assertEqual(said, ["y\n"])
        (left_out,) = self.trial.left_out
        self.assertIn("it is away", left_out)


class Program(unittest.TestCase):
    def test_what_is_printed(self) -> None:
        """Without a number the exercises. Only the first line of a command has a prompt: a reader copies the text in
        quotes below it. Kills, too: a pattern that knows chapters 00 to 09 only."""
        for chapter in PROGRAMS:
            lines = run([ROOT / "tools/answer", chapter]).out.splitlines()
            self.assertEqual(len(lines), 2 + len(answers.exercises_of(chapter)))
            self.assertRegex(lines[2], r"^ 1  \w")
            self.assertLessEqual(max(map(len, lines[2:])), 80)
        for chapter, number, shown in (
            ("01_naive", "3", r"    \$ \./naive[\s\S]*\nIn naive\.cu:\n[\s\S]*\n    - [\s\S]*\n    \+ "),
            ("00_gpu", "4", "python3 -c 'import json, sys\nlaunch = "),
            ("00_gpu", "4", r"    \$ ./gpu --kernel transpose \| grep '\^  transpose '\n    \$ ./gpu"),
            ("10_pipeline", "4", r"    \$ for order in reverse forward; do\n    SIM_ORDER"),
        ):
            done = run([ROOT / "tools/answer", chapter, number])
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertRegex(done.out, rf"\A{chapter}, exercise {number}\n\n> [\s\S]*{shown}")


class Live(Case):
    """On a terminal: in a course of one chapter that a shell builds, with the real tools."""

    ASKS = "Your prediction (Enter: none): "
    README = "## Exercises\n\n1. What is a? Predict.\n2. Long?\n3. Away?\n4. Wrong?\n5. Changed?\n"
    OF = {
        1: (edit(1, 2), ("sh", "cat a; pwd"), ("text", "int a = 2;\nelsewhere")),
        2: (("sh", "sleep 60"), ("text", "ended")),
        3: (("sh model", "exit 1"), ("text", "a model says this")),
        4: (("sh", "exit 7"), ("text", "no seven"), ("sh", "touch ran"), ("text", "nothing")),
        5: (("sh", "cat a"), ("text", "int a = 1;")),
    }

    def setUp(self) -> None:
        super().setUp()
        self.root, self.copies = self.scratch / "course", self.scratch / "copies"
        for name in ("01_naive", "common", "simcc", "plots", "tests/data", "classroom/answers", "build", "../copies"):
            (self.root / name).mkdir(parents=True)
        shutil.copytree(ROOT / "tools", self.root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "Makefile").touch()
        (self.root / "01_naive/README.md").write_text(self.README)
        (self.root / "01_naive/Makefile").write_text("NAME := a\nbuild:\n\t@! grep -q 9 a.cu && cp a.cu a\n")
        text = "".join(f"\n## {number}\n\nTwo.\n\n{blocks(*parts)}" for number, parts in self.OF.items())
        (self.root / "classroom/answers/01_naive.md").write_text(text)
        self.source = self.root / "01_naive/a.cu"
        self.source.write_text("int a = 1;\n")
        self.command = [self.root / "tools/answer", "01_naive"]
        self.environment = {**os.environ, "TMPDIR": str(self.copies)}

    def terminal(self, command: list[str | Path], typed: dict[str, str]) -> tuple[int, str]:
        """(exit status, what stood in the terminal); each text is typed when what stands before it is there."""
        process, screen = pty.fork()
        if not process:
            os.execve(command[0], list(map(str, command)), self.environment)
        shown, waits = b"", list(typed.items())
        try:
            with contextlib.suppress(OSError):  # the program has ended
                while select.select([screen], [], [], 30)[0] and (chunk := os.read(screen, 4096)):
                    shown += chunk
                    if waits and waits[0][0].encode() in shown:
                        os.write(screen, waits.pop(0)[1].encode())
        finally:
            os.close(screen)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGHUP)
            status = os.WEXITSTATUS(os.waitpid(process, 0)[1])
        said = shown.decode().replace("\r", "")
        self.assertEqual(waits, [], said)
        return status, said

    def test_what_a_reader_sees(self) -> None:
        """Asked for a prediction, the answer as it is now; what is not as it was stored is told; no copy is left."""
        now = r"(?s)\A(?:(?!Two\.).)*" + re.escape(self.ASKS)
        unlike = r"\n\nThis is not what was stored \(tools/answer 01_naive {} --stored\)\.\n"
        both = r"Your prediction:\n\n    three \\x1b\[31mä\n\nWhat it is:\n\n    int a = 2;\n    /.*/01_naive\n\Z"
        for number, value, typed, status, says in (
            (1, 1, "three \x1b[31mä\n", 0, f"{now}.*in a copy ...\n    int a = 2;\n.*{unlike.format(1)}\n{both}"),
            (5, 1, "\n", 0, r"\n    int a = 1;\n\Z"),  # nobody must predict
            (1, 3, "\n", 1, r"text found 0 times.*\n.*did you change 01_naive\? [\s\S]*    elsewhere\n\Z"),
            (5, 9, "\n", 1, "answer 5: the chapter does not compile"),
            (3, 1, "\n", 0, r"not run here: no model: .*\n    a model says this\n\Z"),
            (4, 1, "\n", 1, r"end with status 7[\s\S]*    no seven\n\n    \$ touch ran\n    nothing\n\Z"),
            (1, 1, "\3", 130, r"\(Enter: none\): (\^C)?\n\Z"),
            (2, 1, "x\n", 130, r"\^C\n\Z"),
        ):
            with self.subTest(number=number, value=value, typed=typed):
                self.source.write_text(f"int a = {value};\n")
                waits = {self.ASKS: typed, **({"sleep 60": "\3"} if number == 2 else {})}
                done, said = self.terminal([*self.command, str(number)], waits)
                self.assertEqual(done, status, said)
                self.assertRegex(said, says)
                self.assertEqual(list(self.copies.iterdir()), [], "a copy was left behind")
                self.assertFalse(self.source.with_name("a").exists(), "built in the course")

    def test_elsewhere_and_with_an_option_nothing_is_asked_or_run(self) -> None:
        done = run([*self.command, "1"])
        self.assertIn("elsewhere", done.out)
        self.assertNotIn("rediction", done.out)
        self.assertEqual(self.terminal([*self.command, "1", "--stored"], {}), (0, done.out))

    def test_make_passes_the_terminal_on(self) -> None:
        command = [shutil.which("make"), "-s", "-C", ROOT / "01_naive", "DEVICE=sim", "answer", "N=1"]
        status, said = self.terminal(command, {self.ASKS: "\4"})
        self.assertEqual(status, 2, said)
        self.assertIn("Error 130", said)
