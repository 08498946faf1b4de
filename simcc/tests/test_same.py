"""A count is that of the source: the report of a program is the same to the byte whoever compiled it, at any -O, on
any number of CPU threads and in whatever order threads and blocks are run."""

import re
from pathlib import Path

from catalogue import NAMES, ORDERED, PLACES, RUN, with_other_compiler
from support import FIRST, OTHER, Case, needs_other, program, without_namespaces

WAYS = [("2", "forward"), ("1", "reverse"), ("2", "reverse"), ("1", "shuffle:1"), ("2", "shuffle:7")]
OTHER_RUN = with_other_compiler()
# The program that has what an optimizer would like to change, one of loops and branches, and asynchronous copies.
LEVELS = {
    (name, level): program(PLACES[name], level, name=f"programs.{name}{level}").run
    for name in ("selftest", "trace", "copies")
    for level in ("-g", "-O3")
}


def without_lines(report: str) -> str:
    """Which line has an access is what the compiler's debug information says: of a struct that is copied and then used,
    it may be either line. The sums are compared; that the lines make them is tested with each program. Nor a lambda's
    function, which has another name where several programs are one."""
    return re.sub(r""","shared_lines":\[[^\]]*\]|[\w()]+::(?='lambda)""", "", report)


class Same(Case):
    def report(self, run, threads="1", order="forward") -> str:
        path = Path(self.scratch, "report.json")
        path.unlink(missing_ok=True)
        outcome = run(SIM_REPORT=str(path), SIM_THREADS=threads, SIM_ORDER=order)
        self.expect_silent(outcome, f"{run}, SIM_THREADS={threads} SIM_ORDER={order}")
        return without_namespaces(path.read_text())

    def test_whatever_the_order_and_the_threads(self):
        for name in NAMES:
            first = self.report(RUN[name])
            for threads, order in WAYS:
                other = self.report(RUN[name], threads, order)  # it must end well in any case
                if name in ORDERED:
                    self.expect_same(f"{name} with SIM_THREADS={threads} SIM_ORDER={order}", first, other)
        self.assertGreaterEqual(len(ORDERED), 15)

    @needs_other
    def test_whatever_the_compiler(self):
        for name in OTHER_RUN:
            reports = (without_lines(self.report(run)) for run in (RUN[name], OTHER_RUN[name]))
            self.expect_same(f"{name} of {FIRST.cxx} and {OTHER.cxx}", *reports)

    def test_whatever_the_optimisation(self):
        for (name, level), run in LEVELS.items():
            reports = (without_lines(self.report(one)) for one in (RUN[name], run))
            self.expect_same(f"{name} at {level}", *reports)
