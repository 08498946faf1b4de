"""How a submission is read, and where its lines are. Nothing is compiled."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tempfile
import time
import unittest
import unittest.mock
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

from grading import ALL, ROOT, Graded, grade
from hand_ins import packed
from judge import cases as casebook
from judge import course, submission, verdict, words
from judge import results as told
from judge.tokens import Refusal
from judge.verdict import Criterion

FINE = {"02.merge.cu": "x;\n"}  # beside which nothing else has to be usable
READ_NO = "is no file of a task, and was not read: expected a name such as 01.score.cu"
NO_REGION = "no region of a task is in it: expected files with '// task ID: ...' and '// end ID', or ID.cu"


def region(task: str, text: str = "x = 1;\n") -> str:
    return f"// task {task}: title\n{text}// end {task}\n"


class Handed(Graded):
    """How a submission is read. Nothing is compiled."""

    def archive(self, entries: dict[str, bytes | str], kind: str = "zip") -> Path:
        path = self.scratch / f"in.{kind}"
        path.write_bytes(packed(entries, kind))
        return path

    def tar(self, entries: dict[str, str]) -> Path:
        return self.archive(entries, "tar.gz")

    def directory(self, entries: dict[str, str]) -> Path:
        tree = Path(tempfile.mkdtemp(dir=self.scratch))
        for name, text in entries.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        return tree

    def read(self, given: Path | dict[str, bytes | str]) -> submission.Submission:
        return self.grader().read(given if isinstance(given, Path) else self.archive(given))

    def seen(self, given: Path | dict[str, bytes | str]) -> list[str]:
        """Regions, a line of theirs ending in |, then what is remarked."""
        found = self.read(given)
        regions = (f"{task} {each.file}:{each.line} {each.text}" for task, each in found.regions.items())
        return [*(each.replace("\n", "|") for each in regions), *found.remarks]

    def expect(self, given: Path | dict[str, bytes | str], why: str) -> None:
        """It is read, or is unusable: why."""
        if not why:
            self.read(given)
            return
        with self.subTest(why), self.assertRaisesRegex(submission.Unusable, f"^{why}"):
            self.read(given)

    def test_which_entries_count(self) -> None:
        mine, beside = region("01.score"), {"other/a.txt": "x", "b.txt": "y", **FINE}
        for files, place in (
            ({"naive.cu": mine}, "01_naive/naive.cu"),
            ({"01_naive/naive.cu": mine}, "01_naive/naive.cu"),
            ({"me/01_naive/naive.cu": mine}, "01_naive/naive.cu"),
            ({"me/deep/naive.cu": mine}, "01_naive/naive.cu"),
            ({"02_online_softmax/naive.cu": mine}, "02_online_softmax/naive.cu"),
            ({"me/own.cuh": mine}, "me/own.cuh"),
            ({"a/x.cu": mine, **FINE}, "a/x.cu"),
            ({"anna.cu/x.cu": mine}, "anna.cu/x.cu"),  # a directory may have the name of a source
            ({"build/own.cu": mine}, "build/own.cu"),  # one folder around it all may have any name
            ({"build/x.cu": mine, "mine/02.merge.cu": mine}, "mine/02.merge.cu"),  # beside another, it is not
            *(({f"{name}/x.cu": mine, **beside}, "") for name in ("common", "a/tests", "__MACOSX", "a/.git", "a/my/b")),
        ):
            for packed_up in (self.archive, self.tar, self.directory):
                with self.subTest(files=list(files), how=packed_up.__name__):
                    found = self.read(packed_up(files)).regions
                    self.assertEqual(found["01.score"].file if "01.score" in found else "", place)
        self.assertEqual(self.read({"me\\01_naive\\naive.cu": mine}).regions["01.score"].file, "01_naive/naive.cu")
        zipped = self.archive({"x.cu": mine}).rename(self.scratch / "in.tgz")  # whatever its name says
        self.assertEqual(list(self.read(zipped).regions), ["01.score"])
        found = self.read({"predictions.txt": "a", "d/predictions.txt": "b", "x.cu": mine})
        self.assertEqual(found.texts, {"predictions.txt": "a"})  # the one that lies highest

    def test_regions(self) -> None:
        lone = self.scratch / "01.score.cu"  # a file of its own, not in an archive
        lone.write_text("z;\n")
        without_end = "own.cu:1: '// task 01.score: ...' without its '// end 01.score'"
        merge, mine, other = "02.merge 02.merge.cu:1 x;|", region("01.score"), region("01.score", "x = 2;\n")
        stub = region("01.score", self.grader().course.chapter("01_naive").stubs["01.score"])
        for files, *expected in (
            (
                {"own.cu": "// a\n" + region("01.score", "x;\ny;\n") + "// task 01.softmax\nz;\n// end 01.softmax\n"},
                "01.score own.cu:3 x;|y;|",
                "01.softmax own.cu:7 z;|",
            ),
            ({"01.score.cu": "x = 1;\n"}, "01.score 01.score.cu:1 x = 1;|"),
            (lone, "01.score 01.score.cu:1 z;|"),
            (
                {**FINE, "own.cu": "\n// task 01.s: x\n// end 01.s\n"},
                merge,
                "own.cu:2: there is no task '01.s'",
                "own.cu:3: there is no task '01.s'",
            ),
            ({**FINE, "own.cu": "// task 01.score: a\nx;\n"}, merge, without_end),
            ({**FINE, "own.cu": "// task 01.score: a\nx;\n// end 01.softmax\n"}, merge, without_end),
            (
                {"own.cu": "// task 01.score: a\n" + region("01.softmax", "z;\n")},
                "01.softmax own.cu:3 z;|",
                without_end,
            ),
            (  # without a title; within a region that is a comment
                {"01.softmax.cu": "// task 01.softmax\n// task 01.softmax\nz;\n// end 01.softmax\n"},
                "01.softmax 01.softmax.cu:2 // task 01.softmax|z;|",
            ),
            (
                {"01.softmax.cu": "\n\t// task 01.softmax \t\r\nz;\r\n// end 01.softmax"},
                "01.softmax 01.softmax.cu:3 z;|",
            ),
            ({"a.cu": mine, "b.cu": region("01.score", "x  =  1;\n")}, "01.score a.cu:2 x = 1;|"),
            (
                {"a.cu": mine, "b.cu": other},
                "01.score a.cu:2 x = 1;|",
                "01.score: not the same in a.cu and b.cu; a.cu counts",
            ),
            (
                {"a.cu": stub, "b.cu": other},  # what was written counts
                "01.score b.cu:2 x = 2;|",
                "01.score: not the same in b.cu and a.cu; b.cu counts",
            ),
        ):
            with self.subTest(files):
                self.assertEqual(self.seen(files), expected)
        # Copies, as Canvas and browsers name them. Kills: 9 after 10, a copy that is dropped.
        for names, of in (
            (("01.score-3.cu",), "01.score-3.cu"),
            (("01.score (1).cu", "a.txt"), "01.score (1).cu"),
            (("5002/01.score.cu", "5003/01.score-9.cu", "5004/01.score-10.cu"), "5004/01.score-10.cu"),
            (("01.score-1 (2).cu", "01.score-2 (1).cu"), "01.score-2 (1).cu"),
            (("01.score(1).cu", "deep/er/01.score-1 (1).cu", "01.score.cu"), "deep/er/01.score-1 (1).cu"),
            (("b/own.cu", "01.score.cu"), "01.score.cu"),  # no copy, and deeper
        ):
            found = self.read({name: mine if "own" in name else f"{at};\n" for at, name in enumerate(names)})
            self.assertEqual((list(found.regions), found.regions["01.score"].file), (["01.score"], of))
            lost = {name for name in names if name not in (of, "a.txt")}
            self.assertEqual(set(found.remarks), {f"01.score: not the same in {of} and {x}; {of} counts" for x in lost})
        every = "".join(f"// task {task.id}\n" for task in self.grader().tasks if task.id != "01.score")
        for text, of in (("// task 01.softmax\nz;\n", "01.softmax"), ("// task of mine: what is it\n", "another task")):
            found = self.read({"01.score.cu": text, **FINE})
            self.assertEqual(found.others, {"01.score": f"01.score.cu has lines of {of}, and not of 01.score"})
        self.assertEqual(self.read({"01.score.cu": mine}).others, {})
        self.assertEqual(len(self.read({"01.score.cu": every, **FINE}).others["01.score"]), 300)

    def test_what_was_changed_outside(self) -> None:
        given = self.grader().course.given_files()["01_naive/naive.cu"]
        end = given.count("\n")
        include = given[: given.index('#include "naive.h"')].count("\n") + 1
        for text, line in (
            (given, 0),
            (given.replace("{\n", "{ // mine\n"), 0),
            (given.replace('#include "naive.h"', '#include "naive.h" x'), include),
            (given + "more\n", end + 1),
            (given + "// task 02.merge\n// end 02.merge\n", end + 1),
            (given[: given.rindex("// end")], given[: given.rindex("// end")].count("\n") + 1),
        ):
            found = self.read({"naive.cu": text, **FINE})
            self.assertEqual(found.altered, {"01_naive/naive.cu"} if line else set())
            says = f"01_naive/naive.cu:{line}: changed outside of the tasks: only what lies between their lines counts"
            self.assertEqual([each for each in found.remarks if "changed" in each], [says] * bool(line))

    def test_files_that_are_not_read(self) -> None:
        for content, why in (
            (b"", "is empty"),
            (b" \n\t", "is empty"),
            (b"a\0b", "is no text: it has bytes of value 0 (UTF-16?); save it as UTF-8"),
            (b"x" * (submission.MOST_TEXT + 1), f"has {submission.MOST_TEXT + 1} bytes, expected at most 262144"),
        ):
            found = self.read({**FINE, "01_naive/naive.cu": content})
            self.assertEqual(found.problems, {"01_naive/naive.cu": why})
            self.assertEqual(found.remarks, [f"01_naive/naive.cu {why}"])
            self.assertEqual(self.read({**FINE, "WORKLOG.md": content}).problems, {"WORKLOG.md": why})
        self.assertEqual(self.read({**FINE, "a.cu": b"x" * submission.MOST_TEXT}).problems, {})
        # Named, unless the course has such a file; kills: points that are lost without a word for a file's name.
        for name, is_named in (
            ("a.cu", True), ("01.softmax_copy.cu", True), ("Copy of 01.softmax.cu", True), ("01.softmax-v2.cu", True),
            ("01_naive/mine.cuh", True), ("04_fa1/row.cu", False), ("row.cuh", False), ("00_gpu/first/xor.cu", False),
            ("09_variants/forward.cu", False), ("._02.merge.cu", False), ("a.txt", False),
        ):  # fmt: skip
            self.assertEqual(self.read({**FINE, name: "x;\n"}).remarks, [f"{name} {READ_NO}"] * is_named)
            self.assertEqual(self.read({**FINE, name: ""}).remarks, [f"{name} is empty"] * is_named, name)
        for name in ("01.SCORE.CU", "01.Score.Cu", "01.score.cu.txt", "x/01.score.CU.TXT"):
            found = self.read({**FINE, name: "x;\n"})
            self.assertEqual(found.remarks, [f"{name} was not read: expected a name such as 01.score.cu"])
            self.assertEqual(found.unread, [name])
        self.assertEqual(self.read({**FINE, "01.score-2.cu": ""}).remarks, ["01.score-2.cu is empty"])
        self.assertEqual(self.read({**FINE, f"{'x' * 240}.cu": "y"}).unread, [f"{'x' * 197}.cu"])
        path = self.archive({**FINE, "a.cu": "y"})
        content = bytearray(path.read_bytes())
        content[content.rindex(b"PK\1\2") + 8] |= 1  # the flag of an encrypted entry
        path.write_bytes(content)
        self.assertEqual(self.read(path).problems, {"a.cu": "is encrypted"})
        with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("a.cu", "y")
            archive.writestr(zipfile.ZipInfo("02.merge.cu"), "x;\n")
        self.assertEqual(self.read(path).problems, {"a.cu": "is packed by method 12, expected deflate"})
        tree = self.directory({})
        (tree / "02.merge.cu").write_bytes("\ufeffx;\r\ny;\rz\xff".encode("latin-1", "replace"))
        (tree / "a.cu").symlink_to("02.merge.cu")
        os.mkfifo(tree / "b.cu")
        (tree / "link").symlink_to("/etc")
        found = self.read(tree)
        self.assertEqual(found.problems, {"a.cu": "is a link, expected a file", "b.cu": "is no plain file"})
        self.assertEqual(found.regions["02.merge"].text, "?x;\ny;\nz\ufffd")
        (tree / "02.merge.cu").write_bytes(b"\xef\xbb\xbfx;")
        self.assertEqual(self.read(tree).regions["02.merge"].text, "x;")
        for right in (os.R_OK, os.X_OK):  # root has all of them
            with unittest.mock.patch.object(os, "access", lambda _, mode, right=right: not mode & right):
                self.expect(tree, "this directory cannot be read$")
        self.assertEqual(submission.one_line("\udcff\udc80  a\x1b\n"), "\ufffd\ufffd a?")
        flagged = zipfile.ZipInfo("\u00fc.cu".encode().decode("cp437"))
        flagged.flag_bits = 1  # encrypted, and not UTF-8 by its flag
        self.assertEqual(submission._name_in_zip(flagged), "\u00fc.cu")

    def test_when_an_entry_was_written(self) -> None:
        """Late or not: kills an hour or a year that is another one, and a time that is not there."""
        noon, unix = (2027, 3, 1, 12, 0, 0), struct.pack("<HHBi", 0x5455, 5, 1, 1_803_900_000)
        here = time.mktime((*noon, 0, 0, -1))
        for when, extra, expected in (
            (noon, b"", here),
            (noon, unix, 1_803_900_000),
            (noon, unix + struct.pack("<HH", 7, 0), 1_803_900_000),
            (noon, struct.pack("<HHH", 7, 2, 0) + unix, 1_803_900_000),
            (noon, struct.pack("<HHBi", 0x5455, 5, 2, 1), here),  # of another time than that of the change
            (noon, unix[:-1], here),
            (noon, struct.pack("<HHBi", 7, 5, 1, 1) + unix, 1_803_900_000),
            ((1981, 1, 1, 0, 0, 0), b"", time.mktime((1981, 1, 1, 0, 0, 0, 0, 0, -1))),
            ((1980, 1, 1, 0, 0, 0), b"", None),  # what is written where no time is known
            ((2027, 3, 1, 12, 0, 62), b"", here + 62),
        ):
            info = zipfile.ZipInfo("x.cu", when)
            info.extra = extra
            self.assertEqual(submission._time_in_zip(info), expected, (when, extra))

    def test_limits_of_an_archive(self) -> None:
        """Kills: each limit one lower or one higher, and another limit than classroom/README.md says."""
        readme = (ROOT / "classroom/README.md").read_text()
        for said in (
            f"more than {submission.MOST_SOURCES / (1 << 20):g} MB of sources",
            f"at most {submission.MOST_ARCHIVE / (1 << 20):g} MB unpacked",
            f"at most {submission.MOST_REMARKS} remarks",
        ):
            self.assertIn(said, readme)
        entries = {f"{number}.txt": "x" for number in range(3)} | {"02.merge.cu": "x" * 9 + ";"}
        zipped, tree, files, sources = (
            self.archive(entries),
            self.directory(entries),
            "more than 3 files in it",
            "its sources have more than 9 bytes",
        )
        size = zipped.stat().st_size
        marked = self.scratch / "marked.zip"  # entries are counted by their mark before zipfile makes objects of them
        marked.write_bytes(packed({"02.merge.cu": "x;\n", "b.txt": "PK\1\2"}))
        for path, limits, why in (
            (marked, {"MOST_FILES": 3}, ""),
            (marked, {"MOST_FILES": 2}, "more than 2 files in it"),
            (zipped, {"MOST_FILES": 4, "MOST_ARCHIVE": size, "MOST_SOURCES": 10, "MOST_TEXT": 10}, ""),
            (zipped, {"MOST_FILES": 3}, files),
            (zipped, {"MOST_ARCHIVE": size - 1}, f"{size} bytes, expected at most {size - 1}; hand in only"),
            (zipped, {"MOST_SOURCES": 9}, sources),
            (zipped, {"MOST_TEXT": 10, "MOST_SOURCES": 9}, sources),
            (zipped, {"MOST_TEXT": 9, "MOST_SOURCES": 0}, "no region"),  # too long, it is not read
            (self.tar(entries), {"MOST_FILES": 4}, ""),
            (self.tar(entries), {"MOST_FILES": 3}, files),
            (tree, {"MOST_FILES": 4, "MOST_SOURCES": 10}, ""),
            (tree, {"MOST_FILES": 3}, files),
            (tree, {"MOST_SOURCES": 9}, sources),
        ):
            with unittest.mock.patch.multiple(submission, **limits):
                self.expect(path, why)
        long = self.read({**FINE, "a.cu": f"// end {'x' * 400}\n"})
        self.assertEqual([len(each) for each in long.remarks], [300])
        flood = self.read({**FINE, "a.cu": "".join(f"// end {n}\n" for n in range(99))})
        self.assertEqual(len(flood.remarks), submission.MOST_REMARKS)

    def test_how_much_an_archive_may_unpack_to(self) -> None:
        """Kills: a limit that is off by a byte, a bomb that is looked at when all of it is in memory."""
        unpacked = io.BytesIO()
        submission.unpack_gzip(io.BytesIO(gzip.compress(bytes(10))), unpacked, 10)
        self.assertEqual(unpacked.read(), bytes(10))
        with self.assertRaisesRegex(submission.Unusable, "more than 10 bytes when it is unpacked"):
            submission.unpack_gzip(io.BytesIO(gzip.compress(bytes(11))), io.BytesIO(), 10)
        into = unittest.mock.Mock()
        submission.unpack_gzip(io.BytesIO(gzip.compress(bytes(2 << 20))), into, 2 << 20)
        self.assertEqual([len(call.args[0]) for call in into.write.call_args_list if call.args[0]], [1 << 20] * 2)
        with self.assertRaises(zlib.error):
            submission.unpack_gzip(io.BytesIO(zlib.compress(bytes(10))), io.BytesIO(), 10)

    def test_why_nothing_is_usable(self) -> None:
        text, pipe, damaged, linked = (self.scratch / name for name in ("text", "pipe", "damaged.zip", "linked.zip"))
        text.write_text("x")
        os.mkfifo(pipe)
        with zipfile.ZipFile(damaged, "w") as archive:
            archive.writestr("01.score.cu", "goto x;\n")
        damaged.write_bytes(damaged.read_bytes().replace(b"goto", b"to g"))
        link = zipfile.ZipInfo("l.cu")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(linked, "w") as archive:
            archive.writestr(link, "/etc/passwd")
        (of_a_link := self.directory({})).joinpath("mine.zip").symlink_to(damaged)
        for given, why in (
            (self.scratch / "none", "no such file or directory"),
            (Path("/dev/null"), "neither a directory nor a plain file"),
            (pipe, "neither a directory nor a plain file"),
            (damaged, f"{NO_REGION}; 01.score.cu is damaged in the zip$"),
            (linked, "refused: 'l.cu' is a link, expected files only"),
            (of_a_link, "mine.zip is a link"),
            (self.directory({}), "it is empty"),
            (text, r"not a zip file \(nor a directory\)"),
            ({"a.txt": "x"}, f"{NO_REGION}$"),
            ({"a.cu": "x"}, f"{NO_REGION}; a.cu {READ_NO}$"),
            ({"a.cu": "", "b.txt": "x"}, f"{NO_REGION}; a.cu is empty$"),
            ({"a.cu": "// end 01.score\n"}, NO_REGION),
            ({"a.cu": region("x"), "b.txt": "x"}, f"{NO_REGION}; a.cu:1: there is no task 'x'$"),
            ({"../a.cu": "x"}, r"refused: '\.\./a.cu' leaves the archive"),
            ({"a/../b.cu": "x"}, "refused: 'a/../b.cu' leaves the archive"),
            ({"C:a.cu": "x"}, "refused: 'C:a.cu' leaves the archive"),
            ({"/a.cu": "x"}, "refused: '/a.cu' leaves the archive"),
        ):
            self.expect(given, why)
        self.assertEqual(self.seen({"a..b.cu": "x", "..cu": "x", **FINE})[0], "02.merge 02.merge.cu:1 x;|")
        # A learning platform's folder around one zip; with two, or with sources beside it, it is a directory.
        tree, inner = self.directory({"sub/a.txt": "x"}), self.archive(FINE).read_bytes()
        (tree / "Hand In.ZIP").write_bytes(inner)
        self.assertEqual(list(self.read(tree).regions), ["02.merge"])
        (tree / "01.score.cu").write_text("y;\n")
        self.assertEqual(list(self.read(tree).regions), ["01.score"])
        (tree / "01.score.cu").unlink()
        (tree / "more.zip").write_bytes(inner)
        self.expect(tree, "no region")

    def test_where_a_message_points(self) -> None:
        """In the student's file, whose lines are not those of the file that is compiled."""
        where, given = self.grader().course, self.grader().course.given_files()["01_naive/naive.cu"]
        moved = "// one\n// two\n" + given.replace("// end 01.score", "\n// end 01.score")
        found = self.read(self.archive({"naive.cu": moved}))
        first = given.split("\n").index(next(line for line in given.split("\n") if "// task 01.score" in line)) + 1
        end = given.split("\n").index(next(line for line in given.split("\n") if "// end 01.score" in line)) + 1
        for place, expected in (
            ("@@01.score/naive.cu:1@@", f"naive.cu:{first + 3}"),
            ("@@naive.cu:1@@", "naive.cu:1"),  # before any marker: as handed out
            (f"@@naive.cu:{first}@@", f"naive.cu:{first + 2}"),
            (f"@@naive.cu:{end}@@", f"naive.cu:{end + 3}"),
            (f"@@naive.cu:{end + 1}@@", f"naive.cu:{end + 4}"),
            ("@@naive.h:3@@", "naive.h:3"),
            ("@@09.none/naive.cu:2@@", "naive.cu:2"),
            ("@@naive.cu:1234567890@@", "@@naive.cu:1234567890@@"),
        ):
            self.assertEqual(where.located(f"a {place} b", "01_naive", found), f"a {expected} b")

    def test_a_region_in_its_places(self) -> None:
        """Kills: a line number that is not the student's, in the region or behind it."""
        chapter = self.grader().course.chapter("01_naive")
        text = chapter.spliced({"01.score": "X ;\n"})["naive.cu"].split("\n")
        self.assertEqual(text[0], '#line 1 "naive.cu"')
        at = text.index('#line 1 "01.score/naive.cu"')
        end = submission.markers_of(chapter.given["naive.cu"])["end", "01.score"]
        self.assertEqual(text[at + 1], "X ;")
        self.assertIn(f'#line {end} "naive.cu"', text[at + 2 : at + 4])
        self.assertTrue(any("// task 01.score:" in line for line in text[:at]))
        self.assertEqual(chapter.spliced({}), chapter.base)
        self.assertIn("naive.h", chapter.needed("naive.cu"))
        with self.assertRaisesRegex(Refusal, "^line 14: goto"):
            self.grader().course.compiled("01.score", submission.Region("x = 1;\n\ngoto y;\n", "a.cu", 12))
        is_untouched = self.grader().course.is_untouched
        stub = chapter.stubs["01.score"]
        self.assertTrue(is_untouched("01.score", stub.replace("\n", "  // mine\n")))
        self.assertFalse(is_untouched("01.score", stub + ";\n"))
        for length in (course.MOST_CHARACTERS, course.MOST_CHARACTERS + 1):  # longer ones are not looked at
            is_short = length == course.MOST_CHARACTERS
            self.assertEqual(is_untouched("01.score", f"{stub}//".ljust(length, "x")), is_short)
        self.assertTrue(course.tokens_or_text("x = 'a") == "x = 'a")

    def test_constants_that_a_task_may_use(self) -> None:
        """Those that each of its files has above it, or includes, but for what its own names say."""
        own = course.Course(ROOT, None)
        end = "// task 02.stream: t\nconstexpr int IN = 1;\n// end 02.stream\nconstexpr int BELOW = 1;\n"
        given = {
            "a.cu": f"constexpr int A = 1;\nconstexpr int B = 1, m = 2;\n{end}",
            "b.cu": f'#include "c.cuh"\nconstexpr int A = 2, m = 1;\n{end}',
            "c.cuh": "constexpr int B = 2, C = 1;\n",
            "d.cu": "constexpr int D = 1;\n",
        }
        own._chapters["02_online_softmax"] = course.Chapter(
            "02_online_softmax", ("plain", "-"), [], given, given, {}, {}
        )
        names = words.Names(variables={"m"})
        with unittest.mock.patch.object(words, "parse_names", return_value=names):
            self.assertEqual(own.names_of("02.stream").constants, {"A", "B"})
        self.assertEqual(own._constants_of("02.merge"), set())

    def test_a_task_that_needs_its_budget(self) -> None:
        """needs.tsv: kills a task that is right without having done what it is for."""
        grader = self.grader()
        task = next(each for each in grader.tasks if each.id == "03.tile")
        self.assertEqual(grader.needs["03.tile"], ("hbm", 10.0))
        found = submission.Submission(regions={"03.tile": submission.Region("x", "a.cu", 1)})
        over = Criterion(False, True, "over budget", "m", "h")
        for need, hbm, expected in (
            (10.0, replace(over, times=10.0), "ooooNo"),
            (10.0, replace(over, times=10.1), "----N-"),
            (1.0, replace(over, times=1.001), "----N-"),
            (2.0, replace(over, times=1.5), "ooooNo"),
            (1.0, Criterion(False, category=verdict.NOT_JUDGED, message="m"), "??????"),
        ):
            criteria = {**dict.fromkeys(ALL, verdict.PASSED), "hbm": hbm}
            own = {"_judge_region": lambda *_, of=criteria: of, "_region_of": lambda *_, of=hbm: repr(of)}
            with unittest.mock.patch.multiple(grader, **own, needs={"03.tile": ("hbm", need)}):
                judged = grader._criteria_of(task, found)
            self.assertEqual("".join(told._mark(judged[name])[0] for name in ALL), expected)

    def test_whose_class_a_submission_is_of(self) -> None:
        """Kills: a student who changed one file, or has a table of old, that is taken for one of another class."""
        grader = self.grader()
        asks, long = "graded as plain: is it another KEY?", "x" * 50
        differ = "differ outside of the tasks: if the student did not change them, is it another KEY?"
        for table, altered, said in (
            ("", {"a.cu"}, ""),
            ("", {"c.cu", "a.cu", "b.cu"}, f"a.cu, b.cu {differ}"),
            ("01_naive\tplain\t-\n99_none\twindow\t5\n01_naive\twindow\n", {"a.cu"}, ""),
            ("# chapter\tvariant\tvalue\n01_naive\n\t\t\t\n", set(), ""),
            ("01_naive\twindow\t5\n", set(), f"class.tsv of this submission says window 5 for 01_naive; {asks}"),
            (f"01_naive\t{long}\t-", set(), f"class.tsv of this submission says {long[:40]} for 01_naive; {asks}"),
        ):
            found = submission.Submission(texts={"class.tsv": table}, altered=altered)
            self.assertEqual(grader._of_another_class(found), said)
            with unittest.mock.patch.object(grader.course, "is_teacher", False):  # who may change what is theirs
                self.assertEqual(grader._of_another_class(found), said if table else "")

    def test_what_is_said_of_a_submission_as_a_whole(self) -> None:
        """Kills: a list that is cut off one earlier or later, or without a word; a sandbox that is told wrong."""
        grader, task = self.grader(), self.grader().tasks[0]
        bad = "".join(f"{number}\n" for number in range(4))
        for text, end in ((bad, ["..."]), (bad[:6], [])):
            results = told.Results([])
            grader._read_predictions(submission.Submission(texts={"predictions.txt": text}), results)
            notes = [f"predictions.txt:{n + 1}: expected 'kernel options = bytes', got '{n}'" for n in range(3)]
            self.assertEqual(results.notes, [*notes, *end])
        for how, said in (
            ("bwrap", "in bwrap, with limits"),
            ("namespaces", "in namespaces of their own, with limits"),
            ("user", "as another user, with limits (why)"),
            ("limits", "with limits alone (why)"),
        ):
            unread = submission.Submission(unread=["a.cu", "b.cu", "c.cu", "d.cu"], remarks=["a remark"])
            kind = unittest.mock.patch.object(grade.sandbox, "kind", return_value=(how, "why"))
            with kind, unittest.mock.patch.object(grader, "read", return_value=unread):
                results = grader.grade(self.scratch, lambda _: None, [task])
            no_predictions = "predictions.txt is missing; predictions earn no points"
            self.assertEqual(results.notes, [f"submissions run {said}", "a remark", no_predictions])
            self.assertTrue(results.complete)
            self.assertEqual(results.remark, "a task is missing, and not read: a.cu, b.cu, c.cu")
        for error, failure in ((KeyError("k"), "KeyError: 'k'"), (grade.Environment("full\nof secrets"), "full")):
            with unittest.mock.patch.object(grader, "read", side_effect=error):
                results = grader.grade(self.scratch, lambda _: None, [task])
            self.assertEqual(results.trouble, f"not graded: {failure}; this is the grader's failure, not yours")
            self.assertEqual(results.failure.partition("\n")[0], failure)

    def test_what_points_are_based_on(self) -> None:
        """Kills: points taken over though the course is another one, or not, though only a build or a page is."""
        root = self.scratch / "course"
        read = ("classroom/grade.py", "classroom/tasks/01.score/names", "common/x.h", "simcc/simcc", "tools/lib/x.tsv")
        read = (*read, "01_naive/naive.cu", "common/Makefile")
        left_out = ("classroom/README.md", "common/tests/x.c", "simcc/build/x.py", "tools/x.py", "tests/x.py", "x.py")
        for name in (*read, *left_out):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("0")

        def basis(**changes: object) -> str:
            grader = grade.Grader(self.grader().course, None, self.scratch)
            for name, value in changes.items():
                setattr(grader, name, value)
            with unittest.mock.patch.object(grade, "ROOT", root):
                return grader.basis

        found = [basis()]
        for name in left_out:
            (root / name).write_text("1")
        self.assertEqual(basis(), found[0])
        for name in read:
            (root / name).write_text("1")
            found.append(basis())
        found += [basis(secret="s"), basis(cc="c"), basis(cxx="c"), basis(course=course.Course(ROOT, "k" * 12))]
        with unittest.mock.patch.dict(os.environ, {"GRADE_CPU_SECONDS": "5"}):
            found.append(basis())
        self.assertEqual(len(set(found)), len(read) + 6)
        # So are cases: of a secret, a key and the words of a region. Each has a number that is drawn from all of them.
        grader = grade.Grader(course.Course(ROOT, "a key of mine"), None, self.scratch, "a secret")
        with unittest.mock.patch.object(grader, "judge_of") as judge:
            grader._judge_region(grader.tasks[0], {"01.score": " x\n\t;\n"}, "why")
        cases = casebook.cases_of(grader.cases, "01_naive", "a secreta key of mine", "x ;")
        self.assertEqual([case.line for case in grader.cases if "{seed}" not in case.options], [])
        asked = (grader.tasks[0], {"01.score": " x\n\t;\n"}, cases, "why")
        self.assertEqual(judge.return_value.criteria_of.call_args.args, asked)

    def test_a_row_of_the_table(self) -> None:
        """Kills: a flag that is not raised, or for nobody's sake; a remark that is cut off elsewhere."""
        grader, into = self.grader(), self.scratch / "into"
        into.mkdir()
        table = grade.Table(grader, into, [grade.collect.HandIn("anna", items=["anna"])], grade.Asked())
        (row,) = table.rows
        for late, flags in (
            ("no", []),
            ("", []),
            ("1 day", ["late"]),
            ("2 days", ["late"]),
            ("yes, days not known", ["late"]),
            ("not known", ["late?"]),
        ):
            row.late = ("", "", late)
            self.assertEqual(row.flags, ["not graded", *flags])
        row.hand.remarks, row.hand.is_known, row.is_usable = ["handed in twice: a"], False, False
        flags = ["not on the roster", "handed in twice", "not usable", "not graded", "late?"]
        self.assertEqual(row.flags, flags)
        names = [task.id for task in grader.tasks]
        self.assertIn(f'"not graded yet: {", ".join(names[:3])}, ..."', table.line_of(row))
        for each in row.results.tasks[3:]:
            each.criteria = dict.fromkeys(ALL, verdict.PASSED)
        self.assertIn(f'"not graded yet: {", ".join(names[:3])}"', table.line_of(row))
        damaged = ('{"tasks": [], "rows": [{}], "call": {}}', '{"tasks": [5], "rows": [], "call": {}}')
        for text in ("", "{}", "[]", '{"tasks": [], "rows": []}', *damaged):
            (into / grade.INDEX).write_text(text)
            self.assertEqual(grade.read_index(into), {})

    def test_every_signal_that_ends_a_grading_is_heard(self) -> None:
        """Kills: a grader that leaves its scratch directory and what runs in it. What it then does, CI's suites try."""
        self.addCleanup(os.umask, os.umask(0o022))
        own = (unittest.mock.patch.object(grade, name, return_value=0) for name in ("run", "parse"))
        with unittest.mock.patch.object(grade.signal, "signal") as heard, next(own), next(own):
            self.assertEqual(grade.main(), 0)
        signals = (grade.signal.SIGINT, grade.signal.SIGTERM, grade.signal.SIGHUP)
        self.assertEqual([call.args for call in heard.call_args_list], [(number, grade._stop) for number in signals])

    def test_names_of_results(self) -> None:
        paths = [Path(name) for name in ("a", "a.zip", "b.zip", "b.ZIP", "c.tar.gz", "x" * 300, "x" * 299 + "y")]
        names = grade._names_in(paths)
        self.assertEqual(names[:5], ["a", "a.zip", "b", "b.ZIP", "c"])
        self.assertEqual(names[5:], ["x" * 200, "x" * 200 + "-2"])
        for width, shown in ((10, "01234...cd"), (12, "012345...bcd"), (14, "0123456789abcd")):
            self.assertEqual(grade._shown(["abcdefghij", "0123456789abcd"], width), ["abcdefghij", shown])
        alike = ["0123456789abcd", "01234x6789abcd"]
        self.assertEqual(grade._shown(alike, 10), alike)
        tasks = self.grader().tasks
        self.assertEqual([each.id for each in grade.chosen(tasks, "01.softmax,02.merge")], ["01.softmax", "02.merge"])
        self.assertEqual(grade.chosen(tasks, None), tasks)
        self.assertEqual(grade.chosen(tasks, "03"), grade.chosen(tasks, "03_tiled_matmul"))  # as CHAPTERS= takes it
        self.assertEqual({each.chapter for each in grade.chosen(tasks, "03_tiled_matmul")}, {"03_tiled_matmul"})
        for given, jobs in (("3", 3), ("0", None), ("-1", None), ("x", None), ("²", None), ("", None)):
            with unittest.mock.patch.dict(os.environ, {"GRADE_JOBS": given}):
                self.assertEqual(grade._jobs(), jobs or min(4, len(os.sched_getaffinity(0))))
