"""What a chapter's program writes, where it cannot, and how it ends: no half-written file, one line that says why."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from subprocess import PIPE

from case import ROOT, Case, Outcome, run, started
from lib.flat_model import sealed

NAIVE = ROOT / "01_naive/naive"
SMALL = "--seq 8 --dim 4"


class Outputs(Case):
    def naive(self, options: str, limits: str = "", redirected: str = "") -> Outcome:
        """In the scratch directory, by a shell with these limits (of ulimit) and redirections."""
        return run(["/bin/bash", "-c", f"{limits} exec {NAIVE} {options} {redirected}"], cwd=self.scratch)

    def refused(self, status: int, says: str, options: str, limits: str = "", redirected: str = "") -> Outcome:
        outcome = self.naive(options, limits, redirected)
        self.assertEqual(outcome.status, status, f"{options}: {outcome.err}")
        self.assertRegex(outcome.err, rf"\A[^\n]*{says}[^\n]*\n\Z")
        return outcome

    def library(self, text: str) -> str:
        """To be preloaded, of C; not in the scratch directory."""
        place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (place / "own.c").write_text(text)
        made = run([*os.environ.get("CC", "gcc").split(), "-shared", "-fPIC", "-o", place / "own.so", place / "own.c"])
        self.assertEqual((made.status, made.err), (0, ""))
        return str(place / "own.so")

    def shell(self, line: str, place: Path) -> Outcome:
        """There, with chapter 01's program as a command."""
        path = f"{NAIVE.parent}:{os.environ['PATH']}"
        return run(["/bin/bash", "-c", line], cwd=place, PATH=path, SMALL=SMALL)

    def left(self) -> list[str]:
        return sorted(path.name for path in self.scratch.iterdir())


