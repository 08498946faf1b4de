"""What the runs of a region are worth: why one failed, what is charged once, each budget to the byte. Nothing is
compiled."""

from __future__ import annotations

import fcntl
import json
import os
import re
import sys
import unittest
import unittest.mock
from pathlib import Path

from grading import ALL, case, temporary
from judge import build, verdict
from judge import results as told
from judge.cases import CRITERIA, Case
from judge.sandbox import Outcome
from judge.verdict import Bytes, Criterion, Failure, Run
from lib.tasks import Task


class Verdict(unittest.TestCase):
    def criteria(self, *runs: Run) -> dict[str, Criterion]:
        return verdict._criteria(["k"], list(runs))

    def runs(self, **changes: dict) -> list[Run]:
        """Of kernel k, right in all criteria but for `changes`."""
        return [
            Run("k", case(name), **{"bytes": [Bytes("requested", "f", 90, 100)], **changes.get(name, {})})
            for name in CRITERIA
        ]

    def marks(self, criteria: dict[str, Criterion]) -> str:
        self.assertEqual(set(criteria), set(ALL))
        return "".join(told._mark(criteria[name])[0] for name in ALL)

    def test_bytes(self) -> None:
        over, few = Bytes("requested", "f", 101, 100), Bytes("requested", "f", 39, 100)
        right, most = Bytes("requested", "f", 1100, 1200, 900), Bytes("requested", "f", 300, 100)
        atomics = [Bytes("requested", "atomics", number, 0) for number in (0, 4)]
        fits, case_of = "k: yours 1,100, budget 1,200 (requested, f), ideal 900 bytes", "bytes, with --seq 8"
        for changes, marks, message, times in (
            ({"plain": [right, right]}, "oooooo", fits, 0),
            ({"plain": [right, over]}, "ooooNo", f"k: yours 101, budget 100 (requested, f) {case_of}", 1.01),
            # A fresh case is named by its kind; if another one is over, that is told.
            ({"fresh": [over]}, "ooooNo", "k: over its budget on a fresh case", 1.01),
            ({"fresh": [over], "shapes": [most]}, "ooooNo", f"k: yours 300, budget 100 (requested, f) {case_of}", 3),
            # What has no budget is no share of one.
            ({"plain": [right, atomics[0]]}, "oooooo", fits, 0),
            ({"plain": [right, atomics[1]]}, "ooooNo", f"k: yours 4, budget 0 (requested, atomics) {case_of}", 4),
            ({"inputs": [few]}, "N-----", "not counted: as above", 0),
        ):
            with self.subTest(message):
                found = self.criteria(*self.runs(**{name: {"bytes": each} for name, each in changes.items()}))
                hbm = found["hbm"]
                self.assertEqual((self.marks(found), hbm.message, hbm.times), (marks, message, times))
        self.assertEqual(found["plain"].category, "did something else")
        self.assertRegex(found["plain"].message, "^k: yours 39, .*Your teacher sees a flag.$")
        masked = Run("k", case("inputs", "--masked"), bytes=[few])  # masked keys need not be read
        self.assertEqual(self.marks(self.criteria(*self.runs()[:2], masked, self.runs()[3])), "oooooo")
        # Of two kernels each is told once, in their order.
        two = [Run(name, each.case, bytes=[Bytes("requested", name, 9, 9)]) for name in "ba" for each in self.runs()]
        said = verdict._criteria(["b", "a"], two)["hbm"].message
        self.assertEqual(re.findall(r"(\w): yours", said), ["b", "a"])

    def test_hazards(self) -> None:
        race = {"tool": "racecheck", "kind": "WAR", "line": 3, "file": "x/k.cu"}
        warning = {**race, "severity": "warning"}
        at, hint = "WAR at @@k.cu:3@@", build.HINTS["racecheck"]
        for changes, passed, message in (
            ({}, True, ""),
            ({"shapes": {"hazards": [race]}}, False, f"k: racecheck: {at}"),
            ({"shapes": {"hazards": [race] * 3}}, False, f"k: racecheck: {at} (and 2 more)"),
            ({"fresh": {"hazards": [race]}}, False, "k: racecheck: WAR"),
            ({name: {"hazards": [race]} for name in ("fresh", "inputs")}, False, f"k: racecheck: {at} (and 1 more)"),
            ({"shapes": {"warnings": [warning] * 2}}, True, f"k: racecheck warning: {at} (and 1 more). {hint}"),
            ({"shapes": {"warnings": [warning], "hazards": [race]}}, False, f"k: racecheck: {at}"),
        ):
            luck = ("", "") if passed else ("hazard", f"{hint} A result that came out right by luck is not right.")
            with self.subTest(message):
                found = self.criteria(*self.runs(**changes))["hazards"]
                self.assertEqual(found, Criterion(passed, True, luck[0], message, luck[1]))

    def test_a_hazard_in_words(self) -> None:
        hazard = {"tool": "memcheck", "kind": "out_of_bounds", "file": "/a/01.sum/k.cu", "line": 5}
        hazard |= {"space": "global", "array": "O", "other": {"file": "/a/y/z.cuh", "line": 9}, "severity": "error"}
        text = "memcheck: out_of_bounds at @@01.sum/k.cu:5@@ of global memory (O), other side @@z.cuh:9@@"
        self.assertEqual(verdict.hazard_text(hazard, True), text)
        self.assertEqual(verdict.hazard_text(hazard, False), "memcheck: out_of_bounds")
        bare = {"tool": "initcheck", "kind": "k\u00fcnd", "other": "no", "severity": "warning"}
        self.assertEqual(verdict.hazard_text(bare, True), "initcheck warning: k?nd")
        self.assertEqual(verdict.hazard_text({**hazard, "file": "01.sum/k.cu"}, True), text)
        own = {"tool": "racecheck", "kind": "RAW", "file": "k.cu", "line": 2, "other": {"line": 4}}
        self.assertEqual(verdict.hazard_text(own, True), "racecheck: RAW at @@k.cu:2@@, other side @@k.cu:4@@")
        sync = "a __syncwarp() is missing between"
        for hazard, hint in (
            ({"tool": "racecheck", "kind": "RAW"}, "racecheck"),
            ({"tool": "racecheck", "kind": "RAW", "advice": sync}, "racecheck: a __syncwarp()"),
            ({"tool": "synccheck", "kind": "x", "advice": sync}, "synccheck"),
            ({"tool": "memcheck", "kind": "misaligned", "advice": None}, "misaligned"),
            ({"tool": "none", "kind": "none"}, ""),
        ):
            self.assertEqual(verdict.hazard_hint(hazard), build.HINTS.get(hint, ""))

    def test_what_a_failed_run_says(self) -> None:
        race = {"tool": "racecheck", "kind": "RAW", "line": 3, "file": "k.cu"}
        warning = {**race, "severity": "warning", "advice": "a __syncwarp() is missing"}
        wrong, ended = Failure("wrong result", "O is 3", "Own."), Failure("does not end", "it slept")
        sync, barrier = build.HINTS["racecheck: a __syncwarp()"], build.HINTS["racecheck"]
        at = "racecheck: RAW at @@k.cu:3@@; "
        for run, message, hint in (
            (Run("k", case(), wrong), "wrong result, k --seq 8: O is 3", "Own. Look."),
            (Run("k", case(), wrong, [race]), f"wrong result, k --seq 8: {at}O is 3", barrier),
            (Run("k", case(), wrong, [race, race], [warning]), f"wrong result, k --seq 8: {at}O is 3", barrier),
            (
                Run("k", case(), wrong, [], [warning]),
                f"wrong result, k --seq 8: {at.replace(':', ' warning:', 1)}O is 3",
                f"{sync} Look.",
            ),
            (Run("k", case(), Failure("crash", "it fell"), [], [warning]), "crash, k --seq 8: it fell", "Look."),
            (Run("k", case(), ended, [race]), f"does not end, k --seq 8: {at}it slept", build.HINTS["does not end"]),
            (Run("k", case("fresh"), wrong, [race]), "k: wrong result; racecheck: RAW", barrier),
            (Run("k", case("fresh"), wrong), "k: wrong result", "Own. Look."),
            (Run("k", case(hint="All. | k: Mine."), wrong), "wrong result, k --seq 8: O is 3", "Own. Mine."),
        ):
            found = run.criterion()
            self.assertEqual((found.passed, found.ran, found.message, found.hint), (False, True, message, hint))
            self.assertEqual(found.category, run.failure.category)
        self.assertEqual(Run("k", case()).criterion(), verdict.PASSED)

    def test_why_there_is_nothing_to_compare(self) -> None:
        """Kills: a crash that passes because something was saved, or a status that is taken for another."""
        fine, done = (0, 0, ""), "launched cudaSuccess\nsaved\n"
        crash, past = (
            "crash: the program ended ({}) before its results were written",
            "it ran past its 4 seconds of CPU time",
        )
        for result, diary, said, kinds, expected in (
            (fine, done, "", "", None),
            ((1, 0, ""), done, "", "", None),
            (fine, done, "", "RAW", None),
            ((2, 0, ""), done, "", "", crash.format("status 2")),
            ((0, 11, ""), done, "", "", crash.format("signal 11")),
            (fine, "launched cudaSuccess\n", "", "", crash.format("status 0")),
            (fine, "", "", "", crash.format("status 0")),
            ((0, 24, "cpu"), done, "", "", f"does not end: {past}"),
            ((0, 9, "clock"), "", "", "", "does not end: it was still running when the time was up"),
            (fine, "", "", "RAW endless_loop", f"does not end: {past}"),
            (fine, "cannot d too large\n", "", "", "launch refused: d too large"),
            (fine, "launched cudaErrorInvalidValue\n", "", "", "launch refused: cudaErrorInvalidValue"),
            (fine, "launched cudaErrorInvalidConfiguration\n", "", "", "launch refused: cudaErrorInvalidConfiguration"),
            (fine, "launched cudaErrorIllegalAddress\n", "", "", "wrong access: cudaErrorIllegalAddress"),
            (fine, "launched cudaErrorMisalignedAddress\n", "", "", "wrong access: cudaErrorMisalignedAddress"),
            (fine, "launched cudaErrorLaunchFailure\nsaved\n", "", "", "launch failed: cudaErrorLaunchFailure"),
            ((3, 0, ""), "", "sim: out of memory\n", "", "out of memory: it asked for more memory than there is"),
            ((3, 0, ""), "", "out of host memory\n", "", "out of memory: it asked for more memory than there is"),
        ):
            with self.subTest(diary=diary, result=result):
                found = verdict._failure(Outcome(*result), [{"kind": kind} for kind in kinds.split()], diary, said)
                self.assertEqual(found and f"{found.category}: {found.message}", expected)

    def test_what_is_the_machines_fault(self) -> None:
        """Kills: points lost to a full disk."""
        full = "runner: /t/o.npy: cannot be written: No space left on device"
        for result, diary, said, why in (
            (Outcome(0, 0, ""), "launched cudaSuccess\nsaved\n", "", ""),
            (Outcome(0, 0, ""), "launched cudaSuccess\n", "", "it ended well, and has saved nothing"),
            (Outcome(0, 0, ""), "not saved\n", "", "it ended well, and has saved nothing"),
            (Outcome(1, 0, ""), "launched cudaErrorIllegalAddress\n", "", ""),
            (Outcome(0, 11, ""), "", "", ""),
            (Outcome(0, 0, "clock"), "", "", ""),
            (Outcome(3, 0, ""), "cannot d too large\n", "", ""),
            (Outcome(3, 0, ""), "", f"x\n{full}\n", full),
        ):
            self.assertEqual(verdict._machines_fault(result, diary, said), why, (result, diary))

    def test_a_report(self) -> None:
        """Kills: a race that many others hide, launches that were not followed, an order that tells the symptom."""

        def record(tool: str, kind: str, severity: str = "error") -> dict:
            return {"type": "hazard", "tool": tool, "kind": kind, "severity": severity}

        launch = {"type": "launch", "tensors": [], "racecheck": {"complete": True}}
        lines = [record("racecheck", "RAW")] * 60 + [record("initcheck", "x"), launch, record("memcheck", "y")]
        lines += [record("other", "z"), record("synccheck", "b"), record("synccheck", "c", "note")]
        lines += [record("racecheck", "WAR", "warning"), record("initcheck", "u", "warning")]
        lines += [record("racecheck", "RAW", "warning"), {"type": "launch", "racecheck": {"complete": False}}]
        with temporary() as out:
            path = out / "report.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            launches, hazards, warnings = verdict._read_report(path)
            self.assertEqual(launches, [launch, lines[-1]])
            kinds = [hazard["kind"] for hazard in hazards]
            self.assertEqual(kinds, ["b", "y", *["RAW"] * 50, verdict.UNFOLLOWED, "x", "z"])
            self.assertEqual([each["kind"] for each in warnings], ["RAW", "WAR", "u"])
            cut = record("memcheck", "y")
            for text, kept in (
                ('{"type": "launch"}\n{"ty', []),
                ('{"type": "launch"}\n[]\n', []),
                (f'{{"type": "launch"}}\n{json.dumps(cut)}\n{{"ty', [cut]),  # its sums would be too small
            ):
                path.write_text(text)
                self.assertEqual(verdict._read_report(path), ([], kept, []))
            self.assertEqual(verdict._read_report(out / "none"), ([], [], []))

    def judged(self, failing: dict[str, str], **options: object) -> tuple[dict[str, Criterion], list[str]]:
        """Of a judge whose programs are named by their regions; `failing`: {criterion of a case: why it fails}."""
        ran: list[str] = []
        builder = unittest.mock.Mock(lacking_return=options.get("lacking", set()), chapter=None, scratch=None)
        builder.program.side_effect = lambda regions, task: (
            (options.get("program") if len(regions) > 1 or "alone" in options else None) or "+".join(sorted(regions))
        )
        judge = verdict.Judge(unittest.mock.Mock(is_teacher=options.get("teacher", True)), builder)

        def run(runner: verdict.Runner, kernel: str, each: Case) -> Run:
            ran.append(f"{runner.program} {kernel} {each.options}")
            why = failing.get(each.options) or failing.get(each.criterion)
            return Run(kernel, each, Failure(why, "said") if why else None)

        judge._run = run
        cases = [
            case(name, f"--seq {number}", f"{name}. By hand: ./k --seq 2")
            for number, name in enumerate((*CRITERIA,) * 2)
        ]
        regions = {name: "text" for name in options.get("regions", ("01.sum",))}
        task = Task(1, "01.sum", "01_naive", list(options.get("kernels", ("k",))), "", 1, 10.0)
        criteria = judge.criteria_of(task, regions, cases, options.get("missing", ""))
        self.assertEqual(builder.discard.called, options.get("teacher", True) and bool(ran))
        return criteria, ran

    def test_cases_are_run_up_to_the_first_that_fails(self) -> None:
        """Kills: a point for what was not run, or one lost for what another criterion is charged for. The command of a
        hint is --seq 2: it is run when a case fails, and in no hint if it does not fail itself."""
        wrong, no_return = "wrong result", build.HINTS["no return"]
        for failing, options, marks, ran, hint in (
            ({}, {}, "oooooo", "01234567", ""),
            ({"--seq 1": wrong}, {}, "oNoo--", "0123467", "shapes"),  # the second case of shapes is not run
            ({"--seq 1": wrong, "--seq 2": wrong}, {}, "oNNo--", "012347", "shapes. By hand: ./k --seq 2"),
            ({"--seq 1": wrong}, {"lacking": {"01.sum"}}, "oNoo--", "0123467", no_return),
            ({"--seq 4": "crash"}, {}, "Nooo--", "01234", ""),  # the second plain case: nothing behind it
            ({"plain": wrong}, {}, "N-----", "02", ""),
            ({"inputs": wrong}, {}, "ooNooo", "0123457", ""),
            ({"fresh": wrong}, {}, "oooNoo", "0123456", ""),
            # None of the other kernel, nor behind it.
            ({"--seq 1": "does not end"}, {"kernels": ("k", "other")}, "-N----", "012", build.HINTS["does not end"]),
        ):
            with self.subTest(failing, **options):
                criteria, lines = self.judged(failing, **options)
                self.assertEqual((self.marks(criteria), criteria["shapes"].hint), (marks, hint))
                self.assertEqual("".join(line[-1] for line in lines), ran)
                self.assertEqual({line.split()[1] for line in lines}, {"k"})
                self.assertNotEqual(criteria["plain"].hint, no_return)
        why = [criteria[name].message.partition(": ")[2] for name in ("plain", "inputs", "hazards")]
        self.assertEqual(why, ["it was not run", "the plain case comes first", "the result comes first"])

    def test_a_region_has_its_cpu_time(self) -> None:
        """Kills: loops just below the limit of a run, in every case, that cost a class minutes."""
        judge = verdict.Judge(unittest.mock.Mock(), unittest.mock.Mock())
        cases = [case("plain", "--seq 0"), *(case("shapes", f"--seq {number}") for number in range(1, 9))]
        for seconds, spent, ran in ((9, 0, 3), (9, 15, 1), (2, 0, 9), (2.2, 0, 9), (3, 0, 7), (4, 0, 6)):
            run = unittest.mock.Mock(side_effect=lambda _, kernel, each, took=seconds: Run(kernel, each, seconds=took))
            with unittest.mock.patch.object(judge, "_run", run):
                runs = judge._all_cases(unittest.mock.Mock(program=(seconds, spent)), "k", cases, spent)
            self.assertEqual(len(runs), ran)
            past = runs[-1].failure and f"{runs[-1].failure.category}: {runs[-1].failure.message}"
            over = "does not end: its runs took more than 20 seconds of CPU time together"
            self.assertEqual(past, over if spent + ran * seconds > 20 else None)
        judge.builder.program.return_value, judge.builder.scratch = Path("program"), None
        judge.builder.lacking_return = set()
        task = unittest.mock.Mock(id="a", kernels=["first", "second"])  # kills: a new limit for each kernel
        with unittest.mock.patch.object(judge, "_run", lambda _, kernel, each: Run(kernel, each, seconds=15)):
            criteria = judge.criteria_of(task, {"a": "x"}, cases[:1])
        self.assertEqual(criteria["plain"].category, "does not end")

    def test_a_run_and_its_report(self) -> None:
        """Kills: a grade for a run that nobody counted, and a machine blamed for a program that crashed, or did so
        before it made a directory; values that nobody looks at, files that stay."""

        def end(_: verdict.Runner, command: list[str], **__: str) -> Outcome:
            out = Path(command[2])
            if signal != 9:
                out.mkdir()
                (out / "run.txt").write_text("saved\n")
                (out / "report.jsonl").write_text(report)
            return Outcome(0, signal, "", 1.5)

        with temporary() as scratch, unittest.mock.patch.object(verdict.Runner, "run", end):
            judge = verdict.Judge(unittest.mock.Mock(), unittest.mock.Mock())
            runner = verdict.Runner(Path("program"), scratch)
            self.assertEqual(runner.variables["SIM_TIMEOUT"], "120")
            signal, report = 0, ""
            with self.assertRaisesRegex(verdict.Environment, "k --seq 1: the device's report cannot be read$"):
                judge._run(runner, "k", case("plain", "--seq 1"))
            for number in (11, 9):
                signal = number
                run = judge._run(runner, "k", case("plain", "--seq 1"))
                self.assertEqual((run.failure.category, run.bytes, run.seconds), ("crash", [], 1.5))
            signal, report, before = 0, '{"type": "launch"}\n', [*scratch.iterdir()]
            said = {"models": [], "statistics": [], "atomic_bytes": 1, "statistic_bytes": 2}
            wrong = {"wrong": {"category": "wrong result", "text": "O is\n 3  around it\n 1 2 3"}}
            both = [Bytes("requested", "atomics", 0, 1), Bytes("requested", "", 0, 2)]
            for more, failure, counted in (
                ({}, None, both),
                (wrong, Failure("wrong result", "O is 3"), []),
                ({**wrong, "is_plain_form": True}, Failure("wrong result", "O is 3", build.HINTS["plain form"]), []),
            ):
                with unittest.mock.patch.object(judge, "_judge", return_value={**said, **more}) as asked:
                    run = judge._run(runner, "k", case("plain", "--seq 1"))
                self.assertEqual((run.failure, run.bytes), (failure, counted))
                self.assertEqual(asked.call_args.args[1:], ("--kernel", "k", "--seq", "1"))
            self.assertEqual([*scratch.iterdir()], before)

    def test_a_judge_that_fails_is_no_fault_of_a_region(self) -> None:
        """Kills: a traceback in the place of its line."""
        with temporary() as kit:
            judge = verdict.Judge(unittest.mock.Mock(), unittest.mock.Mock(kit=kit))
            judge.chapter.name, judge.chapter.variant = "01_naive", ("scale", "-1")
            for script, why in (("echo why >&2; exit 1", "why"), ("kill -9 $$", "it crashed")):
                (kit / "judge").write_text(f"#!/bin/sh\n{script}\n")
                (kit / "judge").chmod(0o755)
                with self.assertRaisesRegex(verdict.Environment, f"^01_naive: judge --seq 8: {why}$"):
                    judge._judge("out", "--seq", "8")
            # Another one is asked then, and again. Kills: a question that is not asked, or never arrives.
            script = "import json, sys\nfor line in sys.stdin:\n    said = [sys.argv[1], *line.split('\\t')]\n"
            script += "    print(json.dumps({'models': [{'bytes': said}, {}]}), flush=True)\n"
            (kit / "judge").write_text(f"#!{sys.executable}\n{script}")
            for seq in ("8", "9"):
                self.assertEqual(judge.model(f"k --seq {seq}"), ["scale=01", "-", "--kernel", "k", "--seq", f"{seq}\n"])
            judge._process.communicate()

    def test_what_does_not_link(self) -> None:
        """Kills: a traceback where a function is declared and nowhere defined, or a machine's own failure charged."""
        with temporary() as scratch:
            builder = self.builder(scratch)
            builder.cxx = str(scratch / "link")

            def link(said: str, status: int = 1) -> Path | Failure:
                (scratch / "link").write_text(f"#!/bin/sh\nprintf '%s' \"{said}\" >&2\nexit {status}\n")
                (scratch / "link").chmod(0o755)
                return builder._link([], scratch / "program")

            found = link("ld: a.o: undefined reference to \\`u_sum(int, int)'")
            self.assertEqual(found, Failure("does not compile", "sum is declared, and is nowhere defined"))
            self.assertEqual(link("", 0), scratch / "program")
            with self.assertRaisesRegex(verdict.Environment, "^01_naive: it does not link:\nno space left$"):
                link("no space left\n")

    def builder(self, scratch: Path, teacher: bool = True) -> build.Builder:
        chapter = unittest.mock.Mock()
        chapter.name = "01_naive"
        return build.Builder(unittest.mock.Mock(root=scratch, is_teacher=teacher), chapter, "gcc", "g++", scratch)

    def test_a_program_of_regions(self) -> None:
        """Kills: a stack that nobody counts, or that costs a solution its points; a file that is another one's."""
        for teacher, more, refused in ((True, 0, 0), (True, 1, 1), (False, 1024, 0), (False, 1025, 1025)):
            with temporary() as scratch:
                builder = self.builder(scratch, teacher)
                builder.chapter.spliced.return_value = {"b.cu": "", "a.cu": "", "c.cuh": ""}
                solved = build.Object(scratch / "solved", {"f": ("here", 10)})
                made = build.Object(scratch / "made", {"f": ("here", 10 + build.MOST_STACK + more)}, more == 0)
                own = {"compiled_anew": {"a.cu"}, "solved_object": solved, "_compile": made, "_write_sources": None}
                for name, value in own.items():
                    setattr(builder, name, unittest.mock.Mock(return_value=value))
                with unittest.mock.patch.object(builder, "_link", side_effect=lambda _, program: program) as link:
                    found = builder.program({"01.sum": "x"}, "01.sum")
                    self.assertIs(builder.program({"01.sum": "x"}, "01.sum"), found)
                self.assertEqual(builder._compile.call_count, 1)
                if refused:
                    why = f"its local variables take {refused} bytes more than what a thread may have"
                    self.assertEqual((found.category, found.message), ("refused", why))
                    continue
                self.assertEqual(link.call_args.args[0], [made.path, solved.path])
                self.assertEqual(builder.lacking_return, {found} if more == 0 else set())
                self.assertEqual([*builder.scratch.iterdir()], [])
                found.touch()
                builder.discard(found)
                builder._compile.return_value = "01.sum/a.cu:3:1: error: u_x is wrong"
                failed = builder.program({"01.sum": "x"}, "01.sum")  # asked for again, it is made again
                self.assertEqual((failed.message, found.exists()), ("@@01.sum/a.cu:3@@: x is wrong", False))

    def test_a_compilation(self) -> None:
        """Kills: a machine's failure that costs points, a compiler that is asked twice for what takes too long."""
        ended = "01_naive/a.cu: the compiler was ended: cc: No space left on device"
        for outcome, log, made in (
            (Outcome(0, 0, ""), "", ""),
            (Outcome(0, 0, ""), "a.cu:1: warning: x [-Wreturn-type]", "lacks"),
            (Outcome(1, 0, ""), "a.cu:1: error", "a.cu:1: error"),
            (Outcome(1, 0, ""), "cc: Out of memory", build.TOO_MUCH),
            (Outcome(1, 0, ""), "cannot allocate 9 bytes", build.TOO_MUCH),
            (Outcome(0, 0, "cpu"), "", build.TOO_MUCH),
            (Outcome(1, 0, ""), "x\ncc: No space left on device\n", None),
            (Outcome(3, 0, ""), "", "the compiler ended with status 3"),
            (Outcome(0, 9, ""), "", "the compiler ended with status -9"),
        ):
            with temporary() as scratch:
                builder, asked = self.builder(scratch), []
                builder.__dict__.update({"_headers": scratch / "headers", "_clang": ["clang"]})

                def run(_: list[str], asked=asked, log=log, outcome=outcome, **settings: object) -> Outcome:
                    asked.append(settings["environment"]["SIM_PRECOMPILED"])
                    (kept := scratch / "kept").mkdir(exist_ok=True)
                    (kept / "a.su").write_text("k.cu:3:6:f\t96\tstatic\n")
                    settings["output"].write_text(log)
                    self.assertEqual((settings["cpu_seconds"], settings["memory_mb"]), (20, 4096))
                    return outcome

                with unittest.mock.patch.object(build.sandbox, "run", run):
                    if made is None:
                        self.assertRaisesRegex(verdict.Environment, f"^{ended}$", builder._compile, scratch, "a.cu")
                    else:
                        expected = build.Object(scratch / "a.cu.o", {"f": ("k.cu:3:6", 96)}, made == "lacks")
                        self.assertEqual(builder._compile(scratch, "a.cu"), expected if made in ("", "lacks") else made)
                again = [""] * (made not in ("", "lacks", None, build.TOO_MUCH))  # with the headers themselves
                self.assertEqual(asked, [str(scratch / "headers"), *again])

    def test_one_grader_builds_at_a_time(self) -> None:
        with temporary() as root:
            for _ in range(2):
                with build.alone(root), (root / "build/.classroom-lock").open("w") as other:
                    self.assertRaises(BlockingIOError, fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with (root / "build/.classroom-lock").open("w") as other:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with self.assertRaisesRegex(verdict.Environment, "^/dev/null/build: cannot be written: Not a directory$"):
                build.alone(Path("/dev/null")).__enter__()

    def test_headers_of_other_compilers_go(self) -> None:
        """Where its own are there, the others are left alone. Kills: old ones that fill a disk."""
        with temporary() as scratch:
            builder = self.builder(scratch)
            own, old = scratch / "headers/own", scratch / "headers/old"
            old.mkdir(parents=True)
            builder.__dict__["_headers"], builder.compile_command = own, ["simcc"]
            for there in ([], [old]):
                with unittest.mock.patch.object(build, "run_quietly") as run:
                    builder._precompile()
                self.assertEqual(sorted(own.parent.iterdir()), [*there, own])
                self.assertEqual(run.call_args.kwargs["SIM_PRECOMPILED"], str(own))
                old.mkdir(exist_ok=True)

    def test_what_a_tool_of_the_course_is_given(self) -> None:
        """Kills: a failure without what was said, or with variables of the make that called."""
        with unittest.mock.patch.dict(os.environ, {"MAKEFLAGS": "x", "DEVICE": "x", "KEPT": "k"}):
            build.run_quietly(["sh", "-c", 'test -z "$MAKEFLAGS$DEVICE" && test "$KEPT$OWN" = ko'], "what", OWN="o")
        with self.assertRaisesRegex(verdict.Environment, "^what:\nout\nerr$"):
            build.run_quietly(["sh", "-c", "echo out; echo err >&2; exit 1"], "what")

    def test_neighbors_of_a_hand_out(self) -> None:
        two, wrong = {"regions": ("01.sum", "01.other"), "teacher": False}, "wrong result"
        why = "01.sum, 01.other are in the same kernels, and one of them is wrong: wrong result, k --seq {}: said"
        fails, refused = Failure("does not compile", "x"), {"program": Failure("refused", "x"), "alone": True}
        for failing, options, marks, message in (
            ({}, two, "oooooo", ""),
            ({"inputs": wrong}, two, "oo?ooo", why.format(2)),
            ({"--seq 1": wrong}, two, "o?oo??", why.format(1)),
            ({"plain": wrong}, two, "??????", why.format(0)),
            ({}, {**two, "program": fails}, "??????", "together with 01.other it does not compile"),
            ({}, {**two, **refused}, "N-----", "not graded: it is refused: x"),
            ({}, {"teacher": False, "missing": "01.other is missing"}, "??????", "01.other is missing"),
            ({}, {"teacher": False, "missing": "m", **refused}, "N-----", "not graded: it is refused: x"),
        ):
            with self.subTest(message):
                criteria, ran = self.judged(failing, **options)
                self.assertEqual(self.marks(criteria), marks)
                said = {
                    each.message for each in criteria.values() if not each.passed and each.category != "not counted"
                }
                self.assertEqual(said, {message} - {""})
                self.assertEqual(ran[:1], ["01.other+01.sum k --seq 0"] * (options is two))
        for hint, told_hint in (("", build.HINTS["does not end"]), ("own", "own")):
            self.assertEqual(verdict.nothing_to_grade("does not end", "slept", hint)["plain"].hint, told_hint)


class Budget(unittest.TestCase):
    """What a byte more than the closed form costs: nothing of the budget is a matter of per cent."""

    def criteria(self, tensors: dict[str, tuple[int, int, int]], criterion: str) -> dict[str, Criterion]:
        """Of a kernel that reads, writes and adds to tensors, one per launch, in the case of one criterion; in the
        other cases it keeps to its budgets."""
        models = [
            {"counts": "requested", "formula": "a", "bytes": 4000, "write_bytes": 800},
            {"counts": "footprint", "formula": "b", "bytes": 1000, "write_bytes": 200},
        ]
        expected = {"models": models, "statistics": ["LSE"], "ideal_bytes": 900}
        expected |= {"atomic_bytes": 40, "statistic_bytes": 100}
        usual, runs = {"Q": (3200, 0, 0), "O": (0, 800, 40), "LSE": (60, 40, 0)}, []
        for name in CRITERIA:
            launches = []
            for tensor, (read, written, atomic) in {**usual, **(tensors if name == criterion else {})}.items():
                requested = {"read_bytes": read, "write_bytes": written, "atomic_bytes": atomic}
                footprint = {"read_bytes": read // 4, "write_bytes": written // 4}
                launches.append({"tensors": [{"name": tensor, "requested": requested, "footprint": footprint}]})
            runs.append(Run("k", case(name), bytes=verdict._bytes(expected, launches)))
        return verdict._criteria(["k"], runs)

    def test_what_is_summed(self) -> None:
        """Kills: a kind of access that is not in a sum, a sum that does not begin at 0, a tensor in another's sum."""
        models = [
            {"counts": counts, "formula": counts[0], "bytes": 9, "write_bytes": 8}
            for counts in ("requested", "footprint")
        ]
        expected = {"models": models, "statistics": ["L", "M"], "ideal_bytes": 7}
        plain = {"read_bytes": 1, "write_bytes": 10}
        tensors = [
            {"name": name, "requested": plain, "footprint": {"read_bytes": 3, "write_bytes": 30}} for name in "QL"
        ]
        tensors.append({**tensors[0], "requested": {**plain, "atomic_bytes": 100}})
        found = verdict._bytes({**expected, "atomic_bytes": 6, "statistic_bytes": 5}, [{"tensors": tensors}, {}])
        requested, footprint = Bytes("requested", "r", 22, 9, 7, (20, 8)), Bytes("footprint", "f", 66, 9, 7, (60, 8))
        others = [Bytes("requested", "atomics", 100, 6), Bytes("requested", "L, M", 11, 5)]
        self.assertEqual(found, [requested, footprint, *others])
        tensors[:] = [{**tensors[0], "name": "M", "requested": {**plain, "atomic_bytes": 100}}]
        found = verdict._bytes({**expected, "atomic_bytes": 6, "statistic_bytes": 5}, [{"tensors": tensors}])
        self.assertEqual([each.yours for each in found], [0, 0, 0, 111])

    def test_one_byte_over_is_over(self) -> None:
        """Kills: a budget with 5 % to spare, sums without writes, atomics or statistics, a case not looked at."""
        reads, writes, atomics = "read twice", "written twice", "added once"  # words of what is over
        else_ = "did something else"
        for change, category, *hints in (
            ({}, ""),
            ({"Q": (3196, 0, 0)}, ""),
            ({"Q": (3201, 0, 0)}, "over budget", reads),
            ({"Q": (3360, 0, 0)}, "over budget", reads),
            ({"O": (0, 804, 40)}, "over budget", writes),
            ({"O": (0, 800, 44)}, "over budget", atomics),  # atomics have a budget of their own
            ({"O": (0, 804, 40), "Q": (3201, 0, 0)}, "over budget", writes, reads),
            ({"LSE": (64, 40, 0)}, "over budget", reads),
            ({"LSE": (60, 44, 0)}, "over budget", reads),
            ({"LSE": (60, 40, 4)}, "over budget", reads),
            ({"LSE": (60, 36, 4)}, ""),  # so have statistics, whatever is done to them
            ({"scratch": (4, 0, 0)}, "over budget", reads),
            ({"Q": (800, 0, 0)}, ""),  # 0.4 of what is to be moved; with fewer it computed something else
            ({"Q": (796, 0, 0)}, else_),
            ({"O": (0, 800, 12)}, else_),
        ):
            for criterion in CRITERIA:
                with self.subTest(change=change, criterion=criterion):
                    criteria = self.criteria(change, criterion)
                    hbm = criteria["plain" if category == else_ else "hbm"]
                    self.assertEqual((hbm.passed, hbm.category), (not category, category), hbm.message)
                    said = [words for words in (writes, reads, atomics) if words in hbm.hint]
                    self.assertEqual(said, hints)
                    if change == {"Q": (3360, 0, 0)}:
                        self.assertAlmostEqual(hbm.times, 1.04)
                        self.assertEqual("4,160" in hbm.message, criterion != "fresh", hbm.message)
