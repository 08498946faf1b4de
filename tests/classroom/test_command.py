"""classroom/grade.py as its callers meet it, to the letter: a folder's table and pages, one submission's files, what
--check says, what ends with which status."""

from __future__ import annotations

import contextlib
import fnmatch
import io
import re
import shutil
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

import autograder
import golden
import handout
from grading import ROOT, Graded, grade, read_json, run, run_grader, zipped
from judge.course import Course
from test_gradescope import WRONG
from test_mutants import masked

COMMANDS = Path(__file__).with_name("commands.txt")


class Command(Graded):
    said = ""
    widths: set[int] = set()

    def command(self, *arguments: str, shown: tuple[str, ...] = (), **environment: str) -> None:
        """Keeps what was printed, and the files named in `shown`."""
        words = [word.replace("S/", f"{self.scratch}/") for word in arguments]
        done = run_grader(*words, **environment)
        text = f"$ {' '.join([*(f'{n}={v}' for n, v in environment.items()), *arguments])}\nstatus {done.returncode}\n"
        text += done.stdout + done.stderr
        for name in shown:
            text += f"-- {name}\n{(self.scratch / name).read_text()}\n"
        text = re.sub(
            r"\b(?:[0-9a-f]{16}|[0-9a-f]{64}|\d{4}-\d\d-\d\d \d\d:\d\d)\b", "#", text.replace("\\n", "\n")
        )  # JSON's strings are wrapped, too
        if "--check" in arguments:
            self.widths |= {len(blanks) for blanks in re.findall(r"(?m)^ +", text)}
        text = re.sub(r'("judged": ).*', r"\1#", text)  # for a later call
        text = re.sub(r'"(execution_time|time)": *[\d.e-]+|( time)="[\d.]+"', r"\1\2 #", text)
        text = masked(text.replace(str(self.scratch), "S").replace(str(ROOT), "ROOT"))
        self.said += re.sub(r"(\.(?:cu|mk)):\d+", r"\1:#", text) + "\n"

    def test_what_it_says_and_writes_to_the_letter(self) -> None:
        """Kills: a column, point, remark or status that is another one. REMAKE=1 writes commands.txt anew."""
        tree, only = self.tree("folder/anna"), ("--only", "01_naive")
        for chapter in tree.iterdir():
            if chapter.name not in ("01_naive", "06_backward"):
                shutil.rmtree(chapter)
        (tree / "WORKLOG.md").write_text("I worked.\n")
        (tree / "predictions.txt").write_text(
            "naive --seq 1024 --dim 64 = 17825792\nsoftmax_online --rows 64 --cols 4096 = 5\n"
        )
        self.command("--check", "--submission", "S/folder/anna", *only)
        wrong = shutil.copytree(tree, self.scratch / "folder/berta, b")
        self.replace(wrong / "01_naive/naive.cu", *WRONG)
        self.replace(wrong / "01_naive/naive.cu", "\tO[row * d + c] = sum;", "\tgoto out;\n\tO[row * d + c] = sum;")
        self.replace(wrong / "01_naive/naive.cu", '#include "naive.h"', '#include "naive.h"\n#include <dlfcn.h>')
        (wrong / "predictions.txt").write_text(
            "naive --seq 1024 --dim 64 = 1\nnaive --seq = many\nnone\n7\n8 =\nmore\n"
        )
        (wrong / "class.tsv").write_text("01_naive\tplain\t-\n04_fa1\tsoftcap\t5\n")
        for file in ("dq.cu", "dkdv.cu"):
            (wrong / "06_backward" / file).unlink(missing_ok=True)
        zipped(wrong).rename(self.scratch / "folder/two\nlines.zip")
        for name in ("two lines.zip", "carla.zip"):
            (self.scratch / "folder" / name).write_text("no zip\n")
        (self.scratch / "folder/dora").symlink_to("anna")
        (self.scratch / "folder/notes.txt").write_text("left out\n")
        (self.scratch / "folder/.hidden").mkdir()
        shutil.copytree(wrong, self.scratch / f"folder/{'x' * 70}")
        untouched = self.tree("folder/emil", solved=False)  # of which two files are of another class
        for file in ("01_naive/naive.cu", "06_backward/dq.cu"):
            self.replace(untouched / file, "#include", "#include <dlfcn.h>\n#include")
        parts = self.scratch / "folder/fritz"
        parts.mkdir()
        (parts / "01.score.cu").write_text("// task 01.softmax: mine\n;\n// end 01.softmax\n")
        (parts / "01_naive").mkdir()
        (parts / "01_naive/naive.cu").symlink_to("../01.score.cu")
        files = ("anna.txt", "fritz.txt")
        shown = tuple(f"into/{name}" for name in ("results.csv", *files))
        self.command("--submissions", "S/folder", "--results", "S/into", *only, shown=shown)
        one = ("--submission", "S/folder/berta, b", "--only", "01.score,01.weighted-sum")
        both = ("--results", "S/one.json", "--junit", "S/one.xml")
        self.command(*one, *both, "--require", "50.2", shown=("one.xml",))
        enough = run_grader(*(word.replace("S/", f"{self.scratch}/") for word in one), "--require", "50")
        self.assertEqual((enough.returncode, read_json(self.scratch / "one.json")["score"]), (0, 3))
        self.command("--check", "--submission", "S/folder/berta, b", "--only", "01_naive,06.dq")
        (parts / "01_naive/naive.cu").unlink()
        self.command("--check", "--submission", "S/folder/fritz", *only)
        self.command("--submission", "S/folder/carla.zip", *only, "--results", "S/none.json")
        self.assertEqual(read_json(self.scratch / "none.json")["score"], 0)
        self.command("--prepare", *only)
        self.command("--submission", "S/folder/anna", *only, "--results", "/dev/full/r.json")
        self.command("--submission", "S/folder/anna", *only, CC="no-compiler", CXX="")
        self.command("--submission", "S/folder/anna", GRADE_MEMORY_MB="1023")
        self.command("--submissions", "S/folder", "--results", "S/folder/notes.txt")
        for arguments in (
            ("--check", "--submission", "S/no"),
            ("--only", "07_none"),
            ("--subm", "x"),
            ("--submissions", "S/folder"),
            ("--submissions", "S/folder/.hidden", "--results", "S/none"),
            ("--require", "many"),
            ("--key", "ws"),
            ("--key", "", "--check"),
            ("--key", "two lines\nof a key"),
        ):
            self.command(*arguments)
        self.assertEqual(golden.changes(COMMANDS, self.said.splitlines()), "")
        self.assertEqual(self.widths, {6, 19}, "what is told goes on below itself, and so does a note")

    def test_one_submission_that_is_not_graded_says_so_in_every_file(self) -> None:
        results, junit = self.scratch / "r.json", self.scratch / "r.xml"
        grader = grade.Grader(Course(ROOT, None), "01.score", self.scratch / "own")
        options = unittest.mock.Mock(submission=self.tree("one"), results=results, junit=junit, require=None)
        lost = unittest.mock.patch.object(grader, "_judge_region", side_effect=KeyError("planted"))
        with lost, self.assertRaisesRegex(grade.Environment, "^KeyError: 'planted'$"):  # main: exit 3
            grade.grade_one(grader, options)
        self.assertIn("not graded: KeyError: 'planted'", read_json(results)["output"])
        self.assertNotIn("was stopped", read_json(results)["output"])
        failures = [each.text for each in xml.parse(junit).getroot().iter("failure")]
        self.assertIn("not graded: KeyError: 'planted'", failures[0])


