"""A term of a class: what the results keep, whatever ends the grading, and what the learning platforms get.

No kernel is run: the judge is a stub."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

from grading import ROOT, run
from hand_ins import TASKS, Collected, collect, packed, region, work

ROSTER = "name,id,e-mail\nAnna Meyer,m101,a@x.org\nBo Li,m102,b@x.org\nAbsent One,m103,c@x.org\n"


class Term(Collected):
    def judged(self) -> list[str]:
        """What was judged since the last call."""
        path = self.scratch / "judged"
        found = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return found

    def setUp(self) -> None:
        super().setUp()
        os.environ["JUDGED"] = str(self.scratch / "judged")
        self.addCleanup(os.environ.pop, "JUDGED")

    def files(self, into: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.scratch / into).iterdir() if path.name[0] != "."}

    def column(self, *names: str, into: str = "into") -> list[tuple[str, ...]]:
        return [tuple(row[name] for name in names) for row in self.rows(into)]

    def test_a_kill_at_any_moment(self) -> None:
        """The same files, byte by byte; kills: a file that is half written, another hand-in's points, all once more."""
        draw = random.Random()
        seed = draw.randrange(1 << 30)
        draw.seed(seed)
        for number in range(30):
            text = "".join(region(task, draw.randint(0, 6), "y" * (number + 1)) for task in TASKS)
            self.put(f"in/S{number:02} T_{number + 100}_assignsubmission_file/naive.cu", text)
        self.put("in/broken.zip", "x")
        command = ("--only", "01_naive", "--due", "2027-03-01T23:59", "--penalty", "10%/day")
        self.graded(self.scratch / "in", *command, into="whole")
        total = len(self.judged())
        self.assertEqual(total, 90)
        whole = self.files("whole")
        again = [*self.stub(0.01), "--submissions", self.scratch / "in", "--results", self.scratch / "into", *command]
        started = []
        for attempt in range(5):
            resume = ["--resume"] if attempt else []
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            running = subprocess.Popen([*map(str, again), *resume], env={**os.environ, "GRADE_JOBS": "1"}, **quiet)
            while running.poll() is None and not (self.scratch / "judged").exists():
                time.sleep(0.01)
            time.sleep(draw.random() * 0.15)
            running.send_signal(signal.SIGKILL if attempt % 2 else signal.SIGINT)
            running.wait()
            started.append(len(self.judged()))
        self.assertTrue(started[0] and sum(started) <= total + 15, f"seed {seed}: {started}")
        self.graded(self.scratch / "in", *command, "--resume")
        self.assertLessEqual(sum(started) + len(self.judged()), total + 15, f"seed {seed}: nothing was taken over")
        self.assertEqual(self.files("into"), whole, f"seed {seed}")
        self.graded(self.scratch / "in", "--only", "01_naive", "--resume")  # asked for as before
        self.assertEqual((self.files("into"), self.judged()), (whole, []))
        # Other bytes of one student, and another class.
        self.put("in/S07 T_107_assignsubmission_file/naive.cu", "".join(region(task, 6) for task in TASKS))
        self.graded(self.scratch / "in", "--only", "01_naive", "--resume")
        self.assertEqual(sorted(self.judged()), [*TASKS])
        self.assertEqual(self.rows()[7]["points"], "10")
        self.graded(self.scratch / "in", "--only", "01_naive", "--resume", "--key", "a key of another class")
        self.assertEqual(len(self.judged()), total)

    def test_only_joins_and_regrade_is_of_one(self) -> None:
        """Week by week, by the roster, since Moodle's number is another one in every assignment."""
        roster = self.put("roster.csv", ROSTER)
        first = {"Anna Meyer_1_assignsubmission_file/a.zip": work(6), "Bo Li_2_assignsubmission_file/a.zip": work(2)}
        with_roster = ("--roster", str(roster))
        self.graded(self.put("one.zip", packed(first)), *with_roster, "--only", "01_naive")
        self.assertEqual(self.column("points", "of"), [("10", "10"), ("4", "10"), ("0", "10")])
        second = {
            "Bo Li_31_assignsubmission_file/b.zip": packed({"02.stream.cu": "x = 6;\n", "01.score.cu": "x = 6;\n"}),
            "Absent One_33_assignsubmission_file/b.zip": packed({"02.stream.cu": "x = 4;\n"}),
        }
        two = self.put("two.zip", packed(second))
        self.judged()
        self.graded(two, *with_roster, "--only", "02.stream")
        self.assertEqual(self.judged(), ["02.stream"] * 2)
        most = next(task.points for task in self.grader().tasks if task.id == "02.stream")
        rows = self.rows()
        self.assertEqual([row["01.score"] for row in rows], ["3", "1.2", "0"])
        self.assertEqual([row["02.stream"] for row in rows], ["0", f"{most:g}", f"{round(most * 0.75, 2):g}"])
        self.assertEqual([row["of"] for row in rows], [f"{10 + most:g}"] * 3)
        self.assertEqual([row["flags"] for row in rows], ["absent", "", ""])
        # Kills: the points of all weeks in a file that is uploaded to the assignment of one.
        grades = {name: self.rows(file=f"{name}.csv") for name in ("moodle", "canvas")}
        self.assertEqual([row["Grade"] for row in grades["moodle"]], ["", f"{most:g}", f"{round(most * 0.75, 2):g}"])
        self.assertEqual({row["Maximum Grade"] for row in grades["moodle"]}, {f"{most:g}"})
        canvas = [row["FlashAttention: 02_online_softmax"] for row in grades["canvas"]]
        self.assertEqual(canvas, [f"{most:g}", *(row["Grade"] for row in grades["moodle"])])
        for row, name in zip(rows, ("Anna Meyer_m101", "Bo Li_m102", "Absent One_m103")):
            page = (self.scratch / f"into/{name}.txt").read_text()
            self.assertIn(f"{row['points']}/{row['of']}", page)
            self.assertNotRegex(page, r"(?m)^note:$")
            whole = json.loads((self.scratch / f"into/{name}.json").read_text())
            self.assertEqual(f"{whole['score']:g}", row["points"])
            self.assertEqual([each["number"] for each in whole["tests"]], [*TASKS, "02.stream"])
        # One of them again: the others keep what they have, though their bytes are others now.
        second["Bo Li_31_assignsubmission_file/b.zip"] = packed({"02.stream.cu": "x = 1;\n"})
        second["Absent One_33_assignsubmission_file/b.zip"] = packed({"02.stream.cu": "x = 1;\n"})
        two = self.put("two.zip", packed(second))
        for name in ("bo li", "M102", "Bo Li_31", "b@x.org"):
            self.graded(two, "--regrade", name, "--only", "02.stream")
            self.assertEqual(self.judged(), ["02.stream"], name)
        rows = self.rows()
        self.assertEqual([row["02.stream"] for row in rows], ["0", f"{most * 0.15:g}", f"{round(most * 0.75, 2):g}"])
        self.assertEqual([row["01.score"] for row in rows], ["3", "1.2", "0"])
        for name in ("nobody", "Anna Meyer"):
            said = self.graded(two, "--regrade", name, status=2)
            self.assertRegex(said, f"^grade: REGRADE={name}: nobody of that name handed in; expected a name, an ID or")
        for more in (("--regrade", "bo li"), ("--only", "02.stream")):
            said = self.graded(two, *more, "--key", "a key of another class", status=2)
            self.assertRegex(said, "grade: RESULTS=.*/into: these results are of another KEY= than this call; nothing")
        self.assertEqual((self.rows(), self.judged()), (rows, []))
        # Kills: what cannot be read this week hides the points of the others.
        broken = self.put("broken.zip", packed({"Bo Li_51_assignsubmission_file/b.zip": b"PK, and no zip"}))
        self.graded(broken, *with_roster, "--only", "03_tiled_matmul")
        self.assertEqual([self.rows()[1][name] for name in ("01.score", "flags")], ["1.2", "not usable"])
        page = json.loads((self.scratch / "into/Bo Li_m102.json").read_text())["output"]
        self.assertRegex(page, r"(?s)01\.score +ok .* 4\.6/26\n.*note: not graded: SUBMISSION=")

    def test_what_is_said_of_a_hand_in_stays(self) -> None:
        """Kills: a flag or a remark that is gone when another student is graded again, or when a week is joined."""
        self.put("in/anna.zip", work(6))
        self.put("in/bo.zip", "no zip")
        self.put("in/cy.zip", packed({"01.score.cu": "x = 6;", "class.tsv": "01_naive\twindow\t11\n"}))
        self.put("in/dora_02.stream.cu", "x = 6;")
        self.put("in/eve_01.score.cu", "int  x = 6; // what anna has\n")
        self.graded(self.scratch / "in", "--only", "01_naive")
        self.assertEqual(sorted(self.judged()), sorted([*TASKS, "01.score"]))  # equal regions are judged once
        rows, said = self.rows(), self.column("submission", "flags")
        flags = {"anna.zip": "", "bo.zip": "not usable", "cy.zip": "another class?", "dora": "", "eve": ""}
        self.assertEqual(dict(said), flags)
        self.graded(self.scratch / "in", "--regrade", "anna")
        self.assertEqual((self.rows(), sorted(self.judged())), (rows, [*TASKS]))
        for name, begin in (("bo", "not graded: SUBMISSION="), ("anna", "task ")):
            self.assertTrue(json.loads((self.scratch / f"into/{name}.json").read_text())["output"].startswith(begin))
        self.assertRegex(self.graded(self.scratch / "in", "--only", "02.stream"), r"(?m)^bo +0/14  not usable$")
        self.assertEqual(dict(self.column("submission", "flags")), flags)
        self.assertIn("not a zip file", self.rows()[1]["remark"])

    def test_hand_ins_that_join_leave_the_others(self) -> None:
        """Without a roster: of a folder with one hand-in more, of the same task."""
        self.put("in/anna.zip", work(6))
        self.put("more/bo.zip", work(2))
        self.graded(self.scratch / "in", "--only", "01_naive")
        page = self.files("into")["anna.txt"]
        self.graded(self.scratch / "more", "--only", "01.score")
        rows = {row["submission"]: row for row in self.rows()}
        said = [rows["anna.zip"][name] for name in ("points", "flags", "remark")]
        self.assertEqual((said, self.files("into")["anna.txt"]), (["10", "absent", "not handed in again"], page))
        self.assertEqual(rows["bo.zip"]["01.score"], "1.2")
        bo = rows["bo.zip"]  # who handed in nothing, or was not graded yet: that is not known
        self.assertEqual((bo["01.softmax"], bo["points"], bo["flags"]), ("", "", "not graded"))
        self.assertEqual(bo["remark"], "not graded yet: 01.softmax, 01.weighted-sum")

    def test_each_variable_of_make_reaches_it(self) -> None:
        """Kills: one that grade.mk does not hand on. The regions are refused, so that no judge is built."""
        roster = self.put("ro ster.csv", ROSTER)
        refused = packed({"01.score.cu": "goto x;\n"}, when=(2027, 3, 3, 1, 0, 0))
        bulk = self.put("bulk.zip", packed({"Anna Meyer_1_assignsubmission_file/a.zip": refused}))
        make = ("make", "-s", "-C", ROOT, "grade", f"SUBMISSIONS={bulk}", f"RESULTS={self.scratch / 'into'}")
        given = ("DUE=2027-03-01T23:59", "PENALTY=10%/day", "ASSIGNMENT=Week 1, a'b (5)", "ONLY=01.score", "RESUME=1")
        done = run(*make, f"ROSTER={roster}", *given)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            self.column("name", "late", "flags")[::2], [("Anna Meyer", "2 days", "late"), ("Absent One", "", "absent")]
        )
        self.assertIn(',"Week 1, a\'b (5)"\n', (self.scratch / "into/canvas.csv").read_text())
        call = json.loads((self.scratch / "into/.students").read_text())["call"]
        self.assertEqual(call["penalty"], "10%/day")
        done = run(*make, "REGRADE=nobody")
        self.assertRegex(done.stderr, "^grade: REGRADE=nobody: nobody of that name handed in")
        # Kills: one that is ignored without a word, or refused by a line that does not say what was wrong.
        of_one = "is of one submission, SUBMISSIONS= of a class; expected one of both"
        for words, said in (
            (("RESUME=yes",), "argument --resume: invalid choice: 'yes'"),
            ((f"SUBMISSION={bulk}",), f"SUBMISSION= {of_one}"),
            (("REQUIRE=50",), f"REQUIRE= {of_one}"),
            (("JUNIT=x.xml",), f"JUNIT= {of_one}"),
            ((given[0], "PENALTY=-5%"), "PENALTY=-5%: expected a part of the points, for example 10%/day"),
            *(
                ((f"{name}=",), rf"{name}= \(--{name.lower()}\) is empty; expected a value, or not this option")
                for name in ("ASSIGNMENT", "DUE", "ONLY", "PENALTY", "REGRADE", "ROSTER", "SUBMISSION", "SUBMISSIONS")
            ),
        ):
            done = run(*make, *words)
            self.assertRegex(done.stderr, rf"^grade: {said}[^\n]*\nmake: [^\n]*Error 2\n$", words)
        for percent in ("abc", "1000", "-1", "nan", "100.5", "٣"):
            done = run(*make[:-2], f"REQUIRE={percent}")
            said = f"REQUIRE={percent}: expected a part of the points in percent, 0 to 100"
            self.assertRegex(done.stderr, rf"^grade: {said}\nmake: [^\n]*Error 2\n$")

    def test_moodle_and_canvas(self) -> None:
        """The files as their importers read them, from the same rules: no column is to be edited."""
        long = "12345678901234567890123"
        bulk = {"Anna Meyer_101_assignsubmission_file/a.zip": work(6), "Bo Li_102_assignsubmission_file/a.zip": work(2)}
        moodle = self.put("bulk.zip", packed(bulk))
        self.put("canvas/meyeranna_12345_67890_a.zip", work(6))
        canvas = self.put(f"canvas/libo_{long}_67891_a.zip", work(2)).parent
        roster = ("--roster", str(self.put("roster.csv", ROSTER)), "--assignment", "Week 1 (5)")
        export = self.put("export.csv", "Student,ID,SIS User ID,SIS Login ID\nAnna Meyer,12345,m1,anna\n")
        sheet = "Identifier,Full name,ID number,Email address,Grade,Maximum Grade,Last modified (grade)"
        # What Canvas's importer looks for, lib/gradebook_importer.rb: header?, update_column_count, process_pp.
        title, most = "Student,ID,SIS User ID,SIS Login ID,Section,", "Points Possible,,,,,10"
        own = f"{title}FlashAttention: 01_naive"
        for place, options, of_moodle, of_canvas in (
            (moodle, (), [sheet, "Participant 101,Anna Meyer,,,10,10,", "Participant 102,Bo Li,,,4,10,"], None),
            (moodle, roster, [
                sheet, "Participant 101,Anna Meyer,m101,a@x.org,10,10,", "Participant 102,Bo Li,m102,b@x.org,4,10,",
                ",Absent One,m103,c@x.org,,10,",
            ], [
                f"{title}Week 1 (5)", most, "Anna Meyer,,m101,a@x.org,,10",
                "Bo Li,,m102,b@x.org,,4", "Absent One,,m103,c@x.org,,",
            ]),
            (canvas, (), None, [
                own, most, f"libo,{long},,,,4", "meyeranna,12345,,,,10",
            ]),
            (canvas, ("--roster", str(export)), [sheet, ",Anna Meyer,12345,anna,10,10,"], [
                own, most, "Anna Meyer,12345,,anna,,10",
                f"libo,{long},,,,4",
            ]),
        ):  # fmt: skip
            into = f"of {place.stem}"  # with what is there of the call before
            for name in ("moodle.csv", "canvas.csv"):
                self.put(f"{into}/{name}", "of another call")
            self.graded(place, "--only", "01_naive", *options, into=into)
            for name, expected in (("moodle.csv", of_moodle), ("canvas.csv", of_canvas)):
                path = self.scratch / into / name
                self.assertEqual(path.read_text().splitlines() if path.exists() else None, expected)

    def test_late(self) -> None:
        """By the roster's time, Canvas's mark, the archive's files, or not known; and what a day costs. The rules are
        test_collect's."""
        self.put("in/late.zip", work(6, when=(2027, 3, 2, 0, 1, 0)))
        self.put("in/later.tgz", work(6, kind="tar", when=(2027, 3, 3, 0, 1, 0)))
        self.put("in/tree/01_naive/naive.cu", "".join(region(task, 6) for task in TASKS))
        self.put("in/libo_LATE_12346_67891_a.zip", work(6))
        roster = self.put("roster.csv", "name,handed in\nBy Roster,2027-03-02T12:00\n")
        self.put("in/By Roster.zip", work(6, when=(2027, 3, 1, 8, 0, 0)))
        options = ("--only", "01_naive", "--roster", str(roster), "--due", "2027-03-01T23:59")
        self.graded(self.scratch / "in", *options, "--penalty", "10%/day")
        rows = sorted(self.column("submission", "clock", "late", "points", "final", "flags"))
        self.assertEqual(rows, [
            ("By Roster.zip", "roster", "1 day", "10", "9", "late"),
            ("late.zip", "archive", "1 day", "10", "9", "not on the roster, late"),
            ("later.tgz", "archive", "2 days", "10", "8", "not on the roster, late"),
            ("libo_12346", "Canvas", "yes, days not known", "10", "10", "not on the roster, late"),
            ("tree", "", "not known", "10", "10", "not on the roster, late?"),
        ])  # fmt: skip
        page = " ".join((self.scratch / "into/later.txt").read_text().split())
        self.assertIn("handed in 2 days late, 2027-03-03 00:01 by the archive: 8 of 10 points stay", page)
        self.graded(self.scratch / "in", "--regrade", "late")  # kills: others that get back what they lost
        again = sorted(self.column("submission", "clock", "late", "points", "final", "flags"))
        self.assertEqual(again, rows)
        for due, penalty, why in (
            ("2027-03-01", None, "DUE=2027-03-01: expected a date and a time, for example 2027-03-01T23:59"),
            ("tomorrow", None, "DUE=tomorrow: expected a date and a time"),
            (None, "10%/day", "PENALTY= needs DUE="),
            ("2027-03-01T23:59", "10", "PENALTY=10: expected a part of the points, for example 10%/day"),
            ("2027-03-01T23:59", "101%/day", "PENALTY=101%/day: expected a part"),
            ("2027-03-01T23:59", "٣%/day", "PENALTY=٣%/day: expected a part"),
        ):
            with self.assertRaises(collect.Wrong) as wrong:
                collect.Deadline.of(due, penalty)
            self.assertIn(why, str(wrong.exception))
