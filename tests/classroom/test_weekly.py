"""Chapters that are handed out one after the other, and variables that make does not read."""

from __future__ import annotations

import json
import re
import shlex
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from grading import ROOT, Scratch, only_when_thorough, run, tool
from tree import PROGRAMS

CLASS = "a class of the test"


class Weekly(Scratch):
    def hand(self, *options: str | Path, status: int = 0) -> str:
        done = tool(*options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def files(self, tree: Path) -> dict[str, tuple[bytes, int]]:
        """But what was built."""
        built = re.compile(r"build/|.*__pycache__")
        paths = {str(path.relative_to(tree)): path for path in tree.rglob("*") if path.is_file()}
        kept = {name: path for name, path in paths.items() if not built.match(name)}
        return {name: (path.read_bytes(), path.stat().st_mtime_ns) for name, path in kept.items()}

    def test_chapters_join(self) -> None:
        """Bit by bit it becomes the whole hand-out; what a student wrote stays, or nothing is written."""
        whole, tree = self.scratch / "whole", self.scratch / "tree"
        self.hand(whole, "--class", CLASS)
        _, *chapters = PROGRAMS
        said = self.hand(tree, "--class", CLASS, "--chapters", "1,02")
        self.assertRegex(said, r"tree: 2 chapters, 7 tasks, of a class \(.*\): class.tsv\n$")
        self.assertEqual({path.name for path in tree.iterdir()} & {*PROGRAMS}, {"00_gpu", *chapters[:2]})
        self.assertEqual({path.name[:2] for path in (tree / "classroom/tasks").iterdir()}, {"01", "02"})
        self.assertIn("expected a task, 1 to 7 or", run("make", "-s", "-C", tree, "hint", "N=8").stderr)
        self.assertIn(" 7  02.correct", run("make", "-s", "-C", tree, "hint").stdout)
        checked = run(sys.executable, tree / "classroom/grade.py", "--check").stdout
        self.assertEqual(re.findall(r"(?m)^(\d\d\.\S+) +not begun$", checked)[0::6], ["01.score", "02.correct"])
        self.assertNotIn("03.load", checked)
        # at work
        (tree / "01_naive/naive.cu").write_text("mine\n")
        (tree / "WORKLOG.md").write_text("mine\n")
        (tree / "notes").write_text("mine\n")
        mine = self.files(tree)
        for options, why in (
            # Told before its files, which differ, too.
            (("--class", "another class of it", "--chapters", "01"), "class.tsv is of another class"),
            (("--class", CLASS), "is not empty; expected an empty directory, or none"),
        ):
            said = self.hand(tree, *options, status=2)
            self.assertRegex(said, rf"^handout: [^\n]*{re.escape(why)}[^\n]*\n$")
            self.assertEqual(self.files(tree), mine)
        said = self.hand(tree, "--class", CLASS, "--chapters", "03")
        self.assertRegex(
            said, r"tree: 03_tiled_matmul: \d+ files joined; not as handed out, and left as they are: WORKLOG.md\n"
        )
        self.assertEqual({name: each for name, each in self.files(tree).items() if name in mine}, mine)
        done = run(
            "make", "-s", "-C", ROOT, "handout", f"OUT={tree}", f"CLASS={CLASS}", f"CHAPTERS={' '.join(chapters[3:])}"
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("0 files joined", self.hand(tree, "--class", CLASS, "--chapters", "04"))
        own = {"01_naive/naive.cu", "WORKLOG.md", "notes"}
        found, expected = ({name: text for name, (text, _) in self.files(at).items()} for at in (tree, whole))
        self.assertEqual(found.keys() - {"notes"}, expected.keys())
        self.assertEqual({name for name, text in expected.items() if found[name] != text}, own - {"notes"})
        self.assertEqual(list(self.scratch.glob(".handout-*")), [])

    @only_when_thorough
    def test_the_steps_of_github_classroom(self) -> None:
        """What classroom.yml runs, in a tree in which a student has begun; all but the installation."""
        tree = self.scratch / "tree"
        self.hand(tree, "--class", CLASS, "--chapters", "01")
        self.hand("--solve", tree, "--except", "01.softmax")
        text = (ROOT / "classroom/github/classroom.yml").read_text()
        steps = [  # of one line, or of the lines that stand deeper
            inline if inline != "|" else re.sub(r"(?m)^ {10}", "", block)
            for inline, block in re.findall(r"(?m)^        run: (.+)\n((?: {10}.*\n)*)", text)
        ]
        self.assertEqual(len(steps), 4)
        self.assertIn("apt-get", steps.pop(0))
        summary = self.scratch / "summary"
        for step in steps:
            done = run("bash", "-e", "-c", f"cd '{tree}' && {step}", environment={"GITHUB_STEP_SUMMARY": str(summary)})
            self.assertEqual(done.returncode, 0, step + done.stdout + done.stderr)
        self.assertRegex(summary.read_text(), r"(?s)^```\n.*\n01.softmax .*0/4\n.*\nall tasks +0/10\n.*```\n$")
        results = json.loads((tree / "results.json").read_text())
        self.assertEqual([each["number"] for each in results["tests"]], ["01.score", "01.softmax", "01.weighted-sum"])
        self.assertEqual(xml.parse(tree / "junit.xml").getroot().get("tests"), "18")

    def test_a_variable_that_is_not_read_is_refused(self) -> None:
        for command, why in (
            ("grade SUBMIT=x", "SUBMIT=: not read by 'make grade', which was not begun; it reads ASSIGNMENT"),
            ("grade CLASS=x", "CLASS=: not read by 'make grade'"),
            ("handout KEY=x OUT=x", "KEY=: not read by 'make handout', which was not begun; it reads CHAPTERS"),
            ("chapters DEVICES=sim 'X=a b=c'", "DEVICES= X=: not read"),
            ("chapters 'ARGS=--x A=b' SIM_ORDER=reverse GRADE_JOBS=1 CC=gcc", ""),
            ("-C 01_naive device 'ARG=--seq 8'", "ARG=: not read by 'make device'"),
            ("-C 01_naive device DEVICE=sim 'ARGS=--seq 8'", ""),
        ):
            done = run("make", "-s", *shlex.split(command))
            self.assertEqual(done.returncode, 2 if why else 0, done.stderr)
            (self.assertIn if why else self.assertEqual)(why, done.stderr)

    def test_what_the_pages_say_is_read(self) -> None:
        """Kills: a variable of a page's command that the list does not have."""
        pages = [
            *ROOT.glob("*.md"),
            *(page for chapter in PROGRAMS for page in (ROOT / chapter).glob("*.md")),
            *(ROOT / "classroom").glob("**/*.md"),
            ROOT / "gpu/README.md",
        ]
        makefile = self.scratch / "Makefile"
        makefile.write_text(f"include {ROOT}/common/asked.mk\n.PHONY: FORCE\n%: FORCE ; @:\nall: ; @:\nFORCE:\n")
        commands = set()
        for page in [*pages, ROOT / "Makefile", ROOT / "tools/maintain.mk", ROOT / "common/chapter.mk"]:
            for command in re.findall(r"(?:^|[`\"(\s])make ((?:-[sj]\d* )?[^`\n#;|&()\"]*)", page.read_text()):
                goals = re.findall(r"(?<!\S)([a-z][a-z-]+)(?=\s|$)", command.split("=")[0])
                if "-C" not in command and (names := re.findall(r"(?<![\w.{])([A-Z][A-Z_]*)=", command)):
                    commands.add((goals[0] if goals else "all", *names))
        self.assertGreater(len(commands), 15)
        for goal, *names in sorted(commands):
            done = run("make", "-s", "-f", makefile, goal, *(f"{name}=x" for name in names))
            self.assertEqual(done.returncode, 0, f"make {goal} {names}: {done.stderr}")
