"""No submission stops the grading of a folder, and none changes what another one gets."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import resource
import struct
import tarfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

from grading import ROOT, Graded, grade, read_json, run, zipped
from judge.course import Course

STORE = "\t\tS[row * N + j] = causal && j > i ? -INFINITY : scale * dot;\n"
FULL, NONE = ["10", "10", "3", "4", "3"], ["0", "10", "0", "0", "0"]


def many_entries(path: Path) -> None:
    """1,300,000 entries in 62 MB, of which the end of the file admits three."""
    entry = b"PK\1\2" + bytes(24) + struct.pack("<HHHHHII", 1, 0, 0, 0, 0, 0, 0) + b"x"
    table = entry * 1_300_000
    path.write_bytes(table + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 3, 3, len(table), 0, 0))


def bomb(path: Path) -> None:
    """A gigabyte that says that it is ten bytes, by a method of which Python unpacks all it gets."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive, archive.open("01.score.cu", "w") as file:
        for _ in range(1024):
            file.write(bytes(1 << 20))
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 1 << 30), struct.pack("<I", 10)))


class Folder(Graded):
    maxDiff = None

    def rows(self, into: Path) -> dict[str, list[str]]:
        with (into / "results.csv").open(newline="") as file:
            title, *rows = csv.reader(file)
            return {row[0]: row[1 : title.index("remark") + 1] for row in [title, *rows]}

    def attacks(self, folder: Path) -> dict[str, tuple[list[str], str]]:
        """{name in the table: (its points, words of its page)}"""
        tree = self.tree("folder/plain")
        expected = {"plain": (FULL, "all tasks 10/10")}

        # Kills: the name of the file that is written first is longer than the file's; a line end ends a line.
        for name, shown in (
            (b"x" * 236 + b".zip", None),
            ("\u00fc".encode() * 120 + b".zip", None),
            (b"two\nlines.zip", "two lines.zip (two lines.txt)"),
            (b"two lines.zip", "two lines.zip (two lines.zip.txt)"),
            (b"\x1b[2J\r.zip", "?[2J?.zip"),
            (b"\xff\xfe.zip", "\ufffd\ufffd.zip"),
            (b"\n=cmd().zip", "'=cmd().zip"),
        ):
            name = os.fsdecode(name)
            zipped(tree).rename(folder / name)
            expected[shown or name] = (FULL, "all tasks 10/10")

        many_entries(folder / "many.zip")
        expected["many.zip"] = (NONE, "more than 20000 files in it")
        bomb(folder / "bomb.zip")
        expected["bomb.zip"] = (NONE, "is packed by method 12, expected deflate")
        for name in ("tar.zip", "links.tar"):
            with tarfile.open(folder / name, "w") as archive:
                link = tarfile.TarInfo("01.score.cu")
                link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(link)
        expected["tar.zip"] = (NONE, "not a zip file")

        (self.tree("folder/loop") / "again").symlink_to(".")
        (folder / "loop/self").symlink_to("self")
        (folder / "lost").symlink_to("lost")  # it once ended the class's grading
        (folder / "linked.zip").symlink_to(zipped(tree).rename(self.scratch / "packed.zip"))
        expected["linked.zip"] = (NONE, "it is a link, expected a zip or a directory")
        expected["loop"] = (FULL, "all tasks 10/10")
        os.mkfifo(folder / "pipe.zip")
        expected["pipe.zip"] = (NONE, "neither a directory nor a plain file")
        source = self.tree("folder/pipe") / "01_naive/naive.cu"
        source.unlink()
        os.mkfifo(source)
        expected["pipe"] = (NONE, "is no plain file")
        with (self.tree("folder/predictions") / "predictions.txt").open("wb") as file:
            file.truncate(100 << 20)
        expected["predictions"] = (FULL, "predictions.txt has 104857600 bytes")
        huge = self.tree("folder/huge") / "01_naive/naive.cu"
        self.replace(huge, STORE, STORE + "\t\t;\n" * 2_500_000)
        expected["huge"] = (NONE, "naive.cu has 100")
        long = self.tree("folder/long")
        self.replace(long / "01_naive/naive.cu", STORE, STORE + "\t\t;\n" * 20_000)
        expected["long"] = (["7", "10", "0", "4", "3"], "a region of 80")
        if os.geteuid() != 0:
            (self.tree("folder/unread") / "01_naive/naive.cu").chmod(0)
            expected["unread"] = (NONE, "cannot be read")
        expected["zoe"] = (FULL, "all tasks 10/10")
        self.tree("folder/zoe")
        (folder / "..x").mkdir()
        return expected

    def test_every_attack_costs_its_own_points_only(self) -> None:
        folder, into = self.scratch / "folder", self.scratch / "results"
        folder.mkdir()
        expected = self.attacks(folder)
        done = run("make", "-s", "-C", ROOT, "grade", f"SUBMISSIONS={folder}", f"RESULTS={into}", "ONLY=01_naive")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        rows = self.rows(into)
        rows.pop("submission")
        found = {name: (row[:5], row[5]) for name, row in rows.items()}
        self.assertEqual(set(found), set(expected))
        wrong = {name: row for name, row in found.items() if row[0] != expected[name][0]}
        self.assertEqual(wrong, {}, [(into / f"{name}.txt").read_text() for name in wrong])
        for name in ("links\\.tar", "\\.\\.x", "lost"):  # a directory with such a name was left out without a word
            self.assertRegex(
                done.stdout, rf"(?m)^{name} +left out: expected zips, tar\.gz, directories and \.cu, not hidden$"
            )
        self.assertEqual(done.stdout.count("\n"), len(expected) + 4, done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        # a page and results.json of each, whatever it is called
        pages = {path.name: " ".join(path.read_text().split()) for path in into.glob("*.txt")}
        self.assertEqual(len(pages), len(expected))
        self.assertEqual(len(list(into.glob("*.json"))), len(expected))
        for name, (_, words) in expected.items():
            own = [text for file, text in pages.items() if file[:-4] in (name, name[:-4])]
            self.assertTrue(not own or any(words in text for text in own), f"{name}: {words}: {own}")

        self.expect_the_same_one_by_one(folder, {name: float(points[0]) for name, (points, _) in expected.items()})

    def expect_the_same_one_by_one(self, folder: Path, points: dict[str, float]) -> None:
        """By what the autograder and `make check-submission` call, for each that has its own name in the table."""
        grader = grade.Grader(Course(ROOT, None), "01_naive", self.scratch / "own")
        results, junit = self.scratch / "r.json", self.scratch / "r.xml"
        for path in sorted(path for path in folder.iterdir() if path.name in points and not path.is_symlink()):
            options = unittest.mock.Mock(submission=path, results=results, junit=junit, require=None)
            for command in (lambda: grade.grade_one(grader, options), lambda: grader.check(options.submission)):  # noqa: B023
                with contextlib.suppress(grade.Unusable), contextlib.redirect_stdout(io.StringIO()):
                    command()
            self.assertEqual(read_json(results)["score"], points[path.name], path)
            self.assertEqual(xml.parse(junit).getroot().get("tests"), "18")

    def test_a_table_of_a_million_files_is_not_read(self) -> None:
        path = self.scratch / "many.zip"
        many_entries(path)
        before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with self.assertRaisesRegex(grade.Unusable, "more than 20000 files"):
            self.grader().read(path)
        self.assertLess(time.process_time() - begun, 2)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 150_000, "kB")

    def test_a_failure_at_any_stage_is_a_row_and_status_3(self) -> None:
        """Kills: an exception that ends the folder, a 0 for what was not judged, others that inherit the failure."""
        for name in ("a", "b"):
            self.tree(f"folder/{name}")
        planted = RecursionError("planted\nline of the course")
        for stage in ("read", "_of_another_class", "_read_predictions", "_region_of", "judge_of", "_judge_region"):
            grader = grade.Grader(Course(ROOT, None), "01.score,01.softmax", self.scratch / stage)
            first, right = iter([planted]), getattr(grader, stage)

            def fails_once(*arguments, first=first, right=right):
                if error := next(first, None):
                    raise error
                return right(*arguments)

            into, said = self.scratch / f"into-{stage}", io.StringIO()
            with self.subTest(stage):
                told = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
                fault = unittest.mock.patch.object(grader, stage, fails_once)
                with fault, told[0], told[1], self.assertRaisesRegex(SystemExit, "^3$"):
                    grade.grade_folder(grader, self.scratch / "folder", into)
                rows = self.rows(into)
                why = "not graded: RecursionError: planted; this is the grader's failure, not yours"
                self.assertEqual(rows["a"], ["", "7", "", "", why])
                self.assertEqual(rows["b"], ["7", "7", "3", "4", ""])
                self.assertRegex(said.getvalue(), r"\na .*not graded\nb .* 7/7\n|^a .*not graded\nb .* 7/7\n")
                self.assertIn("1 of 2 submissions not graded", said.getvalue())
                self.assertIn(why, read_json(into / "a.json")["output"])
                self.assertNotIn("line of the course", (into / "a.json").read_text())
                self.assertIn("not graded: RecursionError", " ".join((into / "a.txt").read_text().split()))
