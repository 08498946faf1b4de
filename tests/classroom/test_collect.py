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
from datetime import datetime, timezone
from pathlib import Path

from hand_ins import TASKS, Collected, collect, packed, region, work
from judge import submission

SCORE, LOOSE, EVERY = region("01.score"), "x = 1;\n", " ".join(TASKS)
NOT_READ = "nothing in it that is read: {}; expected zip, tar.gz or .cu"
OTHERS = [f"{number}{'x' * 20}.txt" for number in range(4)]
# Platform, student and number of a hand-in; the tasks that are read of it, or why none is; its files.
HAND_INS = (
    # Moodle: in folders, new and old, without folders, of a group; a text; a folder with nothing in it.
    ("Moodle", "Anna Meyer", "101", EVERY, {"Anna Meyer_101_assignsubmission_file/anna.zip": work()}),
    ("Moodle", "Zo\u00eb \u00d6zg\u00fcr", "102", "01.score", {
        "Zo\u00eb \u00d6zg\u00fcr_102_assignsubmission_file_/fa/": "",
        "Zo\u00eb \u00d6zg\u00fcr_102_assignsubmission_file_/fa/01_naive/naive.cu": SCORE,
    }),
    ("Moodle", "Bo_Li", "103", EVERY, {"Bo_Li_103_assignsubmission_file_a_b.tar.gz": work(kind="tar")}),
    ("Moodle", "Team 7", "104", "01.softmax", {"Team 7_104_assignsubmission_file/\u00dcbung/01.softmax.cu": LOOSE}),
    ("Moodle", "Cy D", "105", NOT_READ.format("onlinetext.html"), {
        "Cy D_105_assignsubmission_onlinetext/onlinetext.html": "<p>my work</p>",
    }),
    ("Moodle", "No One", "106", "it is empty", {"No One_106_assignsubmission_file/": ""}),
    ("Moodle", "Default group", "", "01.score", {"Default group_assignsubmission_file/01.score.cu": LOOSE}),
    # Canvas: files of one student lie beside those of others; names have no blanks.
    ("Canvas", "meyeranna", "12345", EVERY, {"meyeranna_12345_67890_fa.zip": work()}),
    ("Canvas, late", "liboris", "12346", "01.score 01.softmax", {
        "liboris_LATE_12346_67891_naive.cu": SCORE,
        "liboris_LATE_12346_67892_01.softmax.cu": LOOSE,
        "liboris_LATE_12346_67899_01.softmax-3.cu": "x = 3;\n",  # handed in again
    }),
    ("Canvas", "\u00f6zg\u00fcrzo\u00eb", "12347", NOT_READ.format("\u00f6zg\u00fcrzo\u00eb_12347_text.html"), {
        "\u00f6zg\u00fcrzo\u00eb_12347_text.html": "<p>x</p>",
    }),
    ("Canvas", "", "anon_AbC12", EVERY, {"anon_AbC12_67893_fa.zip": work()}),
    ("Canvas, late", "", "anon_XyZ34", EVERY, {"LATE_anon_XyZ34_67894_fa.zip": work()}),
    # A folder of any mixture.
    ("", "anna.zip", "", EVERY, {"anna.zip": work()}),
    ("", "bert.tgz", "", EVERY, {"bert.tgz": work(kind="tar")}),
    ("", "carla.TAR.GZ", "", EVERY, {"carla.TAR.GZ": work(kind="tar")}),
    ("", "\u00dcbung", "", "01.score", {"\u00dcbung/fa/01_naive/naive.cu": SCORE}),
    ("", "clone", "", "01.softmax", {"clone/.git/HEAD": "ref: x", "clone/01_naive/naive.cu": region("01.softmax")}),
    ("", "01.score.cu", "", "01.score", {"01.score.cu": LOOSE}),
    ("", "dora", "", "01.score 01.softmax", {
        "dora_01.softmax.cu": LOOSE, "dora_01.score.cu": LOOSE, "dora_01.softmax (1).cu": LOOSE,
    }),
    ("", "gerd", "", "01.score", {"gerd-01.score-2.cu": LOOSE}),  # a copy
    ("", "own.cu", "", "01.weighted-sum", {"own.cu": region("01.weighted-sum")}),
    ("", "emil", "", EVERY, {"emil/emil.zip": work()}),
    ("", "four", "", NOT_READ.format(", ".join(OTHERS[:3])), {f"four/{name}": "x" for name in OTHERS}),
    ("", "long", "", NOT_READ.format("0" * 100), {f"long/{'0' * 110}.txt": "x"}),
)  # fmt: skip
LEFT_OUT = (".hidden", "notes.docx", "readme.txt", "x.rar", "__MACOSX/a")


