"""The parts of gpu-report (tools/lib/gpu), each by itself."""

from __future__ import annotations

import contextlib
import io
import time
import unittest
from pathlib import Path

import stand_ins
from case import ROOT, Case
from lib import table
from lib.gpu import StepError, checks, counters, hardware, runner, sanitizer, times
from lib.gpu.counters import Launch
from lib.gpu.report import Report
from lib.gpu.runner import Job
from lib.gpu.sanitizer import Expectation, Result

RAW = """==PROF== Connected to process 12
"ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum","smsp__sass_data_bytes_mem_global_op_ld.sum"
"","","","","byte","byte"
"0","void fa2_row<(int)64>(const float *, const float *, int)","(128, 1, 1)","(2, 2, 1)","1,234,567","98,304"
"1","scores(const float *, const float *, ""x"")","(32, 4, 1)","(7, 1, 1)","n/a","0"
==PROF== Disconnected
"""
BYTES, REQUESTS, SECTORS = (
    f"{metric}global_op_ld"
    for metric in ("smsp__sass_data_bytes_mem_", "l1tex__t_requests_pipe_lsu_mem_", "l1tex__t_sectors_pipe_lsu_mem_")
)


class ProfilerOutput(unittest.TestCase):
    def test_launches_and_their_metrics(self) -> None:
        first, second = counters.read_csv(RAW)
        self.assertEqual((first.kernel, first.template, first.grid, first.block), ("fa2_row", "64", "2,2,1", "128,1,1"))
        self.assertEqual(first.metrics["dram__bytes_read"], 1234567)
        self.assertEqual((second.kernel, second.template, second.block), ("scores", "", "32,4,1"))
        self.assertEqual(second.metrics, {BYTES: 0})  # n/a is no number, zero is one
        for text, number in (("9,007,199,254,740,991", 2**53 - 1), ("-2.5e3", -2500.0), ("", None), ("0x1", None)):
            self.assertEqual(counters.number(text), number)

    def test_what_ncu_says_instead_is_told(self) -> None:
        for text, says in (
            ("==ERROR== ERR_NVGPUCTRPERM - no permission\n", "ERR_NVGPUCTRPERM"),
            ("", "ncu wrote nothing"),
            ("==PROF== x\nFailed to initialize the profiler: LibraryNotLoaded\n", "LibraryNotLoaded"),
        ):
            with self.assertRaisesRegex(StepError, says):
                counters.read_csv(text)
        # Metrics that ncu complains of.
        said = "==ERROR== Failed to find metric dram__bytes_read.sum\na line with dram__bytes_write\nunknown: dram\n"
        known = ["dram__bytes_read", "dram__bytes_write", "dram__bytes", "dram"]
        self.assertEqual(counters.unknown_metrics(said, known), ["dram__bytes_read"])


