"""tools/answer: every exercise has an answer and every answer an exercise, in the form of tools/lib/answers.py; what is
printed for them; and what is said of a mistake. Their commands are tried by tests/answers, in the long tests."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
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
ANSWERS = """# Answers

## 1

As many as 4,096, and 17 more with 128 threads.

```sh
echo 17
```

```text
17
```

## 2

Because of `4711` and chapter 03.

```edits
@ a.cu more
--- in a.cu
int a = 1;
+++
int a = 2;
```

```sh nvcc
cat a.cu
```

```text
int a = 2;
```
"""


class Course(unittest.TestCase):
    def test_every_exercise_has_one_answer_in_the_form_which_is_tried(self) -> None:
        self.assertGreaterEqual(len(PROGRAMS), 7)
        for chapter in PROGRAMS:
            with self.subTest(chapter):
                self.assertEqual(answers.mistakes_in(chapter), [])
                suite = ROOT / f"tests/answers/test_{chapter[3:]}.py"
                self.assertIn(f'answers_of("{chapter}")', suite.read_text())

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
                        for replacement in block.edit.replacements:
                            copy = trial.directory / replacement.file
                            if not copy.exists():
                                copy.parent.mkdir(parents=True, exist_ok=True)
                                copy.write_text((ROOT / chapter / replacement.file).read_text())
                        trial.apply(block.edit)


class Form(Case):
    """On a course of one chapter."""

    def setUp(self) -> None:
        super().setUp()
        self.root = self.scratch
        (self.root / "00_a").mkdir()
        for name in ("ROOT", "ANSWERS"):
            patch = mock.patch.object(answers, name, self.root)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, text: str = ANSWERS, readme: str = README) -> None:
        (self.root / "00_a/README.md").write_text(readme, encoding="utf-8")
        (self.root / "00_a.md").write_text(text, encoding="utf-8")

    def test_exercises_and_answers(self) -> None:
        self.write()
        self.assertEqual(answers.exercises_of("00_a"), {1: "How many? Predict 4096\nof them.", 2: "Why?"})
        one, two = answers.read_answers("00_a")
        self.assertEqual([block.kind for block in one.blocks], ["prose", "sh", "text"])
        self.assertEqual([block.kind for block in two.blocks], ["prose", "edits", "sh", "text"])
        self.assertEqual(two.blocks[2].needs, "nvcc")
        self.assertEqual(two.blocks[1].edit.replacements[0].new, "int a = 2;")
        self.assertEqual(answers.mistakes_in("00_a"), [])

    def test_mistakes_are_told(self) -> None:
        first, second = ANSWERS.index("## 1"), ANSWERS.index("## 2")
        for old, new, expected in (
            ("## 2", "## 3", "exercise 2 has no answer"),
            ("## 2", "## 3", "answer 3: 00_a/README.md has no such exercise"),
            ("## 2", "## 1", "answer 1: a second one"),
            ("and 17", "and 18", "answer 1: 18 is in nothing that it runs"),
            ("and 17", "and 17.0", "answer 1: 17.0 is in nothing"),
            ("4,096", "4,095", "answer 1: 4,095 is in nothing"),
            ("128 threads", "129 threads", "answer 1: 129 is in nothing"),
            ("```text\n17\n```\n", "", "answer 1: no command with what it prints"),
            ("Because of `4711` and chapter 03.", "", "answer 2: no text"),
            ("threads.", "threads " + "x" * 80, "columns, expected 80 at most"),
            (ANSWERS, ANSWERS[second:] + "\n" + ANSWERS[first:second], "not in the order"),
        ):
            self.write(ANSWERS.replace(old, new, 1))
            found = answers.mistakes_in("00_a")
            self.assertTrue(any(expected in line for line in found), f"{new}: {found}")

    def test_a_file_that_is_not_in_the_form_is_refused(self) -> None:
        for old, new, expected in (
            ("```sh\n", "```bash\n", ":7: expected ```sh"),
            ("```sh nvcc", "```sh nvc", ": expected ```sh"),
            ("```text\nint a = 2;\n```", "```text\nint a = 2;", ": a block without its end"),
            ("```edits", "```text", ": a block of text without commands before it"),
            ("--- in a.cu", "---", ": expected --- in FILE"),
            ("+++\n", "", r"a text without a \+\+\+"),
            ("@ a.cu more\n", "@ a.cu more\n@ b.cu more\n", "nothing is replaced"),
        ):
            self.write(ANSWERS.replace(old, new, 1))
            with self.assertRaisesRegex(AnswerError, expected):
                answers.read_answers("00_a")

    def test_exercises_out_of_order_are_refused(self) -> None:
        self.write(readme=README.replace("2. Why", "3. Why"))
        with self.assertRaisesRegex(AnswerError, "exercise 3, expected 2"):
            answers.exercises_of("00_a")
        self.write(readme="# 00\n")
        with self.assertRaisesRegex(AnswerError, "no exercises under"):
            answers.exercises_of("00_a")


class Edited(Case):
    """Of a chapter that is one file, without a compiler."""

    EDIT = "```edits\n@ a.cu {0}\n{1}--- in a.cu\nint a = {2};\n+++\nint a = {0};\n```\n"

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

    def tried(self, text: str) -> list[str]:
        answers.answers_file("00_a").write_text(f"## 1\n\n{text}")
        return [said for _, said in self.trial.try_answer(answers.read_answers("00_a")[0])]

    def test_edits_add_up_and_are_put_back(self) -> None:
        show = "```sh\ncat a.cu\n```\n```text\n```\n"
        values = ((2, "", 1), (3, "", 2), (4, "from the start\n", 1))
        first, second, third = (self.EDIT.format(*each) for each in values)
        said = self.tried(show + first + show + second + show + third + show)
        self.assertEqual(said, [f"int a = {value};\n" for value in (1, 2, 3, 4)])
        self.assertEqual(self.source.read_text(), "int a = 1;\n")
        with self.assertRaisesRegex(AnswerError, "text found 0 times"):
            self.tried(first + self.EDIT.format(3, "", 1) + show)
        self.assertEqual(self.source.read_text(), "int a = 1;\n")

    def test_what_fails_is_told(self) -> None:
        with self.assertRaisesRegex(AnswerError, "end with status 3"):
            self.tried("```sh\nexit 3\n```\n")
        with self.assertRaisesRegex(AnswerError, "does not compile"):
            self.tried(self.EDIT.format(9, "", 1) + "```sh\ntrue\n```\n")

    def test_commands_that_cannot_run_are_left_out(self) -> None:
        with mock.patch("lib.trial.missing", lambda needs, _: "it is away" if needs else ""):
            said = self.tried("```sh nvcc\nexit 1\n```\n```text\nx\n```\n```sh\necho y\n```\n```text\n```\n")
        self.assertEqual(said, ["y\n"])
        self.assertEqual(len(self.trial.left_out), 1)
        self.assertIn("it is away", self.trial.left_out[0])


class Program(unittest.TestCase):
    def answer(self, *arguments: str, status: int = 0) -> str:
        return self.said([ROOT / "tools/answer", *arguments], status)

    def make(self, *arguments: str, status: int = 0) -> str:
        make = ["make", "--no-print-directory", "-s", "-C", ROOT / "01_naive", "DEVICE=sim"]
        return self.said([*make, *arguments], status)

    def said(self, command: list[str | Path], status: int) -> str:
        done = run(command, cwd=ROOT)
        self.assertEqual(done.status, status, done.out + done.err)
        return done.err if status else done.out

    def test_without_a_number_the_exercises_are_listed(self) -> None:
        """Kills, too: a pattern that knows chapters 00 to 09 only."""
        for chapter in PROGRAMS:
            lines = self.answer(chapter).splitlines()
            self.assertEqual(len(lines), 2 + len(answers.exercises_of(chapter)))
            self.assertRegex(lines[2], r"^ 1  \w")
            self.assertLessEqual(max(map(len, lines[2:])), 80)
        self.assertEqual(self.make("answer"), self.answer("01_naive"))
        self.assertIn("make answer", self.make("help"))

    def test_an_answer_is_printed_with_its_commands_and_edits(self) -> None:
        said = self.make("answer", "N=3")
        self.assertTrue(said.startswith("01_naive, exercise 3\n\n> "), said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        for expected in ("    $ ./naive", "    $ make -s build", "In naive.cu:", "    - ", "    + "):
            self.assertIn(expected, said)

    def test_only_the_first_line_of_a_command_has_a_prompt(self) -> None:
        """Kills: a prompt within a text in quotes, which a reader copies."""
        said = self.answer("00_gpu", "4")
        self.assertIn("python3 -c 'import json, sys\nlaunch = ", said)
        self.assertIn("    $ for order in reverse forward; do\n    SIM_ORDER", self.answer("10_pipeline", "4"))
        self.assertIn("    $ ./gpu --kernel transpose | grep '^  transpose '\n    $ ./gpu", said)

    def test_another_number_is_one_line_and_exit_2(self) -> None:
        for wrong in ("0", "99", "-1", "1x", "", "01"):
            said = self.answer("01_naive", "--", wrong, status=2)
            self.assertRegex(said, rf"\Aanswer: N={wrong}: expected an exercise of 01_naive, 1 to \d+\n\Z")
            self.assertIn(said, self.make("answer", f"N={wrong}", status=2))
        self.assertRegex(self.answer("01_nave", status=2), r"\Aanswer: 01_nave: expected a chapter, as 01_naive\n\Z")


class Live(Case):
    """On a terminal: in a course of one chapter that a shell builds, with the real tools."""

    ASKS = "Your prediction (Enter: none): "
    README = "## Exercises\n\n1. What is a? Predict.\n2. Long?\n3. Away?\n4. Wrong?\n5. Changed?\n"
    ANSWERS = """
