"""tools/lib/files.py, and how every tool ends where its output cannot be written or its input not be read: one line."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from case import ROOT, Case, Outcome, run
from lib.files import replace_file

TOOLS = sorted(path.name for path in (ROOT / "tools").iterdir() if path.is_file() and os.access(path, os.X_OK))
DATA = "plots/data/sim/04_fa1.tsv"
EDITS = "tests/faults/04_fa1.edits"

# As another user, whom permissions hold; root writes everywhere.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


class Tools(Case):
    def tool(self, command: str, redirected: str = "", limits: str = "") -> Outcome:
        """From the repository's root, by a shell; @ is the scratch directory."""
        line = f"{limits} {ROOT}/tools/{command} {redirected}".replace("@", str(self.scratch))
        return run(["/bin/bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"], cwd=ROOT)

    def refused(self, status: int, says: str, command: str, redirected: str = "", limits: str = "") -> None:
        outcome = self.tool(command, redirected, limits)
        self.assertEqual(outcome.status, status, f"{command} {redirected}: {outcome}")
        says = says.replace("@", str(self.scratch))
        self.assertRegex(outcome.err, rf"\A[^\n]*{says}[^\n]*\n\Z", command)
        self.assertNotIn("Traceback", outcome.err)


class StandardOutput(Tools):
    PRINT = (f"rows {DATA}", "lines", "pages picture sim/roofline", "pages chapters", f"plant {EDITS}")

    def test_full_or_closed(self) -> None:
        for command in (*self.PRINT, *(f"{tool} --help" for tool in TOOLS if tool != "demonstrate")):
            self.refused(3, "standard output: No space left on device", command, "> /dev/full")
            self.refused(3, "standard output: is closed", command, ">&-")

    def test_a_reader_that_leaves(self) -> None:
        for command in self.PRINT:
            outcome = self.tool(command, "| true")
            self.assertIn(outcome.status, (0, 128 + signal.SIGPIPE), outcome)
            self.assertEqual(outcome.err, "", command)


class Inputs(Tools):
    def test_what_cannot_be_read(self) -> None:
        (self.scratch / "torn.tsv").write_text("# a\tb\n1\n")
        (self.scratch / "text").mkdir()
        for cell in ("-5", "inf"):
            (self.scratch / f"text/{cell}.tsv").write_text(f"# seq\tatomic_bytes\n-1\t{cell}\n")
        (self.scratch / "text/latin1.tsv").write_bytes(b"# caf\xe9\tb\n1\t2\n")
        long = "x" * 300
        for says, command in (
            ("@/torn.tsv:2: expected 2 cells, got 1", "rows @/torn.tsv"),
            ("@/text/latin1.tsv: expected text in UTF-8", "rows @/text/latin1.tsv"),
            ("@/text/-5.tsv:2: atomic_bytes is -5, expected 0 or more, or NaN", "rows @/text/-5.tsv"),
            ("@/text/inf.tsv:2: atomic_bytes is inf, expected 0", "draw one plots/fa1.gp @/text/inf.tsv @/out"),
            ("@: cannot be read: Is a directory", "rows @"),
            ("cannot be read: File name too long", f"rows {long}"),
            ("@/torn.tsv:2: expected 2 cells, got 1", "draw one plots/fa1.gp @/torn.tsv @/out"),
            ("@/torn.tsv:2: expected 2 cells, got 1", "draw one plots/roofline.gp @ @/out"),
            ("expected one of gnuplot's scripts", f"draw one @ {DATA} @/out"),
            ("@: Is a directory", "pages readme @"),
            ("@/none.md: No such file", "pages readme @/none.md"),
            ("@/none: cannot be read", "plant @/none"),
            ("@: cannot be read: Is a directory", "plant @"),
            ("@/text/latin1.tsv: expected text in UTF-8", "plant @/text/latin1.tsv"),
            ("@/torn.tsv:2: expected 2 cells, got 1", "ptxas show @/torn.tsv"),
            ("@/none: .*No such file", "ptxas show @/none"),
            ("draw: .*invalid choice: 'two'", "draw two"),
            ("rows: .*required: DATA", "rows"),
            ("rows: unrecognized arguments: --bogus", f"rows {DATA} --bogus"),
            ("plant: expected FILE.edits", f"plant {EDITS} --from @"),
        ):
            with self.subTest(command):
                self.refused(2, says, command)
        self.assertFalse(list(self.scratch.glob("out*")))

    def test_numbers_are_whole(self) -> None:
        for text in ("0x10", "1e3", "-1", "0", "+4", "\u0663"):
            self.refused(2, "SIZES: expected whole numbers", f"bench --sizes={text}")
            self.refused(2, "--jobs: expected", f"gpu_report --out @ --jobs={text}")
        for text in ("nan", "inf", "0x10", "-1", "1_0"):
            self.refused(2, "--seconds: expected", f"gpu_report --out @ --seconds={text}")


