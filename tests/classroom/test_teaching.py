"""TEACHING.md: its plan is that of tasks.tsv, its commands exist, and its walk leads to a task that is graded."""

from __future__ import annotations

import re
import shutil

from grading import ROOT, only_when_thorough, run
from hand_ins import Collected
from lib import tasks

PAGE = (ROOT / "classroom/TEACHING.md").read_text(encoding="utf-8")
MINUTES = 5  # a line


class Teaching(Collected):
    def test_the_plan_is_that_of_the_list(self) -> None:
        rows = {
            row[1]: row for row in re.findall(r"^\| ([\d, ]+) \| (\d\d_\w+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.M)
        }
        listed = tasks.read_tasks(ROOT / "classroom/tasks.tsv")
        for chapter in {task.chapter for task in listed}:
            mine = [task for task in listed if task.chapter == chapter]
            names = ", ".join(task.id.partition(".")[2] for task in mine)
            minutes, points = MINUTES * sum(int(task.lines) for task in mine), sum(task.points for task in mine)
            self.assertEqual(rows[chapter][2:], (names, str(minutes), f"{points:g}"))
        self.assertEqual(len(rows), 11)

    def test_its_commands_are_those_of_make(self) -> None:
        commands = re.findall(r"^    (make .+?)(?:   .*)?$", PAGE, re.M)
        self.assertEqual(len(commands), 4)
        listed = run("make", "-s", "-C", ROOT, "help").stdout
        for command in commands:
            self.assertIn(" ".join(command.split()[:2]), listed)
            done = run("make", "-n", "-C", ROOT, *command.split()[1:])
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")

    def test_the_weekly_commands_run(self) -> None:
        self.put("1.csv", "name,id\nAnna Meyer,7\nBo Li,8\n")
        self.put("in/Anna Meyer_101_assignsubmission_file_/01.score.cu", "dot = 1.0f;\n")
        for tool in ("grade", "similar"):
            command = next(each for each in PAGE.split("\n") if each.startswith(f"    make {tool} SUBMISSIONS="))
            command = command.replace("../term/1.zip", "../term/in").replace("../term", str(self.scratch))
            self.succeeded(run("make", "-s", "-C", ROOT, *command.split()[1:]))
        self.assertEqual([row["flags"] for row in self.rows("points")], ["late?", "absent"])  # no time is in it

    @only_when_thorough
    def test_the_walk(self) -> None:
        """Kills: a block that does not apply, a stub that passes, a hand-out that is refused."""
        copy = self.scratch / "course"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "shared"), symlinks=True
        )
        blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
        self.assertEqual(len(blocks), 3)
        for block in blocks[:-1]:
            self.succeeded(run("bash", "-ec", f"cd '{copy}'\n{block}"))
        said = [self.succeeded(run("bash", "-ec", f"cd '{copy}'\n{line}")) for line in blocks[-1].splitlines()]
        self.assertRegex(said[0].stdout, r"01\.place( +ok){6} +2/2")
        self.assertRegex(said[2].stdout, r"01\.place +NO.* 0/2")