## 1

Two.

```edits
@ a.cu more
--- in a.cu
int a = 1;
+++
int a = 2;
```
```sh
cat a; pwd
```
```text
int a = 2;
elsewhere
```

## 2

```sh
true
```
```text
```
```sh
sleep 60
```
```text
ended
```

## 3

```sh model
exit 1
```
```text
a model says this
```

## 4

```sh
exit 7
```
```text
no seven
```
```sh
touch ran
```
```text
nothing
```

## 5

```sh
cat a
```
```text
int a = 1;
```
"""

    def setUp(self) -> None:
        super().setUp()
        self.root, self.copies = self.scratch / "course", self.scratch / "copies"
        for name in ("01_naive", "common", "simcc", "plots", "tests/data", "classroom/answers", "build", "../copies"):
            (self.root / name).mkdir(parents=True)
        shutil.copytree(ROOT / "tools", self.root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "Makefile").touch()
        chapter = self.root / "01_naive"
        (chapter / "README.md").write_text(self.README)
        (chapter / "Makefile").write_text("NAME := a\nbuild:\n\t@! grep -q 9 a.cu && cp a.cu a\n")
        self.source = chapter / "a.cu"
        self.source.write_text("int a = 1;\n")
        (self.root / "classroom/answers/01_naive.md").write_text(self.ANSWERS)

    def terminal(self, *command: str | Path, typed: dict[str, bytes]) -> tuple[int, str]:
        """(exit status, what stood in the terminal); each text is typed when what stands before it is there."""
        process, screen = pty.fork()
        if not process:
            os.execve(command[0], list(map(str, command)), {**os.environ, "TMPDIR": str(self.copies)})
        shown, waits = b"", list(typed.items())
        try:
            with contextlib.suppress(OSError):  # the program has ended
                while select.select([screen], [], [], 30)[0] and (chunk := os.read(screen, 4096)):
                    shown += chunk
                    if waits and waits[0][0].encode() in shown:
                        os.write(screen, waits.pop(0)[1])
        finally:
            os.close(screen)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGHUP)
            status = os.WEXITSTATUS(os.waitpid(process, 0)[1])
        said = shown.decode().replace("\r", "")
        self.assertEqual(waits, [], said)
        return status, said

    def answer(self, number: int, *options: str, status: int = 0, typed: dict[str, bytes] | None = None) -> str:
        typed = {self.ASKS: b"\n"} if typed is None else typed
        command = (self.root / "tools/answer", "01_naive", str(number), *options)
        done, said = self.terminal(*command, typed=typed)
        self.assertEqual(done, status, said)
        self.assertEqual(list(self.copies.iterdir()), [], "a copy was left behind")
        self.assertFalse((self.source.parent / "a").exists(), "built in the course")
        return said

    def test_it_asks_runs_and_shows_both(self) -> None:
        said = self.answer(1, typed={self.ASKS: "three \x1b[31mä\n".encode()})
        exercise, _, rest = said.partition(self.ASKS)
        self.assertIn("> What is a? Predict.", exercise)
        self.assertNotIn("Two.", exercise)
        self.assertIn("building in a copy ...\n    int a = 2;\n", rest)
        self.assertRegex(
            rest, r"Your prediction:\n\n    three \\x1b\[31mä\n\nWhat it is:\n\n    int a = 2;\n    /.*/01_naive\n\Z"
        )
        self.assertEqual(rest.count("\nThis is not what was stored (tools/answer 01_naive 1 --stored).\n"), 1)
        self.assertEqual(self.source.read_text(), "int a = 1;\n")

    def test_nobody_must_predict(self) -> None:
        said = self.answer(5)
        self.assertTrue(said.endswith("\n    int a = 1;\n"), said)
        self.assertNotIn("not what was stored", said)

    def test_what_a_reader_changed_is_told(self) -> None:
        self.source.write_text("int a = 3;\n")
        self.assertRegex(self.answer(5), r"    int a = 3;\n\nThis is not what was stored .*\n\Z")
        said = self.answer(1, status=1)
        self.assertRegex(said, r"text found 0 times.*\n.*did you change 01_naive\? [\s\S]*    elsewhere\n\Z")
        self.source.write_text("int a = 9;\n")
        self.assertIn("answer 5: the chapter does not compile", self.answer(5, status=1))

    def test_what_cannot_run_shows_what_was_stored(self) -> None:
        self.assertRegex(self.answer(3), r"not run here: no model: .*\n    a model says this\n\Z")
        said = self.answer(4, status=1)
        self.assertRegex(said, r"end with status 7[\s\S]*    no seven\n\n    \$ touch ran\n    nothing\n\Z")

    def test_ctrl_c_and_the_end_of_input(self) -> None:
        for keys in (b"\3", b"\4"):
            self.assertRegex(self.answer(1, status=130, typed={self.ASKS: keys}), r"\(Enter: none\): (\^C)?\n\Z")
        self.assertRegex(self.answer(2, status=130, typed={self.ASKS: b"x\n", "sleep 60": b"\3"}), r"\^C\n\Z")

    def test_a_second_ctrl_c_leaves_no_copy_behind(self) -> None:
        slow = """import tempfile, time
