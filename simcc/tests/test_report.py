"""sim_report(path): a program that says itself where the records of its launches go (report.cu)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support import Case, Outcome, Program, program

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
