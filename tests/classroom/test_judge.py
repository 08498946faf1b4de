"""The judge's small parts: cases and predictions, tokens and names, what a compiler says, the sandbox."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import unittest
import unittest.mock
from pathlib import Path

from case import running
from grading import ROOT, case, run, temporary
from judge import build, once, sandbox, words
from judge import cases as casebook
from judge.cases import Case
from judge.sandbox import Environment, Outcome
from judge.tokens import Refusal, tokens_of
from lib.tasks import TaskError


class Cases(unittest.TestCase):
    def test_what_is_drawn(self) -> None:
        """Kills: a value that is never drawn, a number outside of its range, a multiple that was to be left out, two
        braces that always draw alike, a draw that another line or key does not change."""

        def drawn(options: str, *seed: str) -> str:
            line = Case(7, "01_naive", "fresh", "forward", options, ("",))
            return casebook.cases_of([line], "01_naive", *seed)[0].options

        values = {drawn("{3..7!5}", str(n)) for n in range(200)}
        self.assertEqual(values, {"3", "4", "6", "7"})
        self.assertEqual({drawn("{a b|c}", str(n)) for n in range(50)}, {"a b", "c"})
        seeds = [int(drawn("{seed}", str(n))) for n in range(300)]
        self.assertEqual((len(set(seeds)), min(seeds) >= 1000, max(seeds) > 9e8), (300, True, True))
        pairs = {drawn("{0..1} {0..1}", str(n)) for n in range(60)}
        self.assertEqual(len(pairs), 4)
        self.assertEqual(drawn("{seed} x", "key", "words"), "628723541 x")  # the same cases today and tomorrow
        other = Case(8, "01_naive", "fresh", "forward", "{seed}", ("",))
        self.assertNotEqual(casebook.cases_of([other], "01_naive", "key")[0].options, drawn("{seed}", "key"))
        self.assertEqual(casebook.cases_of([other], "02_online_softmax", "key"), [])
        with self.assertRaisesRegex(TaskError, r"^cases.tsv: what is \{...\} in '\{3\}'\?$"):
            drawn("{3}", "key")

    def test_a_table_of_cases(self) -> None:
        text = "# comment\n01_naive\tplain\tforward\t--seq 4\tall | k: only of k | kk: of kk\n"
        with unittest.mock.patch.object(Path, "open", lambda *_, **__: io.StringIO(text)):
            (read,) = casebook.read_cases(Path("t.tsv"))
        self.assertEqual((read.line, read.criterion, read.order, read.options), (2, "plain", "forward", "--seq 4"))
        self.assertEqual([read.hint(name) for name in ("k", "kk", "other")], ["only of k", "of kk", "all"])
        unknown = unittest.mock.patch.object(Path, "open", lambda *_, **__: io.StringIO(text.replace("plain", "shape")))
        says = "^t.tsv:2: criterion 'shape': expected plain, shapes, inputs, fresh"
        with unknown, self.assertRaisesRegex(TaskError, says):
            casebook.read_cases(Path("t.tsv"))
        for options, ordinary in (("--seq 4", True), ("--seq 4 --masked", False), ("--input ramp", False)):
            self.assertEqual(case(options=options).is_ordinary, ordinary)

    def test_predictions(self) -> None:
        got = "predictions.txt:1: expected "
        for line, expected in (
            ("k --seq 4 = 12", {"k --seq 4": 12}),
            ("k  --seq   4 --causal=1'234_567 Bytes # mine", {"k --seq 4 --causal": 1234567}),
            ("k --scale 0.5 = 1 byte", {"k --scale 0.5": 1}),
            ("k = ?", {"k": None}),
            ("k = --", {"k": None}),
            ("k =", {"k": None}),
            ("k = 1" + "0" * 17, {"k": 10**17}),
            ("k = 1" + "0" * 18, got + "a number of bytes after '=', got '1000000000000000000'"),
            ("k = 12 kB", got + "a number of bytes after '=', got '12 kB'"),
            ("k = " + "x" * 50, got + "a number of bytes after '=', got '" + "x" * 40 + "'"),
            ("k --seq 4", got + "'kernel options = bytes', got 'k --seq 4'"),
            ("k seq = 4", got + "'kernel options = bytes', got 'k seq = 4'"),
            ("k\xe9 = 4", got + "'kernel options = bytes', got 'k? = 4'"),
            ("k" * 70, got + "'kernel options = bytes', got '" + "k" * 60 + "'"),
            ("  # nothing", {}),
        ):
            with self.subTest(line):
                read, problems = casebook.parse_predictions(line)
                self.assertEqual(problems or read, [expected] if isinstance(expected, str) else expected)
        self.assertEqual(casebook.parse_predictions("\n\nx")[1][0][:18], "predictions.txt:3:")
        for predicted, right in ((None, False), (990, True), (1010, True), (989, False), (1011, False)):
            self.assertEqual(casebook.is_right(predicted, 1000), right)


class Text(unittest.TestCase):
    """Tokens, names and what a compiler says."""

    def test_tokens(self) -> None:
        text = "a  /* 1\n2 */ b// c\n#pragma unroll 4 // x\n.5f 1e-3f 0x1Fu 1'000 x->y <<= p"
        found = [(token.kind, token.text, token.line) for token in tokens_of(text)]
        expected = [("word", "a", 1), ("word", "b", 2), ("pragma", "4", 3)]
        expected += [("number", number, 4) for number in (".5f", "1e-3f", "0x1Fu", "1000")]
        expected += [("word", "x", 4), ("sign", "->", 4), ("word", "y", 4), ("sign", "<<=", 4), ("word", "p", 4)]
        self.assertEqual(found, expected)
        self.assertEqual(tokens_of(text.replace("\n", "\r\n")), tokens_of(text))
        directive = "#pragma unroll 4 /*".ljust(498)
        self.assertEqual(tokens_of(f"{directive}*/")[0].text, "4")
        with self.assertRaises(Refusal):  # in a longer one comments are not looked for
            tokens_of(f"{directive} */")
        number = "1" * 100
        self.assertEqual(tokens_of(number)[0].text, number)
        for text, line, why in (
            ("\n\n" + "1" * 101, 3, f"{'1' * 40}: expected a number such as"),
            ("/*\n*/ \x7f", 2, "the character U\\+007F: expected plain ASCII"),
            ("\n@", 2, "@: expected plain ASCII"),
            ("x #pragma unroll", 1, "a region has no directives"),
            ("\n#" + "y" * 60, 2, f"'#{'y' * 39}': a region has no directives"),
            ("\n=======", 2, "=======: a merge has a conflict"),
            ("a\n/* b\n", 2, "/\\* without \\*/"),
            ("\n\t// x \\  \n", 2, "a comment that ends in"),
        ):
            with self.subTest(text), self.assertRaisesRegex(Refusal, f"^line {line}: .*{why}"):
                tokens_of(text)

    def test_names_of_a_place(self) -> None:
        names = words.parse_names("q # x\n.m f() g<>() struct:partial T::KEYS declares:end\n")
        found = (names.variables, names.members, names.functions, names.templates, names.types, names.scoped)
        self.assertEqual(found, ({"q"}, {"m"}, {"f"}, {"g"}, {"partial"}, {("T", "KEYS")}))
        self.assertEqual(names.declared, {"end"})
        for word in ("f(", "a.b", "struct:", "T::", "\u00e9"):
            with self.assertRaisesRegex(ValueError, f"^names:2: {re.escape(word)}: expected a name, .member"):
                words.parse_names(f"q\n{word} x", "names")

    def test_frames(self) -> None:
        """Kills: memory in a stack that nobody counts, and a bound that takes a solution's own for too much."""
        text = "k.cu:3:6:void k(float*)\t96\tstatic\nx.h:9:f\t2064\tdynamic,bounded\nno line\n"
        frames = build.frames_of(text)
        self.assertEqual(frames, {"void k(float*)": ("k.cu:3:6", 96), "f": ("x.h:9", 2064)})
        solution = {"k<1>": ("k.cu:3:", 100), "k<2>": ("k.cu:3:", 50)}
        gcc, clang = "a.cu:9:1:k(int)::<lambda()> [with D =", "0-a.sim.ll:9:_ZZ1kvENK"  # how they name lambdas
        for frames, extra in (
            ({"k<1>": ("k.cu:3:", 1124)}, 0),
            ({"k<1>": ("k.cu:3:", 1125)}, 1),
            ({"k<2>": ("k.cu:3:", 1075)}, 1),
            ({"k<3>": ("k.cu:3:", 1124)}, 0),  # another instance: the largest of its line
            ({"k<3>": ("k.cu:3:", 1130)}, 6),
            ({"new": ("k.cu:9:", 1024)}, 0),
            ({"new": ("k.cu:9:", 1025)}, 1),
            ({"aUl1_": ("k.cu:9:", 600), "aUl2_": ("k.cu:9:", 600)}, 176),  # lambdas count together
            ({"aUl1_": ("k.cu:9:", 600), "bUl1_": ("k.cu:9:", 600)}, 0),  # the same lambda of two instances
            ({}, 0),
            (build.frames_of(f"{gcc} 32]\t600\tstatic\n{gcc} 64]\t700\tstatic\n"), 0),
            (build.frames_of(f"{gcc} 32]\t600\tstatic\na.cu:9:50:k(int)::<lambda(int)>\t700\tdynamic,bounded\n"), 276),
            (build.frames_of(f"{clang}UlvE_clEv\t600\tstatic\n{clang}UliE0_clEi\t700\tstatic\n"), 276),
        ):
            self.assertEqual(build.too_much_stack(frames, solution), extra, frames)
        self.assertEqual(len(build.digest(["a", "b"])), 20)
        self.assertNotEqual(build.digest(["a", "b"]), build.digest(["ab"]))

    def test_what_a_compiler_says(self) -> None:
        own = "01.sum/k.cu:3:7: error: 'u_x' was not declared in this scope; did you mean 'u_y'?\n"
        knows = "A region knows what it declares, CUDA's functions, the constants above, and those of"
        knows += " classroom/tasks/01.sum/names."
        other, of_category = "02.b/k.cu:1:1: error: expected ;\n", build.HINTS["does not compile"]
        outside = "what the region declares does not fit the lines around it"
        for log, message, hint in (
            ("note\n" + own, "@@01.sum/k.cu:3@@: 'x' was not declared in this scope", knows),
            ("01.sum/k.cu:3: fatal error: u_z is wrong", "@@01.sum/k.cu:3@@: z is wrong", of_category),
            (other + own, "task 02.b of the same program does not compile", of_category),
            ("k.cu:1:1: error: x\n", outside, of_category),
            ("01.sum/k.cu:1:1: warning: x\n", outside, of_category),
            ("01.sum/k.cu:1:1: error: " + "y" * 400, "@@01.sum/k.cu:1@@: " + "y" * 300, of_category),
            (
                build.TOO_MUCH,
                "the compiler ran past its limit of time or memory",
                "Look for a loop in a constant, or a huge array.",
            ),
        ):
            failure = build.Builder._does_not_compile(unittest.mock.Mock(), log, "01.sum")
            self.assertEqual((failure.category, failure.message, failure.hint), ("does not compile", message, hint))

    def test_made_once(self) -> None:
        made, gate, calls = once.Once(), threading.Event(), []

        def make() -> int:
            gate.wait(5)
            calls.append(1)
            return len(calls)

        found: list[int] = []
        threads = [threading.Thread(target=lambda: found.append(made.get("k", make))) for _ in range(4)]
        for thread in threads:
            thread.start()
        gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual((found, len(calls)), ([1] * 4, 1))
        self.assertRaises(KeyError, made.get, "other", lambda: {}["x"])
        self.assertEqual(made.get("other", lambda: 5), 5)  # who comes later tries again
        made.forget("k")
        self.assertEqual(made.get("k", make), 2)