class Outputs(Tools):
    def test_what_cannot_be_written(self) -> None:
        (self.scratch / "file").write_text("")
        (self.scratch / "a.md").write_text("<!-- output: seq 2000 -->\n```text\n```\n")
        for says, command, limits in (
            ("@/file/out.* Not a directory", f"draw one plots/fa1.gp {DATA} @/file/out/x", ""),
            ("a.md: File too large", "pages readme @/a.md", "ulimit -f 1;"),
            ("@: Is a directory", "accuracy --page @", ""),
            ("@/no/page: No such file or directory", "accuracy --page @/no/page", ""),
            ("@/file", f"plant {EDITS} --from 04_fa1 --to @/file", ""),
        ):
            with self.subTest(command):
                self.refused(3, says, command, limits=limits)
        self.assertEqual(sorted(path.name for path in self.scratch.iterdir()), ["a.md", "file"])
        self.assertEqual((self.scratch / "a.md").read_text(), "<!-- output: seq 2000 -->\n```text\n```\n")


class ReplaceFile(Case):
    def test_several_writers(self) -> None:
        """Each, of four processes with four threads, has a file of its own until it renames it."""
        path, texts = self.scratch / "x", [str(i) * 200_000 for i in range(4)]
        program = """import sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[1])
from lib.files import replace_file
list(ThreadPoolExecutor(4).map(lambda _: replace_file(sys.argv[2], sys.argv[3] * 200_000), range(100)))
"""
        command = [sys.executable, "-c", program, str(ROOT / "tools"), str(path)]
        writers = [subprocess.Popen([*command, text[0]]) for text in texts]
        seen: set[str] = set()
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                seen.add(path.read_text())
        self.assertEqual([writer.returncode for writer in writers], [0] * 4)
        self.assertLessEqual(seen, set(texts))
        self.assertEqual(os.listdir(self.scratch), ["x"])

    def test_a_name_may_be_as_long_as_a_file_system_allows(self) -> None:
        """Kills: a new file beside it whose name is longer."""
        path = self.scratch / ("x" * 255)
        replace_file(path, "all of it")
        self.assertEqual((path.read_text(), os.listdir(self.scratch)), ("all of it", [path.name]))

    def test_what_is_there_keeps_its_kind(self) -> None:
        target, link, pipe = (self.scratch / name for name in ("target", "link", "pipe"))
        target.write_text("old")
        target.chmod(0o751)
        link.symlink_to("target")
        os.mkfifo(pipe)
        replace_file(link, "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual((target.read_text(), target.stat().st_mode & 0o777), ("new", 0o751))
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        replace_file(pipe, "through")
        self.assertEqual(reader.communicate()[0], b"through")
        replace_file("/dev/null", "nowhere")
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_an_error_names_the_file_and_leaves_nothing(self) -> None:
        (self.scratch / "folder").mkdir()
        (self.scratch / "folder/x").touch()
        (self.scratch / "folder/loop").symlink_to("loop")
        for path, number in (
            (self.scratch / "no/x", errno.ENOENT),
            (self.scratch / "folder", errno.EISDIR),
            (self.scratch / "folder/x/y", errno.ENOTDIR),
            (self.scratch / "folder/loop", errno.ELOOP),
            (self.scratch / ("y" * 300), errno.ENAMETOOLONG),
            (Path("/dev/full"), errno.ENOSPC),
        ):
            with self.assertRaises(OSError) as raised:
                replace_file(path, "text")
            self.assertEqual((raised.exception.errno, raised.exception.filename), (number, str(path)))
        self.assertEqual(os.listdir(self.scratch), ["folder"])
        # Kills: the traceback of a tool that resolves such a link; Python 3.13 has another error for it.
        program = "import sys; sys.path.insert(0, sys.argv[1]); from lib.files import Path, run_tool\n"
        program += "run_tool('tool', lambda: Path(sys.argv[2]).resolve(strict=True))"
        done = run([sys.executable, "-c", program, ROOT / "tools", self.scratch / "folder/loop"])
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertRegex(done.err, r"(?i)\Atool: [^\n]*(symlink loop|symbolic links)[^\n]*\n\Z")

    @unittest.skipIf(os.geteuid() == 0 and not Path("/usr/bin/setpriv").exists(), "no setpriv")
    def test_what_may_not_be_written(self) -> None:
        """A file, and a directory, without permission for who runs it: who may not be able to read the checkout."""
        self.scratch.chmod(0o755)
        shutil.copytree(ROOT / "tools/lib", self.scratch / "lib")
        for folder, mode in (("closed", 0o555), ("open", 0o777)):
            (self.scratch / folder).mkdir()
            (self.scratch / folder / "x").write_text("old")
            (self.scratch / folder / "x").chmod(0o444)
            (self.scratch / folder).chmod(mode)
        for path in ("closed/x", "closed/new", "open/x"):
            program = "import sys; from lib.files import replace_file\ntry: replace_file(sys.argv[1], 'new')\n"
            program += "except OSError as error: print(error.errno, error.filename)"
            command = [*NOBODY, sys.executable, "-c", program, self.scratch / path]
            outcome = run(command, cwd=self.scratch)
            self.assertEqual(outcome, (0, f"{errno.EACCES} {self.scratch / path}\n", ""), path)
        self.assertEqual((self.scratch / "open/x").read_text(), "old")
