"""make bench: what it writes, that it goes on where it was stopped, and what it refuses."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import data_check
from house import ROOT, Case, run, table

BENCH = ROOT / "tools/bench"
SMALL = ("--chapters", "05_fa2", "--sizes", "2,3,4,5", "--dims", "8", "--data", "data")
Done = subprocess.CompletedProcess


class RealPrograms(Case):
    """The chapters' programs, on small sizes."""

    def bench(self, chapters: str, *more: str) -> None:
        small = ("--sizes", "16,33", "--dims", "8,20", "--repeat", "2", "--data", self.scratch)
        done = run(BENCH, "--chapters", chapters, *small, *more)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def assert_consistent(self, name: str, rows: int) -> None:
        path = self.scratch / f"sim/{name}.tsv"
        self.assertEqual(data_check.check(path, "sim", name), "", name)
        self.assertEqual(len(table.read(path).rows), rows, name)

    def test_writes_consistent_files(self) -> None:
        rows = {"01_naive": 8, "02_online_softmax": 6, "04_fa1": 16, "05_fa2": 32, "07_transformer": 72}
        rows |= {"08_decode": 96, "09_variants": 16, "blocks": 10}
        self.bench(",".join(rows))
        for name, expected in rows.items():
            self.assert_consistent(name, expected)

    def test_a_refusal_is_a_row(self) -> None:
        """A device's limit is a row that says so, not an end of the bench."""
        self.bench("blocks", "--gpu", "rtx4090")
        self.assert_consistent("blocks", 10)
        records = table.read(self.scratch / "sim/blocks.tsv").records()
        refused = [record for record in records if record["verified"] == "skipped"]
        self.assertEqual(len(refused), 3)  # Bc = 256 and twice 512
        for record in refused:
            self.assertIn("101,376", record["skipped"])
            self.assertEqual((record["counted_elements"], record["kernel"]), ("NaN", "fa1_paper"))


