"""sim_report(path): a program that says itself where the records of its launches go (report.cu); and what is said of a
kernel whose name is long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support import FIRST, Case, Outcome, Program, marked_line, program, run, simcc

REPORT = program("report")
FAST = program("report", "--fast", name="report.fast")


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def spell(text: str) -> list[str]:
    """ "one 2" for a launch of two threads of one, "racecheck" for a hazard."""
    return [f"{r['kernel']} {r['block'][0]}" if r["type"] == "launch" else r["tool"] for r in records(text)]


class SimReport(Case):
    def run_program(self, made: Program, **environment: str) -> tuple[Path, Outcome]:
        environment = {name: value.format(folder=self.scratch) for name, value in environment.items()}
        return self.scratch, made.run(self.scratch, **environment)

    def expect_files(self, folder: Path, out: str, hazards: list[str]) -> None:
        self.assertEqual(spell((folder / "first").read_text()), ["one 2", *hazards, "race 64"])
        self.assertEqual(spell((folder / "second").read_text()), ["one 4"])
        self.assertEqual(spell(out), ["one 8"])
        self.assertTrue(out.endswith("still open\n"), out)

    def test_each_record_goes_where_it_was_asked_for(self) -> None:
        folder, run = self.run_program(REPORT, SIM_THREADS="1")
        self.assertEqual(run.status, 1, run.err)  # the race
        self.assertNotIn("not so", run.err)
        self.expect_files(folder, run.out, ["racecheck"])

    def test_the_report_of_the_environment_keeps_what_it_has(self) -> None:
        folder, run = self.run_program(REPORT, SIM_REPORT="{folder}/asked", SIM_CHECK="none")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(spell((folder / "asked").read_text()), ["one 1"])
        self.expect_files(folder, run.out, [])

    def test_a_fast_program_has_records_too(self) -> None:
        folder, run = self.run_program(FAST)
        self.assertEqual((run.status, run.err), (0, ""))
        self.expect_files(folder, run.out, [])


# ---- a template's signature may be longer than the message: then its name says enough ----

SIGNATURES = [
    # template and parameters, launch, what is printed
    ("template <int A>\n__global__ void wide(int *y)", "wide<8><<<1, 1>>>(y)", "void wide<8>(int*)"),
    (
        "template <int A, int B, class T>\n__global__ void multiply(T *y, const T *, const T *, T, T, T)",
        "multiply<8, 16, int><<<1, 1>>>(y, y, y, 1, 2, 3)",
        "multiply<8, 16, int>",
    ),
    (
        "template <class A, class B, class C>\n__global__ void multiply(int *y, A, B, C)",
        "multiply<unsigned long long, unsigned long long, long long><<<1, 1>>>(y, 1, 2, 3)",
        "multiply",
    ),
]
SIGNATURE_PROGRAM = """#include <cuda_runtime.h>
{head}
{{
	y[1000] = 1; // @store
}}
int main()
{{
	int *y;
	cudaMalloc(&y, 64);
	{launch};
}}
"""


class LongSignatures(Case):
    def test_long_signatures(self):
        for head, launch, printed in SIGNATURES:
            source = SIGNATURE_PROGRAM.format(head=head, launch=launch)
            self.write("long.cu", source)
            built = simcc(FIRST, ["long.cu", "-o", "long"], cwd=self.scratch)
            self.assertEqual(built.status, 0, built.err)
            outcome = run([self.scratch / "long"])
            self.assertEqual(outcome.status, 1, outcome.err)
            at = next(line for line in outcome.err.splitlines() if line.startswith("=========     at "))
            self.assertEqual(at, f"=========     at {printed} in long.cu:{marked_line(source, '@store')}")
            self.assertLessEqual(len(at), 80, at)
