"""make bench: what it writes, what it leaves out because it is there, and what it refuses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import data_check
from case import ROOT, Case, Outcome, run, until
from lib import table

BENCH = ROOT / "tools/bench"
SMALL = ("--chapters", "05_fa2", "--sizes", "2,3,4,5", "--dims", "8", "--data", "data")


class RealPrograms(Case):
    """The chapters' programs, on small sizes."""

    def bench(self, chapters: str, *more: str) -> None:
        small = ("--sizes", "16,33", "--dims", "8,20", "--repeat", "2", "--data", self.scratch)
        done = run([BENCH, "--chapters", chapters, *small, *more], cwd=ROOT, seconds=600)
        self.assertEqual((done.status, done.out), (0, ""), done.err)

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

    def bench(self, *more: str, **environment: str) -> Outcome:
        return run([BENCH, *SMALL, *more], cwd=self.scratch, **environment)

    def whole(self, *more: str, **environment: str) -> str:
        """What a bench says that writes 4 sizes x 2 kernels, without and with the mask."""
        done = self.bench(*more, **environment)
        self.assertEqual(done.status, 0, done.err)
        expected = [(seq, causal, kernel) for causal in "01" for seq in "2345" for kernel in ("one", "two")]
        records = table.read(self.tsv).records()
        self.assertEqual([(each["seq"], each["causal"], each["kernel"]) for each in records], expected)
        return done.err

    def test_stopped_it_leaves_no_half_file(self) -> None:
        """Nor a program that runs on; what was complete stays."""
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            environment = {**os.environ, "STAND_IN_SLEEP": "60"}
            command = [sys.executable, BENCH, *SMALL]
            bench = subprocess.Popen(command, cwd=self.scratch, env=environment, stderr=subprocess.PIPE, text=True)
            asleep = self.scratch / "asleep"
            until(asleep.exists)
            bench.send_signal(number)
            _, said = bench.communicate(timeout=60)
            self.assertEqual((bench.returncode, said), (status, ""))
            self.assertEqual(list((self.scratch / "data/sim").iterdir()), [], "half a file")
            with self.assertRaises(ProcessLookupError):
                os.kill(int(asleep.read_text()), 0)
            asleep.unlink()
        self.whole()
        self.assertIn("is up to date", self.whole())
        self.assertNotIn("is up to date", self.whole("--repeat", "3"))

    def test_another_program_of_that_name_is_measured_again(self) -> None:
        """Kills: data of a program that is no more, plain or counted, which pass for this one's; an idle --force."""
        self.whole()
        for options in ((), ("--force",)):
            self.assertEqual("is up to date" in self.whole(*options), not options)
        for name in ("fa2", "fa2.fast"):
            with (self.scratch / "05_fa2" / name).open("a") as program:
                program.write("# changed\n")
            self.assertNotIn("is up to date", self.whole(), name)

    def test_large_problems_are_repeated_less_often(self) -> None:
        sim = "sim, limits of h100, NVIDIA H100 SXM"
        for device, name, sizes, repeats in (
            (sim, "sim", "512,513", ["9", "5"]),
            ("cuda, NVIDIA H200", "h200", "2048,2049,4096,4097", ["20", "10", "10", "3"]),
        ):
            for options, expected in (((), repeats), (("--repeat", "2"), ["2"] * len(repeats))):
                done = self.bench("--sizes", sizes, *options, STAND_IN_DEVICE=device)
                self.assertEqual(done.status, 0, done.err)
                records = table.read(self.scratch / f"data/{name}/05_fa2.tsv").records()
                self.assertEqual([each["repeat"] for each in records[: 2 * len(expected) : 2]], expected)

    def test_a_failure_ends_it(self) -> None:
        """A kernel that is wrong has no place among the data; what the device cannot do is a row, what the machine
        cannot do is none."""
        for fails, status, says in (
            ("4 1 one: O is wrong", 1, "one: O is wrong"),
            ("4 1 one: O is wrong", 1, "--seq 4 --dim 8"),
            ("4 3 fa2: out of memory for Q", 3, "out of memory"),
        ):
            done = self.bench(STAND_IN_FAILS=fails)
            self.assertEqual(done.status, status, done.err)
            self.assertIn(says, done.err)
            self.assertFalse(self.tsv.exists(), "a file all the same")
        reason = "needs 17 GB of memory, the device has 8 GB"
        self.assertEqual(self.bench(STAND_IN_FAILS=f"4 3 fa2: two: {reason}").status, 0)
        record = table.read(self.tsv).records()[4]
        expected = ("two", "skipped", reason, "4")
        self.assertEqual(tuple(record[name] for name in ("kernel", "verified", "skipped", "seq")), expected)

    def test_a_gpu_has_its_own_directory(self) -> None:
        """And a problem of its size: 8 heads, N to 16384."""
        for device, directory in (
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA A100-SXM4-80GB", "a100"),
            ("NVIDIA GeForce RTX 4090", "rtx4090"),
            ("NVIDIA H200", "h200"),
        ):
            shutil.rmtree(self.scratch / "data", ignore_errors=True)
            done = self.bench("--sizes", "2", STAND_IN_DEVICE=f"cuda, {device}")
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual([path.name for path in Path(self.scratch, "data").iterdir()], [directory])
        for chapter, column, of_all in (("blocks", "units", {"0.125"}), ("05_fa2", "heads", {"8"})):
            command = (BENCH, "--chapters", chapter, "--data", "data")
            done = run(command, cwd=self.scratch, STAND_IN_DEVICE="cuda, NVIDIA H200")
            self.assertEqual(done.status, 0, done.err)
            data = table.read(self.scratch / f"data/h200/{chapter}.tsv")
            self.assertEqual(set(data.column(column)), of_all)
        self.assertEqual((len(data.rows), data.records()[15]["seq"]), (2 * 2 * 2 * 8, "16384"))
