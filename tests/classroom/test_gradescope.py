"""The autograder's zip, a grader that is stopped, and what a submission may do in a container."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

from case import running, until
from grading import CLASS_OF_WINDOWS, GRADE, ROOT, Graded, only_when_thorough, read_json, run

CONTAINER = Path(__file__).with_name("container.py")
WRONG = ("float m = -INFINITY;", 'float m = 0.0f; // <&">')


class Gradescope(Graded):
    def test_a_signal_ends_everything_at_once(self) -> None:
        """No process stays, no scratch directory, no half-written file; what there is says that it is not all."""
        tree, scratch = self.tree("stopped"), self.scratch / "scratch"
        self.grader().judge_of("01_naive")  # what make builds is there: only what is judged is to be ended
        self.replace(tree / "01_naive/naive.cu", "float m = -INFINITY;", "float m = 0;\n\twhile (N > 0)\n\t\tm += 1;")
        for kind in ("", "limits"):
            for number in (signal.SIGTERM, signal.SIGINT):
                into = self.scratch / f"{kind}{number}"
                for directory in (scratch, into):
                    directory.mkdir(exist_ok=True)
                command = [sys.executable, str(GRADE), "--submission", str(tree), "--results", str(into / "r.json")]
                environment = {**os.environ, "TMPDIR": str(scratch), "GRADE_SANDBOX": kind, "GRADE_CPU_SECONDS": "500"}
                with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as grader:
                    # the endless run, or one before it
                    until(lambda: grader.poll() is not None or list(scratch.glob("grade-*/*/out-*")), 300)
                    self.assertIsNone(grader.poll())
                    # again and again: a second one must not end what cleans up
                    end = time.monotonic() + 20
                    while grader.poll() is None and time.monotonic() < end:
                        grader.send_signal(number)
                    grader.kill()
                    self.assertEqual(grader.wait(), 128 + number)
                self.assertEqual(list(scratch.iterdir()), [])
                self.assertEqual(running(str(scratch)), [])
                self.assertEqual([path.name for path in into.iterdir()], ["r.json"])
                results = read_json(into / "r.json")
                self.assertIn("was stopped", results["output"])

    @only_when_thorough
    def test_the_autograder_grades(self) -> None:
        """The zip as Gradescope uses it, in a directory that stands for /autograder."""
        archive, base = self.scratch / "autograder.zip", self.scratch / "autograder"
        tool = ROOT / "classroom/autograder.py"
        self.succeeded(run(sys.executable, tool, "--out", archive, "--key", CLASS_OF_WINDOWS))
        again = self.scratch / "again.zip"
        run(sys.executable, tool, "--out", again, "--key", CLASS_OF_WINDOWS)
        self.assertEqual(archive.read_bytes(), again.read_bytes())
        (base / "source").mkdir(parents=True)
        (base / "results").mkdir()
        run("unzip", "-q", archive, "-d", base / "source")
        names = [path.name for path in (base / "source").rglob("*")]
        self.assertFalse([name for name in names if name == ".git" or name.endswith(".fast")])
        self.assertTrue((base / "source/tree/classroom/secret").exists())
        self.tree("submission", CLASS_OF_WINDOWS).rename(base / "submission")
        environment = {"SKIP_INSTALL": "1", "AUTOGRADER": str(base), "GRADE_SANDBOX": ""}
        inside = [sys.executable, CONTAINER] if os.getuid() == 0 else []
        for script in ("setup.sh", "run_autograder"):
            self.succeeded(run(*inside, base / "source" / script, environment=environment))
        results = read_json(base / "results/results.json")
        self.assertEqual(results["score"], 100, results["output"])
        if inside:
            self.assertIn("run as another user, with limits", results["output"])
            self.assertEqual(stat.S_IMODE((base / "source").stat().st_mode), 0o700)

    def test_in_a_container_a_submission_runs_as_another_user(self) -> None:
        """Docker allows no namespaces. Kills: a user who reads the key, writes what is not its own or ends the grader;
        a report that lacks the line of a race, because addr2line could not read the program."""
        if os.getuid() != 0:
            self.skipTest("only root may be another user")
        tree = self.tree("racing")
        self.replace(tree / "03_tiled_matmul/3_tiled.cu", "__syncthreads();", "")
        reports = []
        anywhere = "in bwrap|in namespaces|as another user"  # this may be a container, too: then both are the same
        for inside, says in (([], anywhere), ([sys.executable, CONTAINER], "as another user")):
            command = [sys.executable, GRADE, "--only", "03.tile", "--submission", tree]
            done = self.succeeded(run(*inside, *command, environment={"GRADE_SANDBOX": ""}))
            self.assertRegex(done.stdout, says)
            reports.append(done.stdout.partition("note: submissions run")[0])
        self.assertRegex(reports[0], "racecheck: .* at 3_tiled.cu:")
        self.assertEqual(*reports)
        key, out = self.scratch / "key", self.scratch / "out"
        key.write_text("secret")
        key.chmod(0o600)
        out.mkdir()
        script = f"cat {key}; echo x > {key}; kill -0 {os.getpid()} && echo killed; echo x > {out}/x; id -u"
        script += "; grep CapEff /proc/self/status"
        code = "import sys; from pathlib import Path; from judge import sandbox; o = Path(sys.argv[2])\n"
        code += "settings = {'output': o / 'said', 'cpu_seconds': 1, 'memory_mb': 1024, 'write': [o / 'out']}\n"
        code += "print(sandbox.run(['sh', '-c', sys.argv[1]], **settings))"
        command = [sys.executable, CONTAINER, sys.executable, "-c", code, script, self.scratch]
        done = run(*command, environment={"GRADE_SANDBOX": "", "PYTHONPATH": str(ROOT / "classroom")})
        self.assertIn("status=0", done.stdout, done.stderr)
        said = (self.scratch / "said").read_text()
        self.assertRegex(said, r"(?m)^65534\nCapEff:\s0+$")
        self.assertNotRegex(said, r"(?m)^secret|^killed")
        self.assertEqual((key.read_text(), (out / "x").read_text()), ("secret", "x\n"))