class StandIns(Case):
    """stand_in.py for the programs: to stop, to fail, to be another device."""

    def setUp(self) -> None:
        super().setUp()
        source = (ROOT / "tests/plots/stand_in.py").read_text()
        for program in ("01_naive/naive", "04_fa1/fa1", "05_fa2/fa2"):
            path = self.scratch / program
            path.parent.mkdir()
            path.write_text(f"#!{sys.executable} -ES\n{source}")
            path.chmod(0o755)
        self.tsv = self.scratch / "data/sim/05_fa2.tsv"
        self.part = self.scratch / "data/sim/05_fa2.tsv.part"

    def bench(self, *more: str, **environment: str) -> Done[str]:
        return run(BENCH, *SMALL, *more, cwd=self.scratch, **environment)

    def assert_done(self, done: Done[str]) -> None:
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_whole(self) -> None:
        """4 sizes x 2 kernels, without and with the mask."""
        expected = [(seq, causal, kernel) for causal in "01" for seq in "2345" for kernel in ("one", "two")]
        records = table.read(self.tsv).records()
        self.assertEqual([(each["seq"], each["causal"], each["kernel"]) for each in records], expected)
        self.assertFalse(self.part.exists(), "the part is still there")

    def points_done(self) -> int:
        return max(0, self.part.read_text().count("\n") - 1) if self.part.exists() else 0

    def stop_after(self, points: int, number: int) -> tuple[int, str]:
        """Starts a slow bench, sends the signal when it has so many points: its return code, what it said."""
        command = [sys.executable, BENCH, *SMALL]
        environment = {**os.environ, "STAND_IN_SLEEP": "0.5"}
        bench = subprocess.Popen(command, cwd=self.scratch, env=environment, stderr=subprocess.PIPE, encoding="utf-8")
        deadline = time.monotonic() + 60
        while self.points_done() < points and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertGreaterEqual(self.points_done(), points, "it does not get on")
        bench.send_signal(number)
        _, said = bench.communicate(timeout=60)
        return bench.returncode, said

    def assert_goes_on(self, done: Done[str], points: int) -> None:
        self.assert_done(done)
        self.assertIn(f"8 points, {points} of them from before", done.stderr)
        self.assert_whole()

    def test_goes_on_after_an_interrupt(self) -> None:
        status, said = self.stop_after(2, signal.SIGINT)
        self.assertEqual(status, 130)
        self.assertEqual(said, "bench: stopped; what is done is kept, make bench goes on from there\n")
        self.assertFalse(self.tsv.exists(), "half a file")
        done = self.points_done()
        self.assertIn(done, range(2, 8))
        self.assert_goes_on(self.bench(), done)

    def test_goes_on_after_a_kill(self) -> None:
        """Killed outright, in the midst of writing a point."""
        status, _ = self.stop_after(1, signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        done = self.points_done()
        with self.part.open("a") as part:
            part.write('["N=5 d=8 causal", [["5", "8", "1"')
        self.stop_after(done + 1, signal.SIGKILL)
        done = self.points_done()
        self.assert_goes_on(self.bench(), done)

    def test_begins_anew_with_other_options(self) -> None:
        self.stop_after(1, signal.SIGINT)
        done = self.bench("--repeat", "3")
        self.assert_done(done)
        self.assertNotIn("from before", done.stderr)
        self.assert_whole()

    def test_leaves_what_is_up_to_date(self) -> None:
        self.assert_done(self.bench())
        first = self.tsv.stat().st_ino
        self.assertIn("is up to date", self.bench().stderr)
        self.assertEqual(self.tsv.stat().st_ino, first, "written again")
        self.assert_done(self.bench("--force"))
        self.assertNotEqual(self.tsv.stat().st_ino, first, "not written again")
        with (self.scratch / "05_fa2/fa2").open("a") as program:  # another program of that name
            program.write("# changed\n")
        done = self.bench()
        self.assert_done(done)
        self.assertNotIn("up to date", done.stderr)

    def test_two_do_not_write_one_file(self) -> None:
        self.stop_after(1, signal.SIGINT)
        with self.part.open("a") as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            self.assert_one_line(self.bench(), 3, "05_fa2.tsv.part: another bench is writing it")

    def test_refuses_a_corrupted_part(self) -> None:
        self.stop_after(2, signal.SIGINT)
        good = self.part.read_text()
        for old, new in (("# part of a bench", "something else"), ('["N=2', "N=2"), ('"yes"', '"yes')):
            with self.subTest(new):
                self.part.write_text(good.replace(old, new, 1))
                says = "05_fa2.tsv.part: not the part of a bench; remove it to begin anew"
                self.assert_one_line(self.bench(), 2, says)
                self.assertFalse(self.tsv.exists(), "a file all the same")
        self.part.write_text(good)
        self.assert_done(self.bench())
        self.assert_whole()

    def test_a_failure_ends_it(self) -> None:
        """A kernel that is wrong has no place among the data; what the device cannot do is a row, what the machine
        cannot do is none."""
        done = self.bench(STAND_IN_FAILS="4 1 one: O is wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn("one: O is wrong", done.stderr)
        self.assertIn("--seq 4 --dim 8", done.stderr)
        self.assertFalse(self.tsv.exists(), "a file all the same")
        self.assertEqual(self.points_done(), 2)
        done = self.bench(STAND_IN_FAILS="4 3 fa2: out of memory for Q")
        self.assertEqual(done.returncode, 3, done.stderr)
        reason = "needs 17 GB of memory, the device has 8 GB"
        done = self.bench(STAND_IN_FAILS=f"4 3 fa2: two: {reason}")
        self.assert_done(done)
        record = table.read(self.tsv).records()[4]
        expected = ("two", "skipped", reason, "4")
        self.assertEqual(tuple(record[name] for name in ("kernel", "verified", "skipped", "seq")), expected)

    def test_what_is_asked_for_twice_is_measured_once(self) -> None:
        """A size, a chapter has one place in the data; a bench of one's own is not what pictures show."""
        done = self.bench("--sizes", "2,3,2,4,5,5")
        self.assert_done(done)
        self.assert_whole()
        self.assertNotIn("make plots", done.stderr)
        self.assertEqual(self.bench("--chapters", "05_fa2,05_fa2").stderr.count("is up to date"), 1)
        self.assertIn("Next: make plots, make tables\n", self.bench("--data", "plots/data").stderr)

    def test_a_full_disk_is_one_line_and_what_is_done_is_kept(self) -> None:
        """A file that may grow no further is as a disk that is full."""
        sizes = ("--sizes", "2,3,4,5,6,7,8,9")
        limited = (
            "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)); del sys.argv[0]; "
        )
        limited += (
            "sys.path.insert(0, sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0], run_name='__main__')"
        )
        done = run(sys.executable, "-c", limited, BENCH, *SMALL, *sizes, cwd=self.scratch)
        self.assert_one_line(done, 3, "bench: data/sim/05_fa2.tsv.part: File too large")
        self.assertFalse(self.tsv.exists(), "half a file")
        points = self.points_done()
        self.assertIn(points, range(1, 16))
        done = self.bench(*sizes)
        self.assert_done(done)
        self.assertIn(f"16 points, {points} of them from before", done.stderr)

    def test_a_dumb_terminal_gets_no_escapes(self) -> None:
        """The progress line needs a terminal that can clear one."""
        command = ("script", "-qec", f"{sys.executable} {BENCH} {' '.join(SMALL)} --force", "/dev/null")
        done = run(*command, cwd=self.scratch, TERM="xterm")
        self.assertIn("\x1b[Kbench 1/8  05_fa2  N=2 d=8", done.stdout)
        done = run(*command, cwd=self.scratch, TERM="dumb")
        self.assertIn("8 points", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_usage(self) -> None:
        numbers = "SIZES: expected whole numbers of at least 1, with commas between, got"
        for option, value, status, what in (
            ("--chapters", "05_fa3", 2, "CHAPTERS: expected some of 00_gpu, 01_naive"),
            ("--chapters", ",", 2, "CHAPTERS: expected some of 00_gpu, 01_naive"),
            ("--sizes", ",", 2, f"{numbers} ','"),
            ("--sizes", "12,x", 2, f"{numbers} '12,x'"),
            ("--data", "/proc/none", 3, "/proc/none"),
            ("--chapters", "06_backward", 3, "06_backward/backward is not built: make build"),
        ):
            with self.subTest(value):
                self.assert_one_line(self.bench(option, value), status, what)

    def test_a_gpu_has_its_own_directory(self) -> None:
        """And a problem of its size: 8 heads, N to 16384."""
        for device, directory in (
            ("NVIDIA H200", "h200"),
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA H100 PCIe", "h100"),
            ("NVIDIA A100-SXM4-80GB", "a100"),
            ("NVIDIA GeForce RTX 4090", "rtx4090"),
            ("Tesla V100-SXM2-16GB", "v100"),
            ("NVIDIA L40S", "l40s"),
        ):
            with self.subTest(device):
                shutil.rmtree(self.scratch / "data", ignore_errors=True)
                done = self.bench("--sizes", "2", STAND_IN_DEVICE=f"cuda, {device}")
                self.assert_done(done)
                self.assertEqual([path.name for path in Path(self.scratch, "data").iterdir()], [directory])
                records = table.read(self.scratch / f"data/{directory}/05_fa2.tsv").records()
                self.assertEqual(records[0]["heads"], "8")
        done = self.bench("--chapters", "blocks", STAND_IN_DEVICE="cuda, NVIDIA H200")
        self.assert_done(done)
        units = table.read(self.scratch / "data/h200/blocks.tsv").column("units")
        self.assertEqual(set(units), {"0.125"})  # N d elements of 8 heads
        done = run(
            BENCH, "--chapters", "05_fa2", "--data", "data", cwd=self.scratch, STAND_IN_DEVICE="cuda, NVIDIA H200"
        )
        self.assert_done(done)
        records = table.read(self.scratch / "data/h200/05_fa2.tsv").records()
        self.assertEqual((len(records), records[15]["seq"]), (2 * 2 * 2 * 8, "16384"))