class Verdicts(unittest.TestCase):
    def test_launches_are_matched_in_order(self) -> None:
        """Two kernels of the harness, each launched to verify and again to time."""

        def seen(kernel: str, grid: int) -> Launch:
            return Launch(kernel, "", f"{grid},1,1", "32,1,1")

        measured = [seen("a", 1), seen("a", 1), seen("x", 9), seen("b", 9), seen("b", 2), seen("b", 2), seen("b", 2)]
        simulated = [
            {"kernel": kernel, "grid": [grid, 1, 1], "block": [32, 1, 1]}
            for kernel, grid in (("a", 1), ("b_kernel", 2), ("b", 2), ("c", 1))
        ]
        found = counters.match(simulated, measured)
        self.assertEqual([id(each) for each in found[:3]], [id(measured[at]) for at in (0, 4, 5)])
        self.assertIsNone(found[3])

    def verdicts(self, **measured: float) -> str:
        ours = {"bytes": 4096, "requests": 32, "sectors": 128}
        record = {
            "global": {"load": ours},
            "footprint": {"read_bytes": 160, "write_bytes": 100},
            "tensors": [  # what is written too need not come from DRAM
                {"footprint": {"read_bytes": 60, "write_bytes": 100}},
                {"footprint": {"read_bytes": 100, "write_bytes": 0}},
            ],
        }
        return self.told(*counters.sides(record, Launch("k", "", "", "", dict(measured))))

    def told(self, ours: dict[str, float], theirs: dict[str, float]) -> str:
        rows = counters.compare(ours, theirs)
        return "; ".join(f"{row.counter} {row.ratio or '-'} {row.verdict}" for row in rows)

    def test_each_counter_has_its_verdict(self) -> None:
        """Exact, less and more with what explains it, what nothing explains, and bounds; no row unmeasured."""
        exact = r"\Aglobal_load_bytes 1 exact; global_load_requests 1 exact; global_load_sectors 1 exact\Z"
        for measured, says in (
            ((None, None, None), r"\A\Z"),
            ((4096, 32, 128), exact),
            ((4096, 8, 128), "requests 0.25 fewer: nvcc merges"),
            ((2048, 16, 64), r"bytes 0\.5 fewer: it counts a byte once.*requests 0\.5 fewer: nvcc merges narrow loads"),
            ((4096, 56, 140), r"requests 1\.75 more: lanes part.*sectors \S+ more: lanes part"),
            ((4608, 8, 144), r"bytes 1\.125 more: nvcc loads whole.*requests 0\.25 fewer: nvcc loads whole"),
            ((8192, None, None), "bytes 2 unexplained"),
            ((None, 8, None), "requests 0.25 unexplained"),
            ((4096, 32, 130), r"sectors \S+ unexplained"),
            ((4096, 32, 120), r"sectors \S+ unexplained"),
            ((2048, 32, 120), r"sectors \S+ unexplained"),
        ):
            given = {name: value for name, value in zip((BYTES, REQUESTS, SECTORS), measured) if value is not None}
            self.assertRegex(self.verdicts(**given), says)
        for name, value, says in (
            ("read", 150, "dram_read_bytes 1.5 bound holds"),
            ("read", 50, "dram_read_bytes 0.5 unexplained"),
            ("write", 0, "dram_write_bytes 0 fewer: what L2"),
            ("write", 150, "dram_write_bytes 1.5 more: whole sectors"),
        ):
            self.assertRegex(self.verdicts(**{f"dram__bytes_{name}": value}), says)

    def test_passes_lost_to_arbitration_are_more_never_fewer(self) -> None:
        ours = {"shared_load_bytes": 64, "shared_load_requests": 2, "shared_load_wavefronts": 4}
        for passes, said in ((5, "more: it may count passes lost to arbitration"), (3, "unexplained")):
            measured = {**ours, "shared_load_wavefronts": passes}
            self.assertEqual(counters.verdict("shared_load_wavefronts", ours, measured), said)

    def test_arithmetic(self) -> None:
        for launches, form, says in (
            (((96, 0, 2000),), 4096, "flop 1 exact"),
            (((500, 0, 1000), (500, 0, 1000)), 4096, "flop 1.221 more: the closed form leaves out"),
            (((0, 0, 2000),), 4096, "flop 0.9766 unexplained"),
            (((0, 0, 0),), 0, "flop - exact"),
            (((0, 0, 2000),), None, ""),
            ((), 4096, ""),
        ):
            ours, theirs = {}, {}
            seen = [Launch("k", "", "", "", dict(zip(counters.FLOP, each))) for each in launches]
            hardware.add_flop(form, seen, ours, theirs)
            self.assertTrue(self.told(ours, theirs).startswith(says), self.told(ours, theirs))
            self.assertEqual(bool(ours), bool(says))
        self.assertIsNone(counters.flop([Launch("k", "", "", "")]))

    def test_what_is_written_is_what_is_read(self) -> None:
        """A cell that was not measured is no zero."""
        ours, theirs = {"global_load_bytes": 64, "dram_read_bytes": 9}, {"global_load_bytes": 32}
        row = dict(zip(counters.COLUMNS, counters.row_of("abcde", ours, theirs)))
        ((where, found),) = counters.compare_rows([row])
        self.assertEqual((where["template"], found.counter, found.ratio), ("e", "global_load_bytes", "0.5"))