class Sandbox(unittest.TestCase):
    def run_it(self, script: str, **options: object) -> tuple[Outcome, str]:
        with temporary() as out:
            settings = {"cpu_seconds": 2, "memory_mb": 1024, "write": [out], **options}
            outcome = sandbox.run(["sh", "-c", script, "x", str(out)], output=out / "log", **settings)
            return outcome, (out / "log").read_text()

    def test_how_a_command_ended(self) -> None:
        for script, outcome in (
            ("exit 0", Outcome(0, 0, "")),
            ("exit 3", Outcome(3, 0, "")),
            ("exit 128", Outcome(128, 0, "")),
            ("kill -9 $$", Outcome(0, 9, "")),
            ("kill -11 $$", Outcome(0, 11, "")),
        ):
            self.assertEqual(self.run_it(script)[0], outcome, script)
        self.assertEqual(self.run_it("echo a; echo b >&2; cat; pwd; echo $HOME")[1], "a\nb\n/\n/nonexistent\n")
        self.assertEqual(self.run_it("echo $A", environment={"A": "b"})[1], "b\n")

    def test_limits(self) -> None:
        """Kills: a limit that is not set, or is of something else."""
        burnt = self.run_it("while :; do :; done", cpu_seconds=1)[0]
        self.assertEqual(burnt.timeout, "cpu")
        self.assertTrue(0.5 < burnt.seconds < 3, burnt)
        self.assertEqual(
            self.run_it("printf '0m9.0s 0m9.0s\\n0m9.0s 0m9.0s\\n'")[0].seconds < 1, True
        )  # it cannot say so
        with unittest.mock.patch.dict(os.environ, {"GRADE_FILE_MB": "1"}):
            done = self.run_it('head -c 1048576 /dev/zero > "$1/a" && echo one; head -c 1048577 /dev/zero > "$1/b"')
            self.assertTrue(done[1].startswith("one\n"), done)
            self.assertTrue(done[0].status or done[0].signal, done)
        said = self.run_it("ulimit -c; ulimit -S -t; ulimit -H -t; ulimit -v; ulimit -f", cpu_seconds=3)[1].split()
        self.assertEqual(said, ["0", "3", "5", str(1024 * 1024), str(64 * 2048)])

    def test_one_command_after_the_other(self) -> None:
        """Kills: an output, CPU time or a process that is still there for the next command; nothing runs after one that
        was ended."""
        kinds = [each for each in ("bwrap", "namespaces", "user", "limits") if self.is_there(each)]
        for kind in kinds:
            with (
                self.subTest(kind),
                temporary() as out,
                unittest.mock.patch.object(sandbox, "kind", lambda kind=kind: (kind, "")),
                unittest.mock.patch.dict(os.environ, {"GRADE_FILE_MB": "1"}),
                sandbox.Session(output=out / "log", cpu_seconds=1, memory_mb=1024, write=[out]) as session,
            ):

                def say(script: str, session: sandbox.Session = session, **variables: str) -> tuple[Outcome, str]:
                    outcome = session.run(["sh", "-c", script], **variables)
                    return outcome, session.output.read_text()

                burn = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
                own = f"sleep 38{os.getpid()}"
                first = say(f"{burn}; echo $A; {own} & exit 5", A="x y'z")
                self.assertEqual((first[0].status, first[1]), (5, "x y'z\n"))
                self.assertEqual(running(own, 5), [])
                self.assertEqual(say("true"), (Outcome(0, 0, ""), ""))
                self.assertLess(say("true")[0].seconds, first[0].seconds)
                self.assertEqual(say("while :; do :; done")[0].timeout, "cpu")
                with unittest.mock.patch.dict(os.environ, {"GRADE_CLOCK_FACTOR": "1"}):
                    self.assertEqual(say(own)[0].timeout, "clock")
                self.assertEqual(running(own), [])
                self.assertEqual(say("kill -9 $$")[0].signal, 9)
                self.assertEqual(say("exec yes")[0].signal, signal.SIGXFSZ)
                self.assertRaisesRegex(Environment, "ended without a word", say, "kill -9 $PPID; sleep 9")
                again = say("echo again; exit 1")
                self.assertEqual(again, (Outcome(1, 0, ""), "again\n"))
                self.assertTrue(0 <= again[0].seconds < 0.5, again)

    def is_there(self, kind: str) -> bool:
        with unittest.mock.patch.dict(os.environ, {"GRADE_SANDBOX": kind}), contextlib.suppress(Environment):
            return sandbox.kind.__wrapped__()[0] == kind
        return False

    def test_what_it_sees(self) -> None:
        """In each kind of namespaces that is there."""
        kinds = [kind for kind in sandbox.NAMESPACES if self.is_there(kind)]
        for kind in kinds:
            with unittest.mock.patch.object(sandbox, "kind", lambda kind=kind: (kind, "")), self.subTest(kind):
                self.expect_its_own_files()
        if not kinds:
            self.skipTest("this machine has limits alone")

    def expect_its_own_files(self) -> None:
        with temporary() as other:
            (other / "secret").write_text("s")
            (other / "given").write_text("g")
            course = ROOT / f"build/written.{os.getpid()}"
            course.parent.mkdir(exist_ok=True)
            self.addCleanup(course.unlink, missing_ok=True)
            script = f"cat {other}/given; cat {other}/secret; echo x > {other}/given; echo > '{course}'"
            said = self.run_it(f"{script}; ls {ROOT} /root; ls /proc | grep -c '^[0-9]*$'", read=[other / "given"])[1]
            self.assertTrue(said.startswith("g") and "secret" in said, said)
            self.assertNotRegex(said, r"README|classroom\n")
            self.assertRegex(said, r"(?m)^[1-9]$", "other processes")
            self.assertEqual(((other / "given").read_text(), course.exists()), ("g", False))
            self.run_it(f"echo w > {other}/new", write=[other])
            self.assertEqual((other / "new").read_text(), "w\n")

    def test_what_the_environment_asks(self) -> None:
        for given, found in (("7", 7), ("0", 4), ("-3", 4), ("9999999", 9999999), ("10000000", 4), ("x", 4)):
            with unittest.mock.patch.dict(os.environ, {"GRADE_CPU_SECONDS": given}):
                self.assertEqual(sandbox.limit("cpu_seconds"), found)
        for limits, environment, why in (  # soft and hard ones; -1: none
            ({}, {}, ""),
            ({}, {"GRADE_MEMORY_MB": "1023"}, "GRADE_MEMORY_MB=1023: expected at least 1024$"),
            ({resource.RLIMIT_AS: (-1, 1024 << 20)}, {}, ""),
            ({resource.RLIMIT_AS: (-1, (1024 << 20) - 1)}, {}, "this shell allows 1023 MB of address space"),
            ({resource.RLIMIT_FSIZE: (64 << 20, -1)}, {}, ""),
            ({resource.RLIMIT_FSIZE: ((64 << 20) - 1, -1)}, {}, "this shell allows files of 67108863 bytes"),
        ):
            given = unittest.mock.patch.object(resource, "getrlimit", lambda of, its=limits: its.get(of, (-1, -1)))
            raises = self.assertRaisesRegex(Environment, f"^{why}") if why else contextlib.nullcontext()
            with given, unittest.mock.patch.dict(os.environ, environment), raises:
                sandbox.check_machine()
        self.assertEqual([sandbox._works([name]) for name in ("true", "false", "/none")], [True, False, False])
        no_bwrap = "bwrap may not make its namespaces here"
        for asked, works, found in (
            ("", "bwrap", ("bwrap", "")),
            ("", "unshare", ("namespaces", no_bwrap)),
            ("", "", ("limits", no_bwrap)),
            ("", "setpriv", ("user" if os.getuid() == 0 else "limits", no_bwrap)),
            ("user", "", "GRADE_SANDBOX=user: only root runs a submission as another user"),
            ("limits", "bwrap", ("limits", "GRADE_SANDBOX=limits")),
            ("namespaces", "bwrap unshare", ("namespaces", no_bwrap)),
            ("bwrap", "unshare", f"GRADE_SANDBOX=bwrap: {no_bwrap}"),
            ("namespaces", "", "GRADE_SANDBOX=namespaces: unshare may not make them here"),
            ("bwarp", "bwrap", "GRADE_SANDBOX=bwarp: expected bwrap, namespaces, user or limits"),  # not a weaker one
        ):
            works_here = unittest.mock.patch.object(sandbox, "_works", lambda command, works=works: command[0] in works)
            there = unittest.mock.patch.object(sandbox.shutil, "which", lambda *_: "/usr/bin/bwrap")
            with works_here, there, unittest.mock.patch.dict(os.environ, {"GRADE_SANDBOX": asked}):
                if isinstance(found, str):
                    self.assertRaisesRegex(Environment, f"^{found}$", sandbox.kind.__wrapped__)
                else:
                    self.assertEqual(sandbox.kind.__wrapped__(), found)

    def test_threads_that_are_there_already(self) -> None:
        """Of this user, whatever begins and ends meanwhile. Kills: a limit below which nothing can run."""
        with temporary() as proc, unittest.mock.patch.object(sandbox, "Path", lambda _: proc):
            for name in ("1/task/1", "1/task/2", "22/task/22", "self/task/9", "3"):
                (proc / name).mkdir(parents=True)
            self.assertEqual(sandbox._threads_now.__wrapped__(), 3)
            with unittest.mock.patch.object(sandbox.os, "getuid", lambda: -1):
                self.assertEqual(sandbox._threads_now.__wrapped__(), 0)

    def test_the_autograders_command_line(self) -> None:
        tool = ROOT / "classroom/autograder.py"
        with temporary() as scratch:
            out = str(scratch / "x.zip")
            for arguments, status, says in (
                (["--out", str(scratch)], 2, "is a directory"),
                (["--key", "two\nlines", "--out", out], 2, "one line"),
                (["--key", "ws27", "--out", out], 2, "a key of 4 characters"),
                (["--out", "/dev/full/x.zip"], 3, "cannot be written"),
                (["--o", "x"], 2, "--o"),
            ):
                done = run(sys.executable, tool, *arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(says, done.stderr)
            self.assertEqual(list(scratch.iterdir()), [])

    def test_nothing_begins_after_a_stop(self) -> None:
        program = (
            "import sys, threading, time; sys.path[:0] = sys.argv[1:3]\n"
            "from pathlib import Path\nfrom judge import sandbox\n"
            "threading.Timer(0.5, sandbox.stop).start()\n"
            "for _ in range(2):\n"
            "    begun = time.monotonic()\n"
            "    try:\n"
            "        sandbox.run(['sleep', '60'], output=Path(sys.argv[3]), cpu_seconds=9, memory_mb=1024)\n"
            "    except sandbox.Environment as error:\n"
            "        print(error, time.monotonic() - begun < 20)\n"
        )
        with temporary() as out:
            paths = [str(ROOT / "tools"), str(ROOT / "classroom"), str(out / "log")]
            done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "stopped True\nstopped True\n", done.stderr)