class Secret(Graded):
    """What the cases of a class are drawn from."""

    key = "a key of this class"

    def setUp(self) -> None:
        super().setUp()
        self.path = self.scratch / "secret"
        kept = unittest.mock.patch.object(handout, "SECRET", self.path)
        kept.start()
        self.addCleanup(kept.stop)

    def test_it_is_made_once_and_handed_out_to_nobody(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            made = handout.secret()
            self.assertEqual((len(made), handout.secret(), self.path.stat().st_mode & 0o777), (64, made, 0o600))
            told = "the cases are drawn from it; keep it, and copy it to each clone that grades this class"
            self.assertEqual(said.getvalue(), f"classroom/secret: made; {told}\n")
            for length in (0, 11, 12):
                self.path.write_text("x" * length + "\n")
                if length < 12:
                    says = f"^classroom/secret: has {length} characters, expected at least 12$"
                    self.assertRaisesRegex(handout.TaskError, says, handout.secret)
            self.assertEqual(handout.secret(), "x" * 12)
            self.assertEqual(list(self.scratch.iterdir()), [self.path])
        with unittest.mock.patch.object(handout, "SECRET", self.scratch / "none/secret"):
            says = "^classroom/secret: cannot be made or read: No such file or directory$"
            self.assertRaisesRegex(handout.TaskError, says, handout.secret)
        self.assertEqual([each for each in handout.FILES if fnmatch.fnmatch("classroom/secret", each)], [])
        ignored = run("git", "-C", ROOT, "check-ignore", "classroom/secret")
        self.assertTrue(ignored.returncode == 0 or not (ROOT / ".git").exists())

    def test_a_class_is_graded_with_it(self) -> None:
        self.path.write_text("s" * 64)
        words = ["grade", "--key", self.key, "--only", "01.score", "--prepare"]
        with unittest.mock.patch.object(sys, "argv", words), unittest.mock.patch.object(grade, "Grader") as grader:
            self.assertEqual(grade.run(grade.parse(), self.scratch), 0)
        self.assertEqual(grader.call_args.args[1:], ("01.score", self.scratch, "s" * 64))
        grader.return_value.prepare.assert_called_once_with()

    def test_the_autograders_zip(self) -> None:
        """Of a small course: each file, its mode, its text; without the key of no class."""
        course, out = self.scratch / "course", self.scratch / "into/x.zip"
        for name in ("build/made", "a.o", "tests/x/test.py", ".git/x", "tests/data/kept", "classroom/secret", "run"):
            (course / name).parent.mkdir(parents=True, exist_ok=True)
            (course / name).write_text(name)
        (course / "run").chmod(0o755)
        (course / "program").write_bytes(b"\x7fELF")
        (course / "link").symlink_to("run")
        for key in (None, self.key):
            said = io.StringIO()
            words = ["gradescope", "--out", str(out), *(["--key", key] if key else [])]
            here = unittest.mock.patch.object(autograder, "COURSE", course)
            command = unittest.mock.patch.object(sys, "argv", words)
            with here, command, contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(autograder.main(), 0)
            with zipfile.ZipFile(out) as archive:
                there = [(each.filename, oct(each.external_attr >> 16)) for each in archive.infolist()]
                self.assertEqual(archive.read("tree/run"), b"run")
                self.assertEqual(key and archive.read("key"), key and f"{key}\n".encode())
            files = [
                ("tree/run", "0o100755"),
                ("tree/classroom/secret", "0o100644"),
                ("tree/tests/data/kept", "0o100644"),
            ]
            scripts = [("setup.sh", "0o100755"), ("run_autograder", "0o100755")]
            self.assertEqual(there, [*scripts, *[("key", "0o100600")] * bool(key), *files])
            count, of = len(there), ", of a class" if key else ""
            upload = "It holds the solutions. Upload it as the assignment's autograder (classroom/README.md)."
            self.assertEqual(said.getvalue(), f"{out}: {count} files, 0.0 MB{of}\n{upload}\n")
        self.assertTrue(self.path.exists(), "made with the key")
        for argument, says in (("KEY=short", "KEY= (--key): a key of 5"), ("OUT=classroom", "OUT=classroom: is a dir")):
            done = run("make", "-s", "-C", ROOT, "gradescope", argument)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith(f"gradescope: {says}"), done.stderr)
        nowhere = unittest.mock.patch.object(handout, "SECRET", self.scratch / "none/secret")
        with nowhere, command, contextlib.redirect_stderr(io.StringIO()), self.assertRaisesRegex(SystemExit, "^3$"):
            autograder.main()
