"""SIM_TRACE of the chapters' programs: the sums of each trace are the counts, and it is the same in whatever order the
kernels run. The device's own tests of it are in simcc/tests, whose readers are used here."""

from __future__ import annotations

import support
from case import BUILD, run
from reports import read_report
from traces import expect_trace_of, read_trace

CHAPTERS = (
    ("gpu", "--rows 33 --cols 70"),
    ("naive", "--seq 17 --dim 59"),
    ("naive", "--batch 2 --heads 2 --seq 33 --dim 40 --causal"),
    ("online_softmax", "--rows 5 --cols 77"),
    ("tiled_matmul", "--m 33 --n 40 --k 17"),
    ("fa1", "--seq 37 --dim 59 --tile-q 16 --tile-k 8"),
    ("fa1", "--batch 2 --heads 2 --seq 37 --dim 20 --tile-q 16 --tile-k 8 --causal"),
    ("fa2", "--seq 37 --dim 59 --tile-q 16 --tile-k 8"),
    ("fa2", "--batch 2 --heads 2 --seq 37 --dim 20 --tile-q 16 --tile-k 8 --causal"),
    ("backward", "--seq 17 --dim 59"),
    ("backward", "--heads 2 --seq 33 --dim 8 --tile-k 32 --causal"),
)


class Trace(support.Case):
    def trace_of(self, program: str, options: str, **environment: str) -> str:
        """What one run wrote; its report lies beside it."""
        self.path, self.report = self.scratch / "trace.jsonl", self.scratch / "report.jsonl"
        files = {"SIM_TRACE": str(self.path), "SIM_REPORT": str(self.report), "SIM_THREADS": "2"}
        command = [BUILD / "chapters" / program, *options.split(), "--quiet"]
        outcome = run(command, seconds=60, **{**files, **environment})
        self.assertEqual((outcome.status, outcome.err), (0, ""), command)
        return self.path.read_text()

    def expect_same(self, what: str, first: str, second: str) -> None:
        differing = (pair for pair in zip(first.splitlines(), second.splitlines()) if pair[0] != pair[1])
        self.expect(first == second, f"{what}: {next(differing, 'one is longer')}")

    def test_sums_are_the_counts_of_every_chapter(self) -> None:
        for program, options in CHAPTERS:
            self.trace_of(program, options)
            report = read_report(self.report)
            self.assertGreater(len(report.launches), 0)
            expect_trace_of(self, f"{program} {options}", read_trace(self.path), report)

    def test_whatever_the_order_the_threads_and_the_checks(self) -> None:
        for program, options in CHAPTERS[1::2]:
            first = self.trace_of(program, options)
            for how in (
                {"SIM_THREADS": "1"},
                {"SIM_ORDER": "reverse"},
                {"SIM_THREADS": "3", "SIM_ORDER": "shuffle:7"},
                {"SIM_THREADS": "1", "SIM_CHECK": "none"},
                {"SIM_CHECK": "all"},
            ):
                self.expect_same(f"{program} with {how}", first, self.trace_of(program, options, **how))