def without_flag(archive: bytes) -> bytes:
    """As Ruby's zip writes it: no flag says that names are UTF-8."""
    content = bytearray(archive)
    for mark, at in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        start = -1
        while (start := content.find(mark, start + 1)) >= 0:
            flags = struct.unpack_from("<H", content, start + at)[0]
            struct.pack_into("<H", content, start + at, flags & ~0x800)
    return bytes(content)


class Layouts(Collected):
    def read_or_why(self, hand: collect.HandIn) -> str:
        """The tasks that are read of it, or why none is."""
        try:
            return " ".join(sorted(self.read(hand)))
        except submission.Unusable as error:
            return str(error)

    def expect_hand_ins(self, place: Path) -> None:
        hands, warnings = self.collect(place)
        found = []
        for hand in hands:
            student, late = hand.student, ", late" * hand.is_late
            who = student.name if hand.platform else hand.label
            found.append((f"{hand.platform}{late}", who, student.id, self.read_or_why(hand)))
            own = "" if student.id.startswith("anon_") else student.id
            numbers = {"Moodle": (own, ""), "Canvas": ("", own), "": ("", "")}[hand.platform]
            self.assertEqual((student.moodle, student.canvas), numbers)
        self.assertEqual(sorted(found), sorted(each[:4] for each in HAND_INS), place)
        why = "left out: expected zips, tar.gz, directories and .cu, not hidden"
        names = (name.partition("/")[0] for name in LEFT_OUT)
        self.assertEqual(sorted(warnings), sorted(f"{name}: {why}" for name in names))

    def test_every_layout(self) -> None:
        """Packed, with and without a folder around it all, as a Mac does it, too; and unpacked. Kills: no row for an
        empty folder, one for what is around."""
        files = {name: content for *_, own in HAND_INS for name, content in own.items()}
        files.update(dict.fromkeys(LEFT_OUT, "x"))
        for around in ("", "handed in/", "of_week_12345_67890_x/"):
            more = {"": {}, "handed in/": {"handed in/": "", "__MACOSX/handed in/._x": ""}}.get(around, {})
            bulk = {**more, **{f"{around}{name}": content for name, content in files.items()}}
            zipped = packed(bulk)
            for name, content in (("a.zip", zipped), ("a.tgz", packed(bulk, "tar")), ("r.zip", without_flag(zipped))):
                self.expect_hand_ins(self.put(name, content))
        for name, content in files.items():
            if name.endswith("/"):
                (self.scratch / "in" / name).mkdir(parents=True)
            else:
                self.put(f"in/{name}", content)
        self.expect_hand_ins(self.scratch / "in")
        boris = next(hand for hand in self.collect(self.scratch / "in")[0] if hand.student.name == "liboris")
        again = self.grader().read(boris)
        self.assertEqual(again.regions["01.softmax"].text, "x = 3;\n")
        both = [f"678{number}/01.softmax{copy}.cu" for number, copy in (("99", "-3"), ("92", ""))]
        says = f"01.softmax: not the same in {both[0]} and {both[1]}; {both[0]} counts"
        self.assertEqual([said for said in again.remarks if "softmax" in said], [says])

    def test_what_is_around_and_what_is_no_hand_in(self) -> None:
        self.put("more/anna_weighted-sum.cu", "x;\n")  # the longest task that fits
        self.put("more/into/results.csv", "old")
        tasks, into = ("sum", "weighted-sum"), self.scratch / "more/into"
        hands, warnings = collect.collect(self.scratch / "more", tasks, (), into)
        self.assertEqual(([hand.label for hand in hands], warnings), (["anna"], ["into: left out: the results"]))
        for files, labels in (
            ({"a/b.cu": SCORE, "c/b.cu": SCORE}, {"a", "c"}),
            ({"a.zip": work()}, {"a.zip"}),
            ({"a/01_naive/naive.cu": SCORE}, {"a"}),
            ({"A B_1_assignsubmission_file/a.zip": work()}, {"A B_1"}),
        ):
            hands, _ = self.collect(self.put("few.zip", packed(files)))
            self.assertEqual({hand.label for hand in hands}, labels)
        with self.assertRaisesRegex(collect.Wrong, "is one submission: 01_naive is in it; SUBMISSION= grades it"):
            self.collect(self.put("one.zip", packed({"01_naive/naive.cu": SCORE, "README.md": "x"})))

    def test_two_hand_ins(self) -> None:
        """By the newest file in each, in one folder, or as several that a roster brings together; kills: the first
        one, the last one by its name, silence, another reason than the one that decided, one that cannot be used."""
        old, new = work(1, when=(2027, 3, 1, 8, 0, 0)), work(2, when=(2027, 3, 1, 9, 30, 0))
        undated, broken = (1980, 1, 1, 0, 0, 0), "cannot be used: not a zip file (nor a directory)"
        newer, by_name, alone = "its files are newer", "by its name: no time tells", "its time alone is known"
        for number, (files, counts, text, others) in enumerate((
            ({"9.zip": new, "10.zip": old}, "9.zip", "x = 2", {"10.zip": newer}),
            ({"b.zip": old, "b2.zip": b"no zip"}, "b.zip", "x = 1", {"b2.zip": broken}),
            (
                {"9.zip": work(9, when=undated), "10.zip": work(10, when=undated), "11.zip": b"no zip"},
                "10.zip", "x = 10", {"9.zip": by_name, "11.zip": broken},
            ),
            (  # of several, each has its own reason
                {"1.zip": old, "2.zip": new, "3.zip": new, "4.zip": b"no zip", "5.zip": work(5, when=undated)},
                "3.zip", "x = 2", {"1.zip": newer, "2.zip": by_name, "4.zip": broken, "5.zip": alone},
            ),
        )):  # fmt: skip
            for name, content in files.items():
                self.put(f"in{number}/a/{name}", content)
                self.put(f"roster{number}/Anna Meyer-{name}", content)
            (one,), _ = self.collect(self.scratch / f"in{number}")
            several, _ = self.collect(self.scratch / f"roster{number}")
            for hand in several:
                hand.student.name = "Anna Meyer"
            (together,) = collect.enroll(several, [collect.Student("Anna Meyer")])
            for hand, form in ((one, "{}"), (together, "Anna Meyer-{}")):
                self.assertIn(f"int {text};", self.grader().read(hand).regions["01.score"].text)
                begin = f"handed in twice: {form.format(counts)} counts, "
                said = [f"{begin}{form.format(other)} does not ({why})" for other, why in others.items()]
                self.assertEqual(hand.said + hand.remarks, said)
        self.assertEqual(one.newest, time.mktime((2027, 3, 1, 9, 30, 0, 0, 0, -1)))
        self.put(f"in{number}/a/own.cu", SCORE)  # since then: beside sources an archive is not read
        self.assertEqual((self.read(one), one.said, one.newest), (["01.score"], [], None))
        self.assertEqual(collect._natural(f"a{'9' * 19}"), [(-1, "a"), (10**18 - 1, ""), (-1, "")])
        self.put("with/d/d.zip", work(4))
        self.put("with/d/predictions.txt", "naive --seq 8: 5\n")
        self.assertEqual(list(self.grader().read(self.collect(self.scratch / "with")[0][0]).texts), ["predictions.txt"])
        # The times of a bulk download are its own, and tell nothing.
        first, second = "Anna Meyer_55_assignsubmission_file", "Anna Meyer_54_assignsubmission_file"
        bulk = packed({f"{first}/01.score.cu": LOOSE, f"{second}/a.zip": old}, when=(2028, 1, 1, 0, 0, 0))
        roster = [collect.Student("Anna Meyer", moodle="99")]
        (anna,) = collect.enroll(self.collect(self.put("bulk.zip", bulk))[0], roster)
        self.assertEqual(anna.remarks, [f"handed in twice: {second} counts, {first} does not ({alone})"])
        self.assertEqual(anna.student.moodle, "99")

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
                *((f"I_9_assignsubmission_file/{number}.zip", work()) for number in range(20)),
            ):
                archive.writestr(name, content)
        hands, warnings = self.collect(path)
        self.assertEqual(warnings, [
            "../../etc/x.zip: left out: leaves the archive", "/root.zip: left out: leaves the archive",
            "Eve_9_assignsubmission_file/x.cu: left out: is a link, expected files only",
        ])  # fmt: skip
        self.assertEqual({hand.label: self.read_or_why(hand) for hand in hands}, {
            "A_1": "refused: '../x.cu' leaves the archive",
            "B_2": f"more than {submission.MOST_ARCHIVE} bytes when it is unpacked",
            "C_3": "a damaged tar.gz file",
            "D_4": "not a zip file (nor a directory)",
            "E_5": "it is empty",
            "F_6": EVERY,
            "G_7": "a damaged tar.gz file",
            "H_8": "21 archives in it, expected one, at most 20",
            "I_9": EVERY,
        })  # fmt: skip
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            tar, info = io.BytesIO(), tarfile.TarInfo("01.score.cu")
            info.type, info.linkname = kind, "/etc/passwd"
            with tarfile.open(fileobj=tar, mode="w:gz") as archive:
                archive.addfile(info)
            lone, _ = self.collect(self.put("in/tar.tgz", tar.getvalue()).parent)
            self.assertEqual(self.read_or_why(lone[0]), "refused: '01.score.cu' is a link, expected files only")
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
        anna, when = ("Anna Meyer", "m101", "anna@x.org", "", "", None), time.mktime((2027, 3, 1, 23, 5, 0, 0, 0, -1))
        of_export = ("Meyer, Anna", "12345", "anna", "", "12345", None)
        export = "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (5)\n  Points Possible,,,,,10\n"
        worksheet = "Identifier,Full name,ID number,Email address,Status,Last modified (submission)\n"
        worksheet += "Participant 77,Anna  Meyer,m101,anna@x.org,-,{}\nParticipant 78,C,,c@x,-,-\n"
        of_worksheet = [(*anna[:3], "77", "", when), ("C", "", "c@x", "78", "", None)]
        for text, expected in (
            ("name,id,e-mail\nAnna Meyer,m101,anna@x.org\n", [anna]),
            ("\ufeffName;ID;Email\r\nAnna Meyer;m101;anna@x.org\r\n", [anna]),
            ("Anna Meyer,m101,anna@x.org\n\n", [anna]),
            ("Surname\tFirst name\tID number\tEmail address\nMeyer\tAnna\tm101\tanna@x.org", [anna]),
            ("Surname,Given name\nMeyer,Anna\n", [("Anna Meyer", "", "", "", "", None)]),
            (worksheet.format('"Monday, 1 March 2027, 11:05 PM"'), of_worksheet),
            (worksheet.format("2027-03-01T23:05"), of_worksheet),
            (f'{export}"Meyer, Anna",12345,m101,anna,S,\n', [of_export]),
        ):
            found = self.roster(text)
            self.assertEqual([(s.name, s.id, s.email, s.moodle, s.canvas, s.time) for s in found], expected, text)

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
        """By the platform's own number first; by the line of the roster, or nobody's."""
        sheet = "Identifier,Full name\nParticipant 77,Anna A\nParticipant 78,Bo B\n"
        export = "Student,ID,SIS Login ID\nAnna A,12345,\nBo B,12346,\n"
        people = (
            'name,id,e-mail\nAnna Meyer,m101,anna@x.org\n"Li, Bo",m102,bo.li@x.org\n'
            "Zo\u00eb Marie \u00d6zg\u00fcr,m103,zoe@x.org\n"
            "Jo Day,m104,jo@x.org\nJo Day,m105,jo2@x.org\nGit Hub,octo-cat,git@x.org\nNo Body,m107,nobody@x.org\n"
            "Short One,x7,s@x.org\nShort Two,Y77,t@x.org\n"
        )
        nobody, several = "not on the roster", "fits several on the roster: line 5, line 6"
        for number, (text, name, of) in enumerate((
            (sheet, "Bo B_77_assignsubmission_file_a.zip", 2),
            (sheet, "Anna A_79_assignsubmission_file_a.zip", 2),
            (sheet, "bob_77_67890_a.zip", 3),
            (export, "bob_12345_67890_a.zip", 2),
            (export, "annaa_12347_67890_a.zip", 2),
            (export, "Bo B_12345_assignsubmission_file_a.zip", 3),
            (people, "Anna Meyer_55_assignsubmission_file_a.zip", 2),
            (people, "meyeranna_12345_67890_a.zip", 2),
            (people, "m101.zip", 2),
            (people, "hw1_m101.zip", 2),
            (people, "ANNA@x.org.tar.gz", 2),
            (people, "anna.zip", 2),
            (people, "Bo Li_101_assignsubmission_file_a.zip", 3),
            (people, "libo_12345_67890_a.zip", 3),
            (people, "bo.li.zip", 3),
            (people, "o\u0308zgu\u0308rzoe\u0308marie_12345_67890_a.zip", 4),
            (people, "fa-week1-octo-cat.zip", 7),
            (people, "Jo Dey_assignsubmission_file_a.zip", nobody),
            (people, "Bo m101_7_assignsubmission_file_a.zip", nobody),
            (people, "m10.zip", nobody),
            (people, "Jo Day_5_assignsubmission_file_a.zip", several),
            (people, "m104.zip", 5),
            (people, "Participant_m_101_assignsubmission_file_a.zip", nobody),
            (people, "hw_x7.zip", nobody),  # of two letters an ID is no part of a name
            (people, "x7.zip", 9),
            (people, "hw-y77.zip", 10),
        )):  # fmt: skip
            (hand,), _ = self.collect(self.put(f"{number}/{name}", work()).parent)
            roster = self.roster(text)
            found = collect.enroll([hand], roster)
            (mine,) = (each for each in found if each.items)
            self.assertEqual(mine.student.line if mine.is_known else mine.remarks[0], of, name)
            self.assertEqual(len(found), len(roster) + (not mine.is_known))

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
