"""What a class handed in: every layout from generated archives, the roster, what is late, and how a kill ends nothing.

No kernel is run: regions are judged by a stub, or are refused at once."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import shutil
import struct
import tarfile
import time
import unittest
import unittest.mock
import zipfile
from collections.abc import Iterable
from datetime import datetime, timezone

from hand_ins import TASKS, Collected, collect, packed, region, work
from judge import submission


class Layouts(Collected):
    def of(self, hands: Iterable[collect.HandIn]) -> list[tuple[str, str, str]]:
        return [(hand.platform, hand.student.name, hand.student.id) for hand in hands]

    def test_moodle(self) -> None:
        """In folders, new and old, without folders, of a group; loose files, a text, a zip with two names for one."""
        bulk = {
            "Anna Meyer_101_assignsubmission_file/anna.zip": work(),
            "Zo\u00eb \u00d6zg\u00fcr_102_assignsubmission_file_/fa/01_naive/naive.cu": region("01.score"),
            "Bo_Li_103_assignsubmission_file_a_b.tar.gz": work(kind="tar"),
            "Team 7_104_assignsubmission_file/\u00dcbung/01.softmax.cu": "x = 1;\n",
            "Cy D_105_assignsubmission_onlinetext/onlinetext.html": "<p>my work</p>",
            "Default group_assignsubmission_file/01.score.cu": "y;\n",
        }
        for place in (self.put("bulk.zip", packed(bulk)), self.put("bulk.tar.gz", packed(bulk, "tar"))):
            hands, warnings = self.collect(place)
            self.assertEqual(warnings, [])
            self.assertEqual(self.of(hands), [
                ("Moodle", "Anna Meyer", "101"), ("Moodle", "Bo_Li", "103"), ("Moodle", "Cy D", "105"),
                ("Moodle", "Default group", ""), ("Moodle", "Team 7", "104"),
                ("Moodle", "Zo\u00eb \u00d6zg\u00fcr", "102"),
            ])  # fmt: skip
            found = {}
            for hand in hands:
                with contextlib.suppress(submission.Unusable):
                    found[hand.student.name] = self.read(hand)
            self.assertEqual(found, {
                "Anna Meyer": [*TASKS], "Bo_Li": [*TASKS], "Default group": ["01.score"], "Team 7": ["01.softmax"],
                "Zo\u00eb \u00d6zg\u00fcr": ["01.score"],
            })  # fmt: skip
            with self.assertRaisesRegex(submission.Unusable, "^nothing in it that is read: onlinetext.html"):
                self.read(hands[2])
        # Folders that have entries of their own, one with nothing in it; all of it packed once more on a Mac. Kills: no
        # row for an empty folder, one for what is around it all.
        more = {
            "No One_106_assignsubmission_file/": "",
            "Zo\u00eb \u00d6zg\u00fcr_102_assignsubmission_file_/fa/": "",
            **bulk,
        }
        again = {"all/": "", "__MACOSX/all/._x": "", **{f"all/{name}": content for name, content in more.items()}}
        for files, kind, left_out in ((more, "zip", []), (more, "tar", []), (again, "zip", ["__MACOSX"])):
            found, warnings = self.collect(
                self.put(f"more.{'zip' if kind == 'zip' else 'tar.gz'}", packed(files, kind))
            )
            self.assertEqual([line.partition(":")[0] for line in warnings], left_out)
            none = next(hand for hand in found if hand.student.id == "106")
            self.assertEqual(self.of(each for each in found if each is not none), self.of(hands))
            with self.assertRaisesRegex(submission.Unusable, "^it is empty$"):
                self.read(none)
        for name, content in bulk.items():  # the same, unpacked
            self.put(f"unpacked/{name}", content)
        unpacked, _ = self.collect(self.scratch / "unpacked")
        self.assertEqual(self.of(unpacked), self.of(hands))

    def test_canvas(self) -> None:
        """Files of one student lie beside those of others; names have no blanks, and no flag that says UTF-8."""
        bulk = {
            "meyeranna_12345_67890_fa.zip": work(),
            "liboris_LATE_12346_67891_naive.cu": region("01.score"),
            "liboris_LATE_12346_67892_01.softmax.cu": "x = 1;\n",
            "liboris_LATE_12346_67899_01.softmax-3.cu": "x = 3;\n",  # handed in again
            "\u00f6zg\u00fcrzo\u00eb_12347_text.html": "<p>x</p>",
            "anon_AbC12_67893_fa.zip": work(),
            "LATE_anon_XyZ34_67894_fa.zip": work(),
            "readme.txt": "x",
        }
        plain = packed(bulk)
        content = bytearray(plain)
        for mark, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):  # as Ruby's zip writes it, without the flag
            start = -1
            while (start := content.find(mark, start + 1)) >= 0:
                flags = struct.unpack_from("<H", content, start + at)[0]
                struct.pack_into("<H", content, start + at, flags & ~0x800)
        for place in (self.put("bulk.zip", plain), self.put("ruby.zip", bytes(content))):
            hands, warnings = self.collect(place)
            self.assertEqual(self.of(hands), [
                ("Canvas", "", "anon_XyZ34"), ("Canvas", "", "anon_AbC12"), ("Canvas", "liboris", "12346"),
                ("Canvas", "meyeranna", "12345"), ("Canvas", "\u00f6zg\u00fcrzo\u00eb", "12347"),
            ])  # fmt: skip
            self.assertEqual([hand.is_late for hand in hands], [True, False, True, False, False])
            self.assertEqual([hand.student.canvas for hand in hands], ["", "", "12346", "12345", "12347"])
            self.assertEqual(sorted(self.read(hands[2])), ["01.score", "01.softmax"])
            again = self.grader().read(hands[2])
            self.assertEqual(again.regions["01.softmax"].text, "x = 3;\n")
            both = [f"678{number}/01.softmax{copy}.cu" for number, copy in (("99", "-3"), ("92", ""))]
            says = f"01.softmax: not the same in {both[0]} and {both[1]}; {both[0]} counts"
            self.assertEqual([said for said in again.remarks if "softmax" in said], [says])
            self.assertEqual(self.read(hands[3]), [*TASKS])
            self.assertEqual(warnings, ["readme.txt: left out: expected zips, tar.gz, directories and .cu, not hidden"])

    def test_a_folder_of_any_mixture(self) -> None:
        self.put("in/anna.zip", work())
        self.put("in/bert.tgz", work(kind="tar"))
        self.put("in/carla.TAR.GZ", work(kind="tar"))
        self.put("in/\u00dcbung/fa/01_naive/naive.cu", region("01.score"))
        self.put("in/clone/.git/HEAD", "ref: refs/heads/main\n")
        self.put("in/clone/01_naive/naive.cu", region("01.softmax"))
        self.put("in/01.score.cu", "x = 1;\n")
        for task in ("01.softmax", "01.score"):
            self.put(f"in/dora_{task}.cu", "x = 2;\n")
        for name in ("dora_01.softmax (1)", "gerd-01.score-2"):  # copies
            self.put(f"in/{name}.cu", "x = 3;\n")
        self.put("in/own.cu", region("01.weighted-sum"))
        self.put("in/emil/emil.zip", work())
        for name in (".hidden", "notes.docx", "x.rar", "__MACOSX/a"):
            self.put(f"in/{name}", "x")
        hands, warnings = self.collect(self.scratch / "in")
        self.assertEqual({hand.label: self.read(hand) for hand in hands}, {
            "01.score.cu": ["01.score"], "anna.zip": [*TASKS], "bert.tgz": [*TASKS], "carla.TAR.GZ": [*TASKS],
            "clone": ["01.softmax"], "dora": ["01.softmax", "01.score"], "emil": [*TASKS], "gerd": ["01.score"],
            "own.cu": ["01.weighted-sum"], "\u00dcbung": ["01.score"],
        })  # fmt: skip
        self.assertEqual([line.partition(":")[0] for line in warnings], [".hidden", "__MACOSX", "notes.docx", "x.rar"])
        # a zip of that folder, as it is and with a folder around it
        for around in ("", "handed in/", "of_week_12345_67890_x/"):
            files = {}
            for path in sorted((self.scratch / "in").rglob("*")):
                if path.is_file():
                    files[f"{around}{path.relative_to(self.scratch / 'in')}"] = path.read_bytes()
            for kind in ("zip", "tar.gz"):
                again, _ = self.collect(self.put(f"all{len(around)}.{kind}", packed(files, kind[:3])))
                self.assertEqual(
                    [(each.label, self.read(each)) for each in again], [(each.label, self.read(each)) for each in hands]
                )
        self.put("more/anna_weighted-sum.cu", "x;\n")  # the longest task that fits
        self.put("more/into/results.csv", "old")
        hands, warnings = collect.collect(
            self.scratch / "more", ("sum", "weighted-sum"), (), self.scratch / "more/into"
        )
        self.assertEqual(([hand.label for hand in hands], warnings), (["anna"], ["into: left out: the results"]))
        own = region("01.score")
        for files in ({"a/b.cu": own, "c/b.cu": own}, {"a.zip": work()}, {"a/01_naive/naive.cu": own}):
            hands, _ = self.collect(self.put("few.zip", packed(files)))
            self.assertEqual({hand.label for hand in hands}, {name.partition("/")[0] for name in files})
        with self.assertRaisesRegex(collect.Wrong, "is one submission: 01_naive is in it; SUBMISSION= grades it"):
            self.collect(self.put("one.zip", packed({"01_naive/naive.cu": region("01.score"), "README.md": "x"})))

    def test_two_hand_ins(self) -> None:
        """By the newest file in each; kills: the first one, the last one by its name, silence, another reason than the
        one that decided, one that cannot be used."""
        old, new = work(1, when=(2027, 3, 1, 8, 0, 0)), work(2, when=(2027, 3, 1, 9, 30, 0))
        self.put("in/a/9.zip", new)
        self.put("in/a/10.zip", old)
        self.put("in/b/b.zip", old)
        self.put("in/b/b2.zip", b"no zip")
        self.put("in/c/9.zip", packed({"01.score.cu": "x = 9;"}, when=(1980, 1, 1, 0, 0, 0)))
        self.put("in/c/10.zip", packed({"01.score.cu": "x = 10;"}, when=(1980, 1, 1, 0, 0, 0)))
        self.put("in/c/11.zip", b"no zip")
        self.put("in/d/d.zip", work(4))
        self.put("in/d/predictions.txt", "naive --seq 8: 5\n")
        (a, b, c, d), _ = self.collect(self.scratch / "in")
        self.assertIn("int x = 2", self.grader().read(a).regions["01.score"].text)
        self.assertEqual(a.said, ["handed in twice: 9.zip counts, 10.zip does not (its files are newer)"])
        self.assertEqual(a.newest, time.mktime((2027, 3, 1, 9, 30, 0, 0, 0, -1)))
        self.put("in/a/own.cu", region("01.score"))  # since then
        self.assertEqual((self.read(a), a.said, a.newest), (["01.score"], [], None))
        self.assertEqual(collect._natural(f"a{'9' * 19}"), [(-1, "a"), (10**18 - 1, ""), (-1, "")])
        self.read(b)
        why = "cannot be used: not a zip file (nor a directory)"
        self.assertEqual(b.said, [f"handed in twice: b.zip counts, b2.zip does not ({why})"])
        self.assertIn("x = 10", self.grader().read(c).regions["01.score"].text)
        begin = "handed in twice: 10.zip counts"
        both = [f"{begin}, 9.zip does not (by its name: no time tells)", f"{begin}, 11.zip does not ({why})"]
        self.assertEqual(c.said, both)
        self.assertEqual(list(self.grader().read(d).texts), ["predictions.txt"])
        # Of three, each has its own reason; and so have the hand-ins that a roster brings together.
        self.put("roster/Anna Meyer_55_assignsubmission_file/01.score.cu", "x = 1;")
        for place, name in (("more", "e/{}.zip"), ("roster", "Anna Meyer-{}.zip")):
            for number, content in (
                (1, old),
                (2, new),
                (3, new),
                (4, b"no zip"),
                (5, work(5, when=(1980, 1, 1, 0, 0, 0))),
            ):
                self.put(f"{place}/{name.format(number)}", content)
        (e,), _ = self.collect(self.scratch / "more")
        self.read(e)
        anna, _ = self.collect(self.scratch / "roster")
        for hand in anna:
            hand.student.name = "Anna Meyer"
        (one,) = collect.enroll(anna, [collect.Student("Anna Meyer")])
        self.read(one)
        whys = ("its files are newer", "by its name: no time tells", why, "its time alone is known")
        for said, name in ((e.said, "{}.zip"), (one.remarks, "Anna Meyer-{}.zip")):
            others = [(name.format(number), each) for number, each in zip((1, 2, 4, 5), whys)]
            others = [("Anna Meyer_55_assignsubmission_file", whys[3])] * (said is one.remarks) + others
            begin = f"handed in twice: {name.format(3)} counts, "
            self.assertEqual(sorted(said), sorted(f"{begin}{other} does not ({each})" for other, each in others))

    def test_hostile_archives(self) -> None:
        """Outside as within: what leaves, links, what is damaged, bombs; names of any bytes. Nothing is written."""
        link = zipfile.ZipInfo("Eve_9_assignsubmission_file/x.cu")
        link.external_attr = (0o120777) << 16
        path, huge = self.scratch / "bulk.zip", tarfile.TarInfo("01.score.cu")
        huge.size = 1 << 40
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(link, "/etc/passwd")
            for name, content in (
                ("../../etc/x.zip", work()),
                ("/root.zip", work()),
                ("A_1_assignsubmission_file/a.zip", packed({"../x.cu": "x"})),
                ("B_2_assignsubmission_file/b.tar.gz", gzip.compress(bytes(submission.MOST_ARCHIVE + 1))),
                ("C_3_assignsubmission_file/c.tar.gz", work(kind="tar")[:-40]),
                ("D_4_assignsubmission_file/d.zip", bytes(9)),
                ("E_5_assignsubmission_file/build/x.cu", region("01.score")),
                ("E_5_assignsubmission_file/tests/x.cu", region("01.score")),
                ("F_6_assignsubmission_file/f.zip", work()),
                ("G_7_assignsubmission_file/g.tgz", gzip.compress(huge.tobuf() + bytes(1024))),
                *((f"H_8_assignsubmission_file/{number}.zip", work()) for number in range(21)),
            ):
                archive.writestr(name, content)
        hands, warnings = self.collect(path)
        self.assertEqual(warnings, [
            "../../etc/x.zip: left out: leaves the archive", "/root.zip: left out: leaves the archive",
            "Eve_9_assignsubmission_file/x.cu: left out: is a link, expected files only",
        ])  # fmt: skip
        said = {}
        for hand in hands:
            try:
                said[hand.label] = self.read(hand)
            except submission.Unusable as error:
                said[hand.label] = str(error)
        self.assertEqual(said, {
            "A_1": "refused: '../x.cu' leaves the archive",
            "B_2": f"more than {submission.MOST_ARCHIVE} bytes when it is unpacked",
            "C_3": "a damaged tar.gz file",
            "D_4": "not a zip file (nor a directory)",
            "E_5": "it is empty",
            "F_6": [*TASKS],
            "G_7": "a damaged tar.gz file",
            "H_8": "21 archives in it, expected one, at most 20",
        })  # fmt: skip
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            tar, info = io.BytesIO(), tarfile.TarInfo("01.score.cu")
            info.type, info.linkname = kind, "/etc/passwd"
            with tarfile.open(fileobj=tar, mode="w:gz") as archive:
                archive.addfile(info)
            lone, _ = self.collect(self.put("in/tar.tgz", tar.getvalue()).parent)
            with self.assertRaisesRegex(submission.Unusable, "refused: '01.score.cu' is a link, expected files only"):
                self.read(lone[0])
        self.assertEqual(self.collect(self.put("none.zip", packed({}))), ([], []))
        with unittest.mock.patch.object(submission, "MOST_FILES", 1):  # it is of one student
            bulk = packed({"a.zip": work(), "b.zip": work()}, "tar")
            self.assertEqual(len(self.collect(self.put("bulk.tgz", bulk))[0]), 2)
        for name, content, why in (
            # Python would read a.zip as the whole.
            ("cut.zip", packed({"a.zip": work()})[:-30], "a damaged zip file: its end is missing"),
            ("end.zip", packed({"a.cu": "x"})[:-30], "not a zip file"),
            ("cut.tar.gz", packed({"a.zip": work()}, "tar")[:-30], "a damaged tar.gz file"),
            ("text.txt", b"x", "expected a directory of zips and directories, or a bulk download"),
        ):
            with self.assertRaisesRegex(collect.Wrong, f"SUBMISSIONS=.*{name}: {why}"):
                self.collect(self.put(name, content))
        self.assertEqual(
            {each.name for each in self.scratch.iterdir()},
            {"bulk.zip", "in", "none.zip", "bulk.tgz", "cut.zip", "end.zip", "cut.tar.gz", "text.txt"},
        )

    def test_which_times_may_be_true(self) -> None:
        """Kills: a limit that is off by a second, or is in another century."""
        least, most = (datetime(year, 1, 1, tzinfo=timezone.utc).timestamp() for year in (2000, 2100))
        for times, newest in (
            ((least, most, None, 0.0), None),
            ((least + 1, least), least + 1),
            ((most - 1, least + 1, most), most - 1),
        ):
            entries = [submission.Entry(0, bytes, "", when) for when in times]
            self.assertEqual(collect.newest_of(entries), newest)

    def test_how_large_a_bulk_download_may_be(self) -> None:
        self.assertEqual((collect.MOST_BULK, collect.MOST_IN_BULK), (4 << 30, 200_000))
        path, zipped = self.put("bulk.zip", packed({"a.zip": b"", "b.zip": b""})), "expected at most"
        for name, most, why in (
            ("MOST_BULK", path.stat().st_size - 1, zipped),
            ("MOST_BULK", path.stat().st_size, ""),
            ("MOST_IN_BULK", 1, "more than 1 files"),
            ("MOST_IN_BULK", 2, ""),
        ):
            expected = self.assertRaisesRegex(collect.Wrong, why) if why else contextlib.nullcontext()
            with unittest.mock.patch.object(collect, name, most), expected:
                self.assertEqual(len(self.collect(path)[0]), 2)

    def test_what_is_said_where_nothing_is_read(self) -> None:
        for number in range(4):
            self.put(f"in/anna/{number}{'x' * 20}.txt", "x")
        (hand,), _ = self.collect(self.scratch / "in")
        shown = ", ".join(f"{number}{'x' * 20}.txt" for number in range(3))
        with self.assertRaisesRegex(submission.Unusable, f"^nothing in it that is read: {shown}; expected zip, tar.gz"):
            hand.entries()
        self.put(f"in/anna/{'0' * 110}.txt", "x")
        with self.assertRaisesRegex(submission.Unusable, f"^nothing in it that is read: {'0' * 100}; expected zip"):
            hand.entries()
        self.put("in/anna/0.cu", "x;\n")
        self.put("in/anna/old.zip", work())  # beside sources an archive is not read
        self.assertEqual([name for name in hand.entries() if not name.endswith(".txt")], ["0.cu"])
        for number in range(20):
            self.put(f"in/bo/{number}.zip", work())
        self.assertEqual(self.read(self.collect(self.scratch / "in")[0][1]), [*TASKS])
        pipe = self.scratch / "in/pipe.zip"
        os.mkfifo(pipe)
        hand = self.collect(self.scratch / "in")[0][-1]
        with self.assertRaisesRegex(submission.Unusable, "^neither a directory nor a plain file$"):
            hand.entries()

    def test_every_file_is_a_row_or_a_warning(self) -> None:
        """A property, of folders and archives with names that a seed draws; and a thousand students are no matter."""
        draw = random.Random(48)
        parts = ["anna", "\u00dc", "LATE", "12345", "67890", "_", "_", ".zip", ".cu", ".tar.gz",
                 "_assignsubmission_file", " ", "\u0301", ".", "\x1b[2J", "x" * 60, "01.score"]  # fmt: skip
        names = {"".join(draw.choices(parts, k=draw.randint(1, 7))) for _ in range(1000)} - {".", ".."}
        files = {(f"{name}/{draw.choice('ab')}.cu" if draw.random() < 0.5 else name): b"x" for name in sorted(names)}
        folder = self.scratch / "in"
        for name, content in files.items():
            if len(name.encode()) < 250:
                self.put(f"in/{name}", content)
        begun = time.process_time()
        for place in (folder, self.put("all.zip", packed({n: c for n, c in files.items() if (folder / n).exists()}))):
            hands, warnings = self.collect(place)
            rows = [item for hand in hands for item in hand.items]
            left_out = [line.rpartition(": left out: ")[0] for line in warnings]
            expected = sorted(each.name for each in folder.iterdir())
            self.assertEqual(sorted([*rows, *left_out]), expected)
            self.assertGreater(len(rows), 300)
            self.assertGreater(len(left_out), 50)
        self.assertLess(time.process_time() - begun, 5)


class Rosters(Collected):
    def roster(self, text: str) -> list[collect.Student]:
        return collect.read_roster(self.put("roster.csv", text))

    def test_forms(self) -> None:
        anna = [("Anna Meyer", "m101", "anna@x.org")]
        for text in (
            "name,id,e-mail\nAnna Meyer,m101,anna@x.org\n",
            "\ufeffName;ID;Email\r\nAnna Meyer;m101;anna@x.org\r\n",
            "Anna Meyer,m101,anna@x.org\n\n",
            "Surname\tFirst name\tID number\tEmail address\nMeyer\tAnna\tm101\tanna@x.org",
            "Identifier,Full name,ID number,Email address,Status\nParticipant 77,Anna  Meyer,m101,anna@x.org,-\n",
        ):
            self.assertEqual([(each.name, each.id, each.email) for each in self.roster(text)], anna, text)
            self.assertEqual([each.canvas for each in self.roster(text)], [""])
        self.assertEqual([each.name for each in self.roster("Surname,Given name\nMeyer,Anna\n")], ["Anna Meyer"])
        worksheet = "Identifier,Full name,Email address,Last modified (submission)\n"
        worksheet += "Participant 77,A B,a@x,{}\nParticipant 78,C,c@x,-\n"
        for when in ('"Monday, 1 March 2027, 11:05 PM"', "2027-03-01T23:05"):
            first, second = self.roster(worksheet.format(when))
            self.assertEqual((first.moodle, first.time), ("77", time.mktime((2027, 3, 1, 23, 5, 0, 0, 0, -1))))
            self.assertIsNone(second.time)
        export = "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (5)\n  Points Possible,,,,,10\n"
        export += '"Meyer, Anna",12345,m101,anna,S,\n'
        (student,) = self.roster(export)
        self.assertEqual((student.name, student.canvas, student.email), ("Meyer, Anna", "12345", "anna"))

    def test_a_wrong_roster_is_one_line_with_its_number(self) -> None:
        for text, why in (
            ("name,id\nA,1\nB\n", ":3: 1 fields, expected 2: name, id"),
            ("name,id\nA,1\n,2\n", ":3: no name"),
            ("name,id\nA,1\n\nB,1\n", ":4: id '1' is also that of line 2"),
            ("name,e-mail\nA,a@x\nB,A@X\n", ":3: e-mail 'A@X' is also that of line 2"),
            ("naem,id\nA,1\n", ":1: no column 'name'; expected name, id, e-mail"),
            (
                "Name,ID,Full name\nA,1,B\n",
                ":1: columns 'name', 'full name': expected one of them, since they may differ",
            ),
            ("name,first name\nA,B\n", ":1: columns 'name', 'first name': expected one of them"),
            ("name,student id,id\nA,1,2\n", ":1: columns 'student id', 'id': expected one of them"),
            ('name,id\n"A"x,1\n', ":2: "),
            ("name,handed in\nA,tomorrow\n", ":2: time 'tomorrow', expected one such as 2027-03-01T23:59"),
            ("", ": no student in it; expected lines 'name,id,e-mail'"),
            ("name,id\n", ": no student in it"),
        ):
            with self.subTest(text), self.assertRaises(collect.Wrong) as wrong:
                self.roster(text)
            self.assertIn(f"ROSTER={self.scratch}/roster.csv{why}", str(wrong.exception))
            self.assertNotIn("\n", str(wrong.exception))
        (self.scratch / "roster.csv").write_bytes(b"name\n\xff\n")
        with self.assertRaisesRegex(collect.Wrong, "is not UTF-8"):
            collect.read_roster(self.scratch / "roster.csv")
        os.mkfifo(self.scratch / "pipe")
        said = self.graded(self.scratch, "--roster", str(self.scratch / "pipe"), status=2)  # once it waited forever
        self.assertEqual(said, f"grade: ROSTER={self.scratch}/pipe: is no plain file\n")
        with self.assertRaisesRegex(collect.Wrong, "roster.csv/none: cannot be read: "):
            collect.read_roster(self.scratch / "roster.csv/none")

    def test_who_is_who(self) -> None:
        sheet = (
            "Identifier,Full name\nParticipant 77,Anna A\nParticipant 78,Bo B\n"  # by the platform's own number first
        )
        export = "Student,ID,SIS Login ID\nAnna A,12345,\nBo B,12346,\n"
        for text, name, line in (
            (sheet, "Bo B_77_assignsubmission_file_a.zip", 2),
            (sheet, "Anna A_79_assignsubmission_file_a.zip", 2),
            (sheet, "bob_77_67890_a.zip", 3),
            (export, "bob_12345_67890_a.zip", 2),
            (export, "annaa_12347_67890_a.zip", 2),
            (export, "Bo B_12345_assignsubmission_file_a.zip", 3),
        ):
            hands, _ = self.collect(self.put(f"{line} {name}/{name}", work()).parent)
            found = collect.enroll(hands, self.roster(text))
            self.assertEqual([each.student.line for each in found if each.items], [line], name)
        roster = self.roster(
            'name,id,e-mail\nAnna Meyer,m101,anna@x.org\n"Li, Bo",m102,bo.li@x.org\n'
            "Zo\u00eb Marie \u00d6zg\u00fcr,m103,zoe@x.org\n"
            "Jo Day,m104,jo@x.org\nJo Day,m105,jo2@x.org\nGit Hub,octo-cat,git@x.org\nNo Body,m107,nobody@x.org\n"
            "Short One,x7,s@x.org\nShort Two,Y77,t@x.org\n"
        )
        for name, line in (
            ("Anna Meyer_55_assignsubmission_file_a.zip", 2),
            ("meyeranna_12345_67890_a.zip", 2),
            ("m101.zip", 2),
            ("hw1_m101.zip", 2),
            ("ANNA@x.org.tar.gz", 2),
            ("anna.zip", 2),
            ("Bo Li_101_assignsubmission_file_a.zip", 3),
            ("libo_12345_67890_a.zip", 3),
            ("bo.li.zip", 3),
            ("o\u0308zgu\u0308rzoe\u0308marie_12345_67890_a.zip", 4),
            ("fa-week1-octo-cat.zip", 7),
            ("Jo Dey_assignsubmission_file_a.zip", 0),
            ("Bo m101_7_assignsubmission_file_a.zip", 0),
            ("m10.zip", 0),
            ("Jo Day_5_assignsubmission_file_a.zip", 0),
            ("m104.zip", 5),
            ("Participant_m_101_assignsubmission_file_a.zip", 0),
            ("hw_x7.zip", 0),  # of two letters an ID is no part of a name
            ("x7.zip", 9),
            ("hw-y77.zip", 10),
        ):
            hand = self.collect(self.put(f"{abs(hash(name))}/{name}", work()).parent)[0][0]
            found = collect.enroll([hand], roster)
            self.assertEqual(len(found), len(roster) + (not line), name)
            known = [each.student.line for each in found if each.items and each.is_known]
            self.assertEqual(known, [line] * bool(line), name)
            if not line:
                self.assertRegex(
                    found[-1].remarks[0], "^(not on the roster|fits several on the roster: line 5, line 6)$"
                )

    def test_late_to_the_second(self) -> None:
        """Kills: a day that begins elsewhere, a share that is another one, a clock that is not the one that counts."""
        deadline = collect.Deadline.of("2027-03-01T23:59", "10%/day")
        due = time.mktime((2027, 3, 1, 23, 59, 0, 0, 0, -1))
        self.assertEqual((deadline.due, deadline.percent), (due, 10))
        self.assertEqual(collect.Deadline.of("2027-03-01T23:59", "100%/day").percent, 100)

        def judged(when: float | None, newest: float | None, of: collect.Deadline = deadline, **more: object) -> tuple:
            hand = collect.HandIn("a", **{"items": ["a"], **more})
            hand.student.time, hand.newest = when, newest
            return of.judged(hand)

        for seconds, late, share in (
            (-1, "no", 1),
            (0, "no", 1),
            (1, "1 day", 0.9),
            (86400, "1 day", 0.9),
            (86401, "2 days", 0.8),
            (86400 * 9, "9 days", 0.1),
            (86400 * 10, "10 days", 0),
            (86400 * 11, "11 days", 0),
        ):
            shown = datetime.fromtimestamp(due + seconds).strftime("%Y-%m-%d %H:%M")
            for found, clock in ((judged(due + seconds, 1.0), "roster"), (judged(None, due + seconds), "archive")):
                self.assertEqual(found[:3], (shown, clock, late))
                self.assertAlmostEqual(found[3], share)
        noon, canvas = datetime.fromtimestamp(due).strftime("%Y-%m-%d %H:%M"), {"platform": "Canvas"}
        for found, expected in (
            (judged(due, due, items=[]), ("", "", "", 1)),
            (judged(None, None), ("", "", "not known", 1)),
            (judged(None, due, **canvas), (noon, "Canvas", "no", 1)),
            (judged(None, None, **canvas, is_late=True), ("", "Canvas", "yes, days not known", 1)),
            (judged(due, None, **canvas, is_late=True), (noon, "roster", "no", 1)),
            (judged(due, None, collect.Deadline()), (noon, "roster", "", 1)),
            (judged(None, None, collect.Deadline()), ("", "", "", 1)),
        ):
            self.assertEqual(found, expected)

    def test_the_table(self) -> None:
        """Everyone has a row: absent, unknown, twice."""
        roster = self.put("roster.csv", "name,id,e-mail\nAnna Meyer,m101,a@x\nAbsent One,m102,b@x\nBo Li,m103,c@x\n")
        self.put("in/Anna Meyer_55_assignsubmission_file/a.zip", work(2, when=(2027, 3, 1, 9, 0, 0)))
        self.put("in/m101.zip", work(6, when=(2027, 3, 1, 8, 0, 0)))
        self.put("in/Eve_56_assignsubmission_file/01.score.cu", "int x = 6;\n")
        self.put("in/Eve_56_assignsubmission_file/01.softmax_copy.cu", "int x = 6;\n")
        self.put("in/m103.zip", "broken")
        self.put(f"in/{'x' * 60}.txt", "")
        said = self.graded(self.scratch / "in", "--roster", str(roster), "--only", "01_naive")
        self.assertIn("\nEve_56: not on the roster\n", said)
        self.assertRegex(said, r"(?m)^x{25}\.\.\.x{18}\.txt +left out: expected zips")
        rows = self.rows()
        self.assertEqual([(row["submission"], row["name"], row["id"], row["e-mail"], row["points"]) for row in rows], [
            ("Anna Meyer_55", "Anna Meyer", "m101", "a@x", "4"), ("", "Absent One", "m102", "b@x", "0"),
            ("m103.zip", "Bo Li", "m103", "c@x", "0"), ("Eve_56", "Eve", "56", "", "3"),
        ])  # fmt: skip
        flags = ["handed in twice", "absent", "not usable", "not on the roster"]
        self.assertEqual([row["flags"] for row in rows], flags)
        twice = "handed in twice: Anna Meyer_55_assignsubmission_file counts, m101.zip does not"
        self.assertIn(twice, rows[0]["remark"])
        self.assertEqual(rows[1]["remark"], "not handed in")
        not_read = "a task is missing, and not read: 01.softmax_copy.cu"
        self.assertEqual(rows[3]["remark"], f"{not_read}; not on the roster")
        names = {path.name for path in (self.scratch / "into").glob("*.txt")}
        self.assertEqual(names, {"Anna Meyer_m101.txt", "Absent One_m102.txt", "Bo Li_m103.txt", "Eve_56.txt"})
        self.assertIn("handed in twice", (self.scratch / "into/Anna Meyer_m101.txt").read_text())
        sheet = "Identifier,Full name\nParticipant 55,Anna Meyer\n"
        late = ("--due", "2027-03-01T08:30", "--penalty", "10%/day")
        self.graded(self.scratch / "in", "--roster", str(self.put("sheet.csv", sheet)), *late, into="late")
        grades = [row["Grade"] for row in self.rows("late", "moodle.csv")]
        self.assertEqual(grades, ["3.6", "3"])  # kills: points without what is late
        for points, flags in (("4", "handed in twice"), ("0", "absent")):  # kills: points of a call before
            self.graded(self.scratch / "in", "--roster", str(roster), into="plain")
            row = next(row for row in self.rows("plain") if row["id"] == "m101")
            self.assertEqual((row["points"], row["flags"]), (points, flags))
            shutil.rmtree(self.scratch / "in/Anna Meyer_55_assignsubmission_file", ignore_errors=True)
            (self.scratch / "in/m101.zip").unlink(missing_ok=True)
