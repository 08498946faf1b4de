"""How every tool ends where its input is wrong, or its output cannot be written: one line, a status, and nothing that
is half-written. And tools/lib/files.py, by which they do."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from case import ROOT, Case, Outcome, run
from lib.files import replace_file

TOOLS = sorted(path.name for path in (ROOT / "tools").iterdir() if path.is_file() and os.access(path, os.X_OK))
DATA = "plots/data/sim/04_fa1.tsv"
EDITS = "tests/faults/04_fa1.edits"
SIZES = "SIZES: expected whole numbers of at least 1, with commas between, got"

# As another user, whom permissions hold; root writes everywhere.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []

# Exit status | a pattern in the one line that is said | the tool and its arguments. @ is a scratch directory (Tools).
REFUSED = (
    (2, r"answer: N=0: expected an exercise of 01_naive, 1 to \d+$", "answer 01_naive -- 0"),
    *((2, rf"answer: N={text}: expected", f"answer 01_naive -- '{text}'") for text in ("99", "-1", "1x", "")),
    (2, "01_nave: expected a chapter, as 01_naive", "answer 01_nave"),
    (2, "CHAPTERS: expected some of 00_gpu, 01_naive", "bench --chapters 05_fa3"),
    *((2, SIZES, f"bench --sizes={text}") for text in ("0x10", "0", "\u0663", ",", "12,x")),
    (3, "/proc/none", "bench --data /proc/none"),
    (2, r"broken: 05_fa2/gone.cu: expected a kernel's file", "broken 05_fa2 gone.cu ./fa2"),
    (2, r"chapter.c: expected a __syncthreads\(\) in a loop", "broken 05_fa2 chapter.c ./fa2"),
    (2, "@/one.tsv: not a table of ceilings", "ceilings compare @/one.tsv @/one.tsv"),
    (2, "invalid choice: 'two'", "draw two"),
    (2, "@/torn.tsv:2: expected 2 cells, got 1", "draw one plots/roofline.gp @ @/out"),
    (2, "@/text/inf.tsv:2: atomic_bytes is inf, expected 0", "draw one plots/fa1.gp @/text/inf.tsv @/out"),
    (2, "expected one of gnuplot's scripts", f"draw one @ {DATA} @/out"),
    (3, "make bench DEVICE=cuda", "draw all cuda"),
    (2, "--out: expected a directory", "gpu_report"),
    (2, "--only: expected some of machine, build", "gpu_report --out @ --only everything"),
    *((2, "--jobs: expected a whole", f"gpu_report --out @ --jobs={text}") for text in ("0x10", "0")),
    *((2, "--seconds: expected", f"gpu_report --out @ --seconds={text}") for text in ("nan", "-1")),
    (2, "@: Is a directory", "pages readme @"),
    (2, "@/none.md: No such file", "pages readme @/none.md"),
    (1, "05_fa2/row.cu: no line that begins with 'while'", "pages loop 05_fa2/row.cu while"),
    (2, "@: cannot be read: Is a directory", "plant @ 04_fa1 @/out"),
    (2, "@/torn.tsv:2: expected 2 cells, got 1", "ptxas show @/torn.tsv"),
    (2, "sass.tsv: not a table of ptxas", "ptxas show gpu/compiled/03_tiled_matmul.sass.tsv"),
    (2, "ptxas.tsv: not a table of sass", "sass show gpu/compiled/03_tiled_matmul.ptxas.tsv"),
    (2, "required: DATA", "rows"),
    (2, "unrecognized arguments: --bogus", f"rows {DATA} --bogus"),
    (2, "@/torn.tsv:2: expected 2 cells, got 1", "rows @/torn.tsv"),
    (2, "@/text/latin1.tsv: expected text in UTF-8", "rows @/text/latin1.tsv"),
    (2, "expected some of T1, T2, T3, T4, T5, T6, T7, T8, T9, got 'T10'$", "tables --table T10"),
    (2, "DATA: expected a folder with data of make bench, got '@/none'", "tables --data @/none"),
    (2, "@/text/row.tsv:1: expected a line of columns", "tables --table T1 --published @/text/row.tsv"),
    (2, "@/one.tsv: expected a column table$", "tables --table T1 --published @/one.tsv"),
    (2, "no line for T1, 2048, read", "tables --table T1 --published @/empty.tsv"),
    (2, "folder with GPU/counters.tsv of make gpu-report, got '@/none'", "accuracy --data @/none"),
    (3, "/nowhere.tsv", "tables --table T1 --published /nowhere.tsv"),
    (2, "unrecognized", "text x"),
    # What cannot be written.
    (3, "@/file/out.* Not a directory", f"draw one plots/fa1.gp {DATA} @/file/out/x"),
    (3, "@/a.md: File too large", "pages readme @/a.md"),
    (3, "@: Is a directory", "accuracy --page @"),
    (3, "@/no/page: No such file or directory", "accuracy --page @/no/page"),
    (3, "@/file", f"plant {EDITS} 04_fa1 @/file"),
)


class Tools(Case):
    PRINT = (
        f"rows {DATA}",
        "lines",
        "pages picture sim/roofline",
        "pages chapters",
        "tables --table T1",
    )

    def tool(self, command: str, redirected: str = "") -> Outcome:
        """From the repository's root, by a shell."""
        limit = "ulimit -f 1; " if "a.md" in command else ""
        line = f"{limit}{ROOT}/tools/{command} {redirected}".replace("@", str(self.scratch))
        return run(["/bin/bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"], cwd=ROOT)

    def refused(self, status: int, says: str, command: str, redirected: str = "") -> None:
        outcome = self.tool(command, redirected)
        self.assertEqual(outcome.status, status, f"{command} {redirected}: {outcome}")
        self.assertRegex(outcome.err, r"\A[^\n]*\n\Z", command)
        self.assertRegex(outcome.err, says.replace("@", str(self.scratch)), command)

    def test_what_is_refused(self) -> None:
        (self.scratch / "text").mkdir()
        made = {
            "torn.tsv": "# a\tb\n1\n",
            "one.tsv": "# a title\n# a\tb\n1\t2\n",
            "text/row.tsv": "T1\t2048\n",
            "empty.tsv": "# table\trow\tquantity\tvalue\tunit\texpect\tsource\tnote\n",
            "text/inf.tsv": "# seq\tatomic_bytes\n-1\tinf\n",
            "text/latin1.tsv": b"# caf\xe9\tb\n1\t2\n",
            "a.md": "<!-- output: seq 2000 -->\n```text\n```\n",
            "file": "",
        }
        made = {name: text if isinstance(text, bytes) else text.encode() for name, text in made.items()}
        for name, text in made.items():
            (self.scratch / name).write_bytes(text)
        for status, says, command in REFUSED:
            with self.subTest(command):
                self.refused(status, says, command)
        left = {str(path.relative_to(self.scratch)): path for path in self.scratch.rglob("*") if path.is_file()}
        self.assertEqual({name: path.read_bytes() for name, path in left.items()}, made)

    def test_a_standard_output_that_is_full_or_closed(self) -> None:
        for command in (*self.PRINT, *(f"{tool} --help" for tool in TOOLS if tool != "demonstrate")):
            self.refused(3, "standard output: No space left on device", command, "> /dev/full")
            self.refused(3, "standard output: is closed", command, ">&-")

    def test_a_reader_that_leaves(self) -> None:
        for command in self.PRINT:
            outcome = self.tool(command, "| true")
            self.assertIn(outcome.status, (0, 128 + signal.SIGPIPE), outcome)
            self.assertEqual(outcome.err, "", command)

    def test_what_ends_a_tool_lets_it_clean_up(self) -> None:
        program = """import os, signal, sys
sys.path.insert(0, sys.argv[1])
from lib.files import run_tool
def main():
    try:
        os.kill(os.getpid(), int(sys.argv[2]))
        signal.pause()
    finally:
        os.kill(os.getpid(), int(sys.argv[2]))
        print("cleaned up")
run_tool("tool", main)
"""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            done = run([sys.executable, "-c", program, ROOT / "tools", str(int(number))])
            self.assertEqual(done, (128 + number, "cleaned up\n", ""))