def contents(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


LINKS = "touch there; ln -s . here; ln -s there link"
INPUTS = "naive $SMALL --quiet --save in && mv in/o.npy in/q.npy && cp in/q.npy in/k.npy && cp in/q.npy in/v.npy"
OWN = "--json, --tsv: .*: each needs a file of its own"
# What is there before, the command, its exit status, and what it says.
REFUSED = (
    (LINKS, "naive $SMALL --json x --tsv ./x", 2, OWN),
    (LINKS, "naive $SMALL --json x --tsv $PWD/x", 2, OWN),
    (LINKS, "naive $SMALL --json x --tsv here/x", 2, OWN),
    (LINKS, "naive $SMALL --json there --explain link", 2, "each needs a file of its own"),
    (LINKS, "naive $SMALL --tsv there --explain link", 2, "each needs a file of its own"),
    (LINKS, "naive $SMALL --save . --tsv here/o.npy", 2, "o.npy: is O of --save, expected another file"),
    (LINKS, "naive $SMALL --json - --tsv /dev/stdout", 2, "only one of them can write to standard output"),
    ("ln -s one other; ln -s other one", "naive $SMALL --json one", 3,
     "one: cannot be written: Too many levels of symbolic links"),
    # What is read is not replaced.
    (INPUTS, "naive --load in --quiet --json in/k.npy", 2, "is K of --load, expected another file"),
    (INPUTS, "naive $SMALL --details in --json in/0.0.actual", 2, "of --details, expected another file"),
    (INPUTS, "naive --load in --quiet --details in", 2, "in/q.npy: is Q of --load, expected another file"),
    (f"{INPUTS}; mkdir out; ln -s ../in/q.npy out/o.npy", "naive --load in --quiet --save out", 2, "o.npy: is Q of"),
    (f"{INPUTS}; mkdir out; ln -s ../in/k.npy out/v.npy", "naive --load in --quiet --details out", 2, "v.npy: is K of"),
    # What cannot be read or written leaves nothing.
    ("echo not numpy > q.npy", "naive --load . --save out", 2, "q.npy: is not a .npy file"),
    ("touch file", "naive $SMALL --save file", 3, "not a directory"),
    (":", "naive $SMALL --save no/such", 3, "cannot be created"),
    (":", "naive $SMALL --json no/x.json", 3, "cannot be written"),
    (":", "naive $SMALL --quiet --tsv /dev/full --json /dev/null --save /dev/null", 3, ""),
    (":", "ulimit -f 1; naive --sweep --dim 4 --tsv x --quiet", 3, "cannot be written: File too large"),
    (":", "ulimit -f 1; naive --seq 40 --dim 40 --save . --quiet", 3, "cannot be written: File too large"),
    # The device gives up in the middle of a sweep, whose file is open.
    (":", "ulimit -v 800000; naive --sweep --quiet --tsv x", 3, "memory"),
    # A kernel that is right would write NaN there, and be called wrong.
    (":", "naive $SMALL --scale 1e38", 2,
     r"scale q\.k may reach 9\..e\+38 with these inputs: fp32 ends at 3\.4e\+38, .* or a smaller --scale"),
)  # fmt: skip


class Files(Outputs):
    def test_a_pipe_is_opened_once(self) -> None:
        """Opened twice, its reader takes the first end for the end of the data and goes; the program waits."""
        pipe, got = self.scratch / "pipe", []
        os.mkfifo(pipe)
        with (
            started(["cat", pipe], stdout=PIPE) as cat,
            started([NAIVE, *SMALL.split(), "--quiet", "--json", pipe], stdout=PIPE, stderr=PIPE) as naive,
        ):
            reader = threading.Thread(target=lambda: got.append(cat.stdout.read()))
            reader.start()
            out, err = naive.communicate(timeout=60)
            reader.join(10)
        self.assertEqual((naive.returncode, err), (0, ""))
        self.assertEqual(json.loads(got[0])["chapter"], "01_naive")

    def test_refused(self) -> None:
        """One line, and what was there is as it was."""
        for number, (before, command, status, says) in enumerate(REFUSED):
            with self.subTest(f"{before}; {command}"):
                place = self.scratch / str(number)
                place.mkdir()
                self.assertEqual(self.shell(before, place).status, 0)
                was = contents(place)
                done = self.shell(command, place)
                self.assertEqual(done.status, status, done.err)
                self.assertRegex(done.err, rf"\A[^\n]*{says}[^\n]*\n\Z")
                self.assertEqual(contents(place), was)

    def test_written(self) -> None:
        """To files of their own, whatever leads to them. Kills: a file that loses its permissions, a link in another
        directory that leads to a file of this one."""
        self.assertEqual(self.naive(f"{SMALL} --quiet --json /dev/null --tsv /dev/null").status, 0)
        self.assertEqual(self.naive(f"{SMALL} --quiet --json x --tsv y").status, 0)
        self.assertEqual(self.left(), ["x", "y"])
        (self.scratch / "link").symlink_to("later")
        self.assertEqual(self.naive(f"{SMALL} --quiet --json link").status, 0)
        self.assertTrue((self.scratch / "link").is_symlink())
        (self.scratch / "x").chmod(0o640)
        (self.scratch / "in").mkdir()
        (self.scratch / "in/link").symlink_to("own")
        self.assertEqual(self.naive(f"{SMALL} --quiet --json x --tsv in/link").status, 0)
        self.assertEqual((self.scratch / "x").stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.left(), ["in", "later", "link", "x", "y"])
        self.assertEqual(sorted(contents(self.scratch / "in")), ["link", "own"])
        outcome = self.naive(f"{SMALL} --json /dev/stdout", redirected="> out")
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        for name in ("x", "later", "out"):
            self.assertEqual(json.loads((self.scratch / name).read_text())["chapter"], "01_naive")

    def test_a_link_in_details_is_replaced(self) -> None:
        """Arrays are opened, not renamed: what a link leads to would be overwritten."""
        (self.scratch / "kept").write_text("kept")
        self.assertEqual(self.naive(f"{SMALL} --quiet --details about").status, 0, "a directory that is not there yet")
        (self.scratch / "about/0.0.actual").unlink()
        (self.scratch / "about/0.0.actual").symlink_to("../kept")
        (self.scratch / "about/run.json").write_text("old")
        self.assertEqual(self.naive(f"{SMALL} --quiet --details about").status, 0)
        self.assertEqual((self.scratch / "kept").read_text(), "kept")
        self.assertIn("kernels", json.loads((self.scratch / "about/run.json").read_text()))

    def test_a_name_commands_no_terminal(self) -> None:
        name = "in\x1b[31m"
        self.assertEqual(run([NAIVE, *SMALL.split(), "--quiet", "--details", name], cwd=self.scratch).status, 0)
        outcome = run([NAIVE, "--load", name], cwd=self.scratch)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertIn("input from in?[31m\n", outcome.out)

    def test_one_directory_for_several_at_once(self) -> None:
        """Each of them finds it missing, or made by another meanwhile."""
        many = f'for i in 1 2 3 4 5 6; do {NAIVE} {SMALL} --quiet --save out & all="$all $!"; done; '
        outcome = run(["/bin/bash", "-c", f"{many} for one in $all; do wait $one || exit 1; done"], cwd=self.scratch)
        self.assertEqual((outcome.status, outcome.err), (0, ""))

    def test_a_file_that_may_not_grow(self) -> None:
        limit = "ulimit -f 1;"
        self.refused(3, "standard output: cannot be written: File too large", "--sweep --dim 4", limit, "> x")
        # The inputs fit; of what is expected, twice as long, it is known when the file is closed.
        self.refused(3, "d/0.0.expected: cannot be written", "--seq 40 --dim 5 --details d --quiet", limit)

    def test_limits_of_the_shell(self) -> None:
        """Each program runs, or says in one line why not. A result on the stack ended it by a signal (ulimit -s)."""
        programs = ("01_naive/naive", "05_fa2/fa2", "06_backward/backward", "08_decode/decode")
        for limit, status in {
            "ulimit -s 64;": 0,
            "ulimit -s 256;": 0,
            "ulimit -v 300000;": 3,
            "ulimit -v 3000000; export SIM_THREADS=1000;": 3,
        }.items():
            for program in programs:
                line = f"{limit} exec {ROOT / program} {SMALL} --quiet --json x"
                outcome = run(["/bin/bash", "-c", line], cwd=self.scratch)
                self.assertEqual(outcome.status, status, f"{line}: {outcome.err}")
                self.assertRegex(outcome.err, r"\A[^\n]+\n\Z" if status else r"\A\Z", line)
                self.assertEqual(self.left(), [] if status else ["x"], line)
                (self.scratch / "x").unlink(missing_ok=True)

    def test_ended_from_outside(self) -> None:
        """Kills: a file that is begun before the run ends, next to its place or in it."""
        old = self.scratch / "x"
        old.write_text("of yesterday")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            command = [NAIVE, "--sweep", "--heads", "20", "--quiet", "--tsv", old]
            with started(["env", "--default-signal", *command], cwd=self.scratch) as process:
                time.sleep(0.3)
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
            self.assertEqual((self.left(), old.read_text()), (["x"], "of yesterday"), number)

    def test_ended_while_a_file_is_beside_its_place(self) -> None:
        """Kills: a signal that one of the device's threads takes, and a place that is tried with none held."""
        library = self.library(ENDING)
        for name, text in (("unlink", "of yesterday"), ("rename", None)):
            (self.scratch / "x").write_text("of yesterday")
            options, ended = f"{SMALL} --quiet --tsv x", 128 + signal.SIGTERM
            self.run_program(NAIVE, options, ended, LD_PRELOAD=library, END_IN=name)
            self.assertEqual(self.left(), ["x"], name)
            kept = (self.scratch / "x").read_text()
            self.assertTrue(kept == text if text else kept.startswith("#") and kept.endswith("\n"), kept)

    def test_no_page_is_promised(self) -> None:
        """Results are shown, the page that could not be written is not named."""
        outcome = self.refused(3, "/dev/full: cannot be written", f"{SMALL} --explain /dev/full")
        self.assertIn("verified", outcome.out)
        self.assertNotIn("Page:", outcome.out)
        self.assertIn("Page: y, for a browser", self.naive(f"{SMALL} --explain y").out)


# A SIGTERM for the whole process, before the file beside another is renamed or removed.
ENDING = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void end_in(const char *name, const char *path)
{
	if (strcmp(name, getenv("END_IN")) == 0 && strstr(path, ".new."))
		kill(getpid(), SIGTERM), usleep(50000);
}
int unlink(const char *path) { end_in("unlink", path); return unlinkat(AT_FDCWD, path, 0); }
int rename(const char *from, const char *to) { end_in("rename", from); return renameat(AT_FDCWD, from, AT_FDCWD, to); }
"""

# malloc, calloc and realloc of which the one numbered FAIL_AT finds no memory.
FAILING = r"""
#include <errno.h>
#include <stdlib.h>
static int left;
static __attribute__((constructor)) void begin(void) { left = atoi(getenv("FAIL_AT")); }
static int fails(void) { return left > 0 && --left == 0 ? (errno = ENOMEM, 1) : 0; }
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
"""


class Memory(Outputs):
    TINY = f"--model {ROOT}/tests/data/tiny_model/tiny.bin --prompt Hi --tokens 1 --quiet"
    RUNS = (
        ("01_naive/naive", "--seq 3 --dim 2 --json j --tsv t --save s --quiet", range(1, 122), {
            "the names of files", "Q", "the reference", "O", "the counts of 0 launches", "the counts of 3 launches"}),
        ("01_naive/naive", "--seq 3 --dim 2 --verbose", range(60, 160, 2), {"a table"}),
        ("00_gpu/gpu", "--rows 3 --cols 2 --quiet", [*range(1, 12), *range(58, 100, 3)], {"x", "the reference"}),
        ("06_backward/backward", "--seq 2 --dim 1 --quiet", range(1, 40, 2), {"Q", "the reference of the gradients"}),
        ("09_variants/variants", "--seq 3 --dim 2 --heads 1 --sink --quiet", range(4, 360, 12), {
            "sink", "the reference of the last rows"}),
        ("08_decode/decode", "--seq 3 --heads 1 --kv-heads 1 --dim 2 --quiet", range(1, 16), {"Q", "the reference"}),
        ("08_decode/decode", TINY, range(1, 30), {
            "the sampler", "64 tokens", "the system prompt", "the prompt", "the text", "the forward pass"}),
    )  # fmt: skip

    @unittest.skipUnless(platform.libc_ver()[0] == "glibc", "malloc of another C library")
    def test_each_allocation_may_fail(self) -> None:
        """Kills: one whose result nobody looks at, a status that is none, a line that is lost or of something else."""
        library = self.library(FAILING)
        for program, options, numbers, expected in self.RUNS:
            found, name = set(), Path(program).name
            for number in numbers:
                fails = {"LD_PRELOAD": library, "FAIL_AT": str(number), "SIM_THREADS": "1"}
                done = run([ROOT / program, *options.split()], cwd=self.scratch, **fails)
                self.assertIn(done.status, (0, 3), f"{program} {options}: allocation {number}: {done.err}")
                line = re.fullmatch(
                    rf"(?:{name}: (?:\S+: )?(?:out of memory(?: for (.*))?|cannot be written: Cannot allocate memory)|"
                    r"the simulated device .*)\n", done.err,
                )  # fmt: skip
                self.assertEqual(bool(line), done.status == 3, f"{program} {options}: allocation {number}: {done.err}")
                found.add(line and line[1])
            self.assertLessEqual(expected, found, f"{program} {options}")

    OVERRUN = (
        "00_gpu/gpu --rows 3 --cols 5 --verbose",
        "01_naive/naive --seq 5 --dim 3 --json j --tsv t --save s",
        "01_naive/naive --load s",
        "02_online_softmax/online_softmax --rows 3 --cols 5 --dim 2",
        "02_online_softmax/online_softmax --trace --values 1,2,3,4,5,6,7,8,9 --block 4",
        "03_tiled_matmul/tiled_matmul --m 3 --n 5 --k 7",
        "04_fa1/fa1 --seq 5 --dim 3 --tile-k 2 --trace",
        "05_fa2/fa2 --seq 5 --dim 3 --verbose",
        "06_backward/backward --seq 5 --dim 3 --details d",
        "07_transformer/transformer --seq 5 --heads 2 --dim 6 --kv-heads 1",
        f"07_transformer/transformer {TINY} --count-all",
        f"08_decode/decode {TINY} --temperature 0.7 --top-p 0.9",
        "08_decode/decode --seq 5 --heads 2 --dim 3 --kv-heads 1 --page 2",
        "09_variants/variants --lengths 2,3 --sink --heads 4 --kv-heads 2 --dim 3 --splits 2",
        "10_pipeline/pipeline --seq 5 --dim 3 --verbose",
    )

    def test_no_allocation_is_overrun(self) -> None:
        """Kills: one that is an element too small. glibc's own check of heaps puts a byte behind each."""
        checked = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3", "SIM_CHECK": "none"}
        if run(["true"], **checked).err:
            self.skipTest("a C library without libc_malloc_debug.so.0")
        for line in self.OVERRUN:
            program, *options = line.split()
            for tensor in "qkv" if "--load" in options else "":
                shutil.copy(self.scratch / "s/o.npy", self.scratch / f"s/{tensor}.npy")
            done = run([ROOT / program, *options], cwd=self.scratch, **checked)
            self.assertEqual((done.status, done.err), (0, ""), line)


# A clock that goes on TICK seconds each time that the main thread looks at it.
CLOCK = r"""
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
	static double at = 1000.0;
	if (clock != CLOCK_MONOTONIC || syscall(SYS_gettid) != getpid())
		return (int)syscall(SYS_clock_gettime, clock, now);
	at += atof(getenv("TICK"));
	now->tv_sec = (time_t)at;
	now->tv_nsec = (long)((at - (double)now->tv_sec) * 1e9);
	return 0;
}
"""


class Estimates(Outputs):
    """What --prompt says of its time, where time is only what the clock above says."""

    COUNTING = "Counting every kernel: 70 + 2 tokens, 14.1 MB requested, "
    RUNS = (
        # 14,587,136 bytes are what that run counts. Without --tokens 4, of which the last one is not run.
        ("07_transformer/transformer", "--count-all", "1e-3",
         "Counting every kernel: 70 + 3 tokens, 14.6 MB requested, less than a second"),
        ("07_transformer/transformer", "--count-all --tokens 3", "1", f"{COUNTING}about 78 s"),
        ("07_transformer/transformer", "--count-all --tokens 3", "1.3", f"{COUNTING}about 2 min"),
        ("07_transformer/transformer", "--count-all --tokens 3", "46", f"{COUNTING}about 60 min"),
        ("07_transformer/transformer", "--count-all --tokens 3 --yes", "1e6", f"{COUNTING}about 1298068 min"),
        ("07_transformer/transformer", "--count-all --tokens 3", "1e6",
         f"{COUNTING}about 1298068 min\ntransformer: --prompt, 70 + 2 tokens: would take about 21634 hours"),
        ("07_transformer/transformer", "--tokens 400000", "1",
         "transformer: --prompt, 70 + 399999 tokens: would take about 168511 hours"),
        ("08_decode/decode", "--tokens 2", "1", ""),
        ("08_decode/decode", "--tokens 400000", "1",
         "decode: --prompt, 70 + 399999 tokens: would take about 44463407 hours"),
        ("08_decode/decode", "--tokens 400000 --splits 1 --kernel decode_split", "1",
         "decode: --prompt, 70 + 399999 tokens: would take about 85022 hours"),
    )  # fmt: skip

    def test_by_a_clock_of_our_own(self) -> None:
        """Kills: another ratio of what was measured to what is asked for, another bound of what is said or refused."""
        library, tiny = self.library(CLOCK), (ROOT / "tests/data/tiny_model/tiny.bin").read_bytes()
        model = self.scratch / "long.bin"
        model.write_bytes(sealed(tiny[:44] + (1000000).to_bytes(4, "little") + tiny[48:]))  # its context
        for program, options, tick, says in self.RUNS:
            words = ["--model", model, "--prompt", "Hi", *options.split()]
            done = run([ROOT / program, *words], cwd=self.scratch, LD_PRELOAD=library, TICK=tick)
            refused = "hours" in says
            says += ", expected --yes to run it anyway, or less work" if refused else ""
            expected = (says and f"{says}\n", not refused, 2 if refused else 0)
            self.assertEqual((done.err, bool(done.out), done.status), expected, f"{options} {tick}")


class StandardOutput(Outputs):
    def test_full_or_closed(self) -> None:
        self.assertIn("01_naive", self.naive("--version").out)
        for options in ("--help", "--version", SMALL, f"{SMALL} --json -", f"{SMALL} --json x", "--sweep --dim 4"):
            says = "naive: standard output: cannot be written: "
            self.refused(3, f"{says}No space left on device", options, redirected="> /dev/full")
            self.refused(3, f"{says}Bad file descriptor", options, redirected=">&-")
            # What is written to a file must not be mixed with what standard output was meant to get.
            if (self.scratch / "x").exists():
                json.loads((self.scratch / "x").read_text())

    def test_a_reader_that_leaves(self) -> None:
        outcome = self.naive("--sweep --dim 4", redirected="| head -n 1; exit ${PIPESTATUS[0]}")
        self.assertEqual((outcome.status, outcome.err), (128 + signal.SIGPIPE, ""))

    def test_colors_are_for_a_terminal(self) -> None:
        """Kills: a word of the environment that is not heard, or heard where an option says it."""
        for options, variables, colored in (
            ("", {}, True),
            ("", {"NO_COLOR": "1"}, False),
            ("", {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
            ("", {"NO_COLOR": ""}, True),
            ("", {"TERM": "dumb"}, False),
            ("", {"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True),
            ("", {"TERM": "dumb", "CLICOLOR_FORCE": "0"}, False),
            ("", {"TERM": "dumb", "CLICOLOR_FORCE": ""}, False),
            (" --color never", {"CLICOLOR_FORCE": "1"}, False),
            (" --color always", {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ):
            terminal, end = os.openpty()
            here = {**os.environ, "TERM": "xterm", "NO_COLOR": "", "CLICOLOR_FORCE": "", **variables}
            with started([NAIVE, *f"{SMALL} --quiet{options}".split()], stdout=end, env=here) as naive:
                os.close(end)
                self.assertEqual(naive.wait(60), 0)
            self.assertEqual("\x1b[" in os.read(terminal, 4096).decode(), colored, f"{options} {variables}")
            os.close(terminal)

    def on_a_terminal(self, command: str, **streams: int) -> str:
        """What it writes to one as its standard error."""
        terminal, end = os.openpty()
        program, *options = command.split()
        with started([ROOT / program, *options], stderr=end, **(streams or {"stdout": end})) as run_of_it:
            os.close(end)
            shown = b""
            with contextlib.suppress(OSError):  # the program has ended
                while chunk := os.read(terminal, 4096):
                    shown += chunk
            run_of_it.wait(60)
        os.close(terminal)
        return shown.decode(errors="replace")

    def test_what_goes_on_is_a_line_that_comes_and_goes(self) -> None:
        """Kills: a line of progress that stays, that is lost, or that is where nobody wants it."""
        naive, inputs, running = f"01_naive/naive {SMALL}", "naive: inputs and reference", "naive: running and counting"
        prompt = f"07_transformer/transformer {Memory.TINY.replace('--quiet', '')}"
        said = ["reading the prompt, 70 tokens", "", "70 tokens at once, without a cache", ""]
        for command, lines in (
            (naive, [inputs, "", running, ""]),
            (f"{naive} --quiet", []),
            (f"{naive} --time --repeat 1", [inputs, "", running, "", "naive: timing", ""]),
            ("00_gpu/gpu --rows 2 --cols 2 --load no", [
                "gpu: inputs and reference", "gpu: no/x.npy: cannot be read: No such file or directory\r\n"]),
            ("06_backward/backward --seq 2 --dim 1 --kernel backward_naive --tile-q 32", [
                "backward: inputs and reference",
                "backward: --tile-q 32: not for backward_naive, which has no tiles\r\n",
                "backward_naive: running and counting", ""]),
            (prompt, said), (f"{prompt} --json -", said), (f"{prompt} --json - --quiet", []),
        ):  # fmt: skip
            shown = self.on_a_terminal(command, stdout=subprocess.DEVNULL)
            self.assertEqual(shown.split("\r\x1b[K"), ["", *lines] if lines else [""], command)
        self.assertNotIn("reading", self.on_a_terminal(prompt), "the answer comes to that terminal")
        steps = "".join(
            f"gpu: inputs and reference||copy: running and counting||sweep: {i + 1} of 7 done, R=256 C={1 << i}|"
            for i in range(7)
        )
        shown = self.on_a_terminal("00_gpu/gpu --sweep --kernel copy", stdout=subprocess.DEVNULL)
        self.assertEqual(shown.replace("\r\x1b[K", "|"), f"|{steps}")

    def test_tiles_that_a_kernel_does_not_take_are_told(self) -> None:
        done = run([ROOT / "05_fa2/fa2", *"--seq 3 --dim 4 --quiet --kernel fa2_split_q --tile-q 64".split()])
        says = "fa2: --tile-q 64: not for fa2_split_q, which is compiled with tiles of 128 x 64\n"
        self.assertEqual((done.status, done.err), (0, says))


class Words(Outputs):
    """What was given on the command line comes back as it was."""

    def inputs(self, name: str) -> Path:
        """A folder of that name with Q, K and V."""
        folder = self.scratch / name
        self.assertEqual(run([NAIVE, *SMALL.split(), "--quiet", "--save", folder]).status, 0)
        for tensor in "qkv":
            shutil.copy(folder / "o.npy", folder / f"{tensor}.npy")
        return folder

    def test_json_is_utf8_whatever_a_name_holds(self) -> None:
        name = os.fsdecode(b'\xff\xc3\xa9\xc3\xed\xa0\x80"\\\n')
        folder = self.inputs(name)
        self.assertEqual(run([NAIVE, "--load", folder, "--json", "x", "--quiet"], cwd=self.scratch).status, 0)
        told = json.loads((self.scratch / "x").read_bytes().decode("utf-8"))["problem"]["load"]
        self.assertEqual(told, f'{self.scratch}/\ufffd\u00e9\ufffd\ufffd\ufffd\ufffd"\\\n')

    def page(self, arguments: list[str | Path], **environment: str) -> str:
        """The command that the page of a run shows."""
        outcome = run([*arguments, "--quiet", "--explain", "page"], cwd=self.scratch, **environment)
        self.assertEqual(outcome.status, 0, outcome.err)
        text = (self.scratch / "page").read_text()
        return json.loads(text.partition('id="data">')[2].partition("</script>")[0])["runs"][0]["command"]

    def test_the_command_of_a_page_repeats_the_run(self) -> None:
        folder = self.inputs('it\'s a "$folder"\t\u00e9')
        for gpu in ("a100", "h100"):
            command = self.page([NAIVE, "--load", folder, "--causal"], SIM_GPU=gpu)
            self.assertIn(f" --gpu {gpu}", command)
            again = run(["/bin/bash", "-c", f"{command} --json -"], cwd=ROOT / "01_naive", SIM_GPU="rtx4090")
            self.assertEqual((again.status, again.err), (0, ""))
            told = json.loads(again.out)
            self.assertEqual((told["gpu"], told["problem"]["load"]), (gpu, str(folder)))
        self.assertIn(" --gpu h200", self.page([NAIVE, *SMALL.split(), "--gpu", "h200"]))

    def test_a_table_has_its_command_and_names_no_machine(self) -> None:
        outcome = run([NAIVE, *SMALL.split(), "--tsv", "-", "--save", "a\nb 'c"], cwd=self.scratch)
        command = re.search("^# command: (.*)$", outcome.out, re.MULTILINE)[1]
        self.assertEqual(command, r"./naive --seq 8 --dim 4 --tsv - --save $'a\012b \'c'")
        name = platform.node()
        self.assertFalse(len(name) > 3 and name in outcome.out, "the host's name is in it")


class PlainBuild(Outputs):
    """A NAME.fast that is broken is no kernel that is wrong."""

    BROKEN = (
        (None, "is not there: `make fast` in 01_naive"),
        ("#!/bin/sh\nexit 7\n", "ended with status 7: `make fast`"),
        ("#!/bin/sh\nkill -SEGV $$\n", "was ended by a signal: Segmentation fault: `make fast`"),
        ("#!/bin/sh\necho nonsense\n", "printed no times: `make fast`"),
        ("#!/no/such/shell\n", "cannot be run: No such file or directory: `make fast`"),
        ("no program\n", "cannot be run: Exec format error: `make fast`"),
    )

    def timed(self, text: str | None, more: str = "") -> Outcome:
        """By a copy that has this program, or none, as its plain build."""
        copy, fast = self.scratch / "naive", self.scratch / "naive.fast"
        with contextlib.suppress(FileNotFoundError):
            fast.unlink()
        shutil.copy(NAIVE, copy)
        if text is not None:
            fast.write_text(text)
            fast.chmod(0o755)
        return run([copy, *f"{SMALL} --time {more}".split()], cwd=self.scratch)

    def test_broken(self) -> None:
        for text, says in self.BROKEN:
            outcome = self.timed(text)
            self.assertEqual(outcome, (3, "", f"naive: --time: naive.fast, the plain build, {says}\n"))

    def test_an_environment_of_nothing(self) -> None:
        """Kills: one that is gone through from its second variable on."""
        outcome = run(["env", "-i", NAIVE, *f"{SMALL} --time --repeat 1".split()])
        self.assertEqual((outcome.status, outcome.err), (0, ""))

    def test_the_plain_build_leaves_the_report_alone(self) -> None:
        """Kills: one that writes what it did over what was counted."""
        files = {name: str(self.scratch / name) for name in ("SIM_REPORT", "SIM_TRACE")}
        outcome = run([NAIVE, *f"{SMALL} --time --repeat 1".split()], **files)
        self.assertEqual((outcome.status, outcome.err), (0, ""))
        launches = [json.loads(line) for line in Path(files["SIM_REPORT"]).read_text().splitlines()]
        self.assertEqual(["tensors" in launch for launch in launches], [True] * 3)
        self.assertIn('"tensor":"Q"', Path(files["SIM_TRACE"]).read_text())

    def test_warm_ups_and_repeats_are_as_many_as_asked_for(self) -> None:
        """The launches of the plain build: the run that is verified, the warm-ups and the timed ones, of three kernels
        each. Kills: a run too many or too few, and a --warmup or --repeat that the plain build is not told of."""
        report = self.scratch / "report"
        plain = f'#!/bin/sh\nSIM_REPORT={report} exec {NAIVE}.fast "$@"\n'
        for options, runs in (
            ("--repeat 1 --warmup 0", 1),
            ("--repeat 3 --warmup 0", 3),
            ("--repeat 1 --warmup 4", 5),
            ("--repeat 2", 3),
        ):
            outcome = self.timed(plain, f"{options} --json -")
            self.assertEqual((outcome.status, outcome.err), (0, ""), options)
            time = json.loads(outcome.out)["kernels"][0]["time"]
            self.assertEqual((time["kind"], time["runs"]), ("measured-cpu", int(options.split()[1])))
            self.assertEqual(len(report.read_text().splitlines()), 3 * (1 + runs), options)
        own = run([f"{NAIVE}.fast", "--time", "--quiet", "--tsv", "-", *SMALL.split(), "--repeat", "1"]).out
        self.assertIn("\tmeasured-cpu\t", own)

    def test_the_time_of_many_runs_fits_a_terminal(self) -> None:
        count = 10000 if os.environ.get("LONG") else 2
        options = f"--seq 3 --dim 2 --heads 2 --causal --time --repeat {count} --gpu a100-80 --verbose"
        out = self.naive(options).out
        self.assertRegex(out, rf"\n  time .*, {count} runs\), CPU, plain build\n")
        self.assertLessEqual(max(map(len, out.splitlines())), 80, out)

    def test_it_finds_a_kernel_wrong(self) -> None:
        outcome = self.timed("#!/bin/sh\nexit 1\n")
        self.assertEqual(outcome.status, 1)
        self.assertIn("naive.fast, the plain build, did not verify", outcome.out)