class Sanitizers(unittest.TestCase):
    def test_verdicts_are_read(self) -> None:
        race = "RACECHECK SUMMARY: {} hazards displayed ({} errors, {} warnings)\n"
        for verdict, text, leaks, said in (
            ("clean", "ERROR SUMMARY: 0 errors\n", 0, "-"),
            (
                "error",
                "Invalid __global__ write of size 4\n=========     at k\n========= ERROR SUMMARY: 3 errors\n",
                0,
                "Invalid __global__ write of size 4",
            ),
            ("warning", "Warning: Race\n========= " + race.format(1, 0, 1), 0, "Warning: Race"),
            ("error", race.format(2, 1, 1), 0, None),
            ("error", "LEAK SUMMARY: 256 bytes leaked in 1 allocations\n========= ERROR SUMMARY: 1 error\n", 1, None),
            (
                "broken",
                "Error: Device not supported. See the manual.\n",
                0,
                "Error: Device not supported. See the manual.",
            ),
        ):
            found = sanitizer.read_output(f"========= COMPUTE-SANITIZER\n========= {text}", False)
            self.assertEqual((found.verdict, found.leaks), (verdict, leaks), text)
            self.assertEqual(found.said, said or found.said)
        self.assertEqual(sanitizer.read_output("", True).verdict, "endless")

    def test_both_verdicts_side_by_side(self) -> None:
        race, error = Expectation("racecheck", "error|warning"), Expectation("racecheck", "error")
        limits = ({"kernel": "race_glo*", "tool": "racecheck", "reason": "blind there"},)
        for case, expected, result, ours, says in (
            (("r", "broken", "racecheck"), race, Result("error"), "error|warning", "agree"),
            (("r", "fixed", "racecheck"), race, Result("clean"), "clean", "agree"),
            # Leaks are memcheck's.
            (("m", "broken", "memcheck"), Expectation("leakcheck", "error"), Result("error"), "error", "agree"),
            (("race_global", "broken", "racecheck"), error, Result("clean"), "error", "differ, as known: blind there"),
            (("r", "broken", "racecheck"), error, Result("clean"), "error", "differ: silent, for no reason we know"),
            (("r", "broken", "racecheck"), error, Result("warning"), "error", "differ in severity: warning"),
            (("r", "fixed", "racecheck"), race, Result("error"), "clean", "differ: a finding where ours has none"),
            (("r", "broken", "memcheck"), race, Result("error"), "clean", "beside it: also reported"),
            (("r", "broken", "racecheck"), error, Result("broken", said="why"), "error", "not comparable: why"),
            (("r", "fixed", "racecheck"), race, Result("endless"), "clean", "not comparable: over its time limit"),
        ):
            self.assertEqual(sanitizer.judge(*case, expected, result, limits), (ours, says), case)

    def test_every_known_limit_names_kernels_and_their_tool(self) -> None:
        limits = table.read(checks.LIMITS).records()
        self.assertGreater(len(limits), 9)
        for limit in limits:
            sources = list((ROOT / "simcc/tests/broken_kernels").glob(f"{limit['kernel']}.cu"))
            tools = {sanitizer.read_expectation(path).tool for path in sources}
            self.assertEqual(tools, {limit["tool"]}, limit["kernel"])