erase = tempfile.TemporaryDirectory._rmtree
slowly = lambda *paths, **how: (print("erasing", flush=True), time.sleep(1), erase(*paths, **how))
tempfile.TemporaryDirectory._rmtree = staticmethod(slowly)
"""
        with (self.root / "tools/lib/trial.py").open("a") as file:
            file.write(slow)
        self.answer(2, status=130, typed={self.ASKS: b"\n", "sleep 60": b"\3", "erasing": b"\3"})

    def test_elsewhere_and_with_an_option_nothing_is_asked(self) -> None:
        command = [self.root / "tools/answer", "01_naive", "1"]
        environment = {**os.environ, "TMPDIR": str(self.copies)}
        for options, inside, outside in ((["--live"], "/01_naive\n", "elsewhere"), ([], "elsewhere", "/01_naive\n")):
            done = subprocess.run([*command, *options], check=True, capture_output=True, text=True, env=environment)
            self.assertIn(inside, done.stdout)
            for absent in (outside, self.ASKS, "Your prediction"):
                self.assertNotIn(absent, done.stdout)
        self.assertEqual(self.answer(1, "--stored", typed={}), done.stdout)
        done = subprocess.run([*command[:2], "--live"], check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_make_passes_the_terminal_on(self) -> None:
        command = (shutil.which("make"), "-s", "-C", ROOT / "01_naive", "DEVICE=sim", "answer", "N=1")
        status, said = self.terminal(*command, typed={self.ASKS: b"\4"})
        self.assertEqual(status, 2, said)
        self.assertIn("Error 130", said)