class ReplaceFile(Case):
    def test_what_is_there_keeps_its_kind(self) -> None:
        """A name may be as long as a file system allows: kills a new file beside it whose name is longer."""
        target, link, pipe = (self.scratch / name for name in ("x" * 255, "link", "pipe"))
        target.write_text("old")
        target.chmod(0o751)
        link.symlink_to(target.name)
        os.mkfifo(pipe)
        replace_file(link, "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual((target.read_text(), target.stat().st_mode & 0o777), ("new", 0o751))
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        replace_file(pipe, "through")
        self.assertEqual(reader.communicate()[0], b"through")
        list(ThreadPoolExecutor(4).map(lambda n: replace_file(target, str(n % 4) * 200_000), range(100)))
        self.assertEqual(len(set(target.read_text())), 1)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["link", "pipe", "x" * 255])

    def test_an_error_names_the_file_and_leaves_nothing(self) -> None:
        folder = self.scratch / "folder"
        folder.mkdir()
        (folder / "x").touch()
        (folder / "loop").symlink_to("loop")
        for path, number in (
            (self.scratch / "no/x", errno.ENOENT),
            (folder, errno.EISDIR),
            (folder / "x/y", errno.ENOTDIR),
            (folder / "loop", errno.ELOOP),
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
        done = run([sys.executable, "-c", program, ROOT / "tools", folder / "loop"])
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertRegex(done.err, r"(?i)\Atool: [^\n]*(symlink loop|symbolic links)[^\n]*\n\Z")

    @unittest.skipIf(os.geteuid() == 0 and not Path("/usr/bin/setpriv").exists(), "no setpriv")
    def test_what_may_not_be_written(self) -> None:
        """A file without permission for who runs it, in a folder that has it: kills one that is replaced."""
        self.scratch.chmod(0o777)
        shutil.copytree(ROOT / "tools/lib", self.scratch / "lib")
        path = self.scratch / "x"
        path.write_text("old")
        path.chmod(0o444)
        program = "import sys; from lib.files import replace_file; replace_file(sys.argv[1], 'new')"
        outcome = run([*NOBODY, sys.executable, "-c", program, path], cwd=self.scratch)
        self.assertIn(f"[Errno {errno.EACCES}] Permission denied: '{path}'", outcome.err)
        self.assertEqual(path.read_text(), "old")