class Parts(Case):
    def test_instructions_are_counted(self) -> None:
        count = times.count_instructions(
            "\t\tFunction : _Z12multiply_addPfffi\n"
            "        /*0000*/                   LDC R1, c[0x0][0x28] ;   /* 0x00000a */\n"
            "        /*0010*/                   FFMA R4, R4, R26.reuse, R27.reuse ;\n"
            "        /*0020*/              @!P0 FFMA.FTZ R4, R4, R26, R27 ;\n"
            "        /*0030*/                   NOP ;\n"
            "\t\tFunction : _Z12exponentialsPfi\n"
            "        /*0010*/                   MUFU.EX2 R4, R4 ;\n"
        )
        self.assertEqual(count["multiply_add"], {"LDC": 1, "FFMA": 2})
        self.assertEqual(count["exponentials"], {"MUFU": 1})

    def test_the_simulated_side_is_run_here_or_brought_along(self) -> None:
        report = Report(ROOT, self.scratch, self.scratch, 60, simulated=self.scratch / "simulated")
        with self.assertRaisesRegex(StepError, "the simulated 01_naive was not built"):
            hardware.simulate(report, "01_naive", "--seq 8")
        brought = self.scratch / "simulated/sim-01_naive--seq-8.json"
        brought.parent.mkdir()
        brought.write_text('{"kernels":[{"name":"naive","launches":[]}]}')
        found = hardware.simulate(report, "01_naive", "--seq 8")
        self.assertEqual(found["kernels"], [{"name": "naive", "launches": []}])

    def test_rows_with_a_time_and_a_floor(self) -> None:
        path = self.scratch / "x.tsv"
        path.write_text("# seq\tkernel\tmedian_ms\tfloor_ms\n64\ta\t2\t1\n128\ta\tNaN\t1\n256\ta\t5\t4\n")
        found = [(row["seq"], row["median_ms"], row["floor_ms"]) for row in times.timed_rows(path)]
        self.assertEqual(found, [("64", "2", "1"), ("256", "5", "4")])

    def test_a_step_that_raises_has_failed_and_the_next_begins(self) -> None:
        report = Report(ROOT, self.scratch, self.scratch, 60)

        def planted(report: Report) -> tuple[str, str]:
            raise KeyError("planted")

        with contextlib.redirect_stdout(io.StringIO()):
            report.step("one", planted)
            report.step("two", lambda report: ("done", "a | b\n c"))
        summary = (self.scratch / "summary.md").read_text()
        self.assertRegex(summary, r"\| one \| failed \| \d\.\d \| KeyError: 'planted' \|\n\| two \| done \|")
        self.assertIn("| a \\| b c |", summary)
        self.assertEqual(report.exit_status, 1)


class TimeLimits(Case):
    def test_statuses(self) -> None:
        stubborn = "trap '' TERM; echo $$; sleep 30 & wait; sleep 30"
        jobs = [
            Job(["sleep", "30"], 0.3),
            Job(["sh", "-c", "exit 7"]),
            Job(["/nowhere/at/all"], log=self.scratch / "log"),
            Job(["sh", "-c", stubborn], 0.3, log=self.scratch / "stubborn"),
            Job(["sh", "-c", "kill -USR1 $$"]),
            Job(["sh", "-c", "sleep 30 & echo $!"], log=self.scratch / "left"),  # what is left behind is killed
        ]
        start = time.monotonic()
        runner.run_all(jobs, 2)
        self.assertEqual([job.status for job in jobs], [124, 7, 127, 124, 128 + 10, 0])
        self.assertLess(time.monotonic() - start, 25, "something outlived its limit")
        self.assertIn("No such file", jobs[2].last_line())
        for job in (jobs[3], jobs[5]):
            self.assertTrue(stand_ins.ends(job.output()), "it runs on")

    def test_no_time_left_is_no_status(self) -> None:
        long, late = runner.run_all([Job(["sleep", "30"]), Job(["true"])], 1, time.monotonic() + 0.3)
        self.assertTrue(long.timed_out)
        self.assertIsNone(late.status)

    def test_the_environment_of_a_job(self) -> None:
        job = Job(["sh", "-c", "echo $A ${HOME-none} $PWD"], log=self.scratch / "log", directory=Path("/"))
        job.environment = {"A": "1", "HOME": None}
        self.assertEqual(runner.run(job).output(), "1 none /\n")
