"""Plain CUDA programs, as somebody else would write them: each checks its own numbers, and its source says what the
device must count for each launch (expectations.py)."""

from catalogue import EXPECTATIONS, FAST, NAMES, RUN, fast
from expectations import evaluate, expect_launches
from reports import is_counted, read_report
from support import Case, leak_check

FAST_RUN = fast()


class Programs(Case):
    def test_right_numbers_right_counts_silence(self):
        for name in NAMES:
            path = self.scratch / f"{name}.json"
            outcome = RUN[name](SIM_REPORT=str(path), SIM_THREADS="2")
            self.expect_silent(outcome, name)
            self.expect_equal(outcome.out, EXPECTATIONS[name].output, f"{name}: what it printed")
            report = read_report(path)
            expect_launches(self, name, EXPECTATIONS[name], report)
            self.expect(not report.hazards, f"{name}: a hazard record")
            self.expect(report.launches or name == "device", f"{name}: no launch")

    def test_fast_builds_compute_the_same(self):
        """The optimized build computes the same and prints the same; it counts nothing."""
        for name in FAST:
            path = self.scratch / f"{name}.json"
            outcome = FAST_RUN[name](SIM_REPORT=str(path))
            report = read_report(path)
            self.expect_silent(outcome, f"{name}.fast")
            self.expect_equal(outcome.out, EXPECTATIONS[name].output, f"{name}.fast: what it printed")
            self.expect_equal(len(report.launches), len(EXPECTATIONS[name].launches), f"{name}.fast: launches")
            counted = [launch for launch in report.launches if is_counted(launch)]
            self.expect(not counted, f"{name}.fast: counts from a build that does not count")

    def test_nothing_is_lost(self):
        """Kills: what the library allocates for a launch, its trace or its records, and does not give back."""
        variables = leak_check()
        for name in NAMES:
            files = {"SIM_REPORT": str(self.scratch / "report.json"), "SIM_TRACE": str(self.scratch / "trace.json")}
            outcome = RUN[name](**files, **variables)
            self.expect("detected memory leaks" not in outcome.err, f"{name}: {outcome.err}")

    def test_a_pause_is_no_endless_loop(self):
        """SIM_TIMEOUT is of a kernel's own CPU time: on a machine that stalls, a correct kernel stays correct."""
        outcome = RUN["busy"]("paused", SIM_TIMEOUT="0.5")
        self.expect_silent(outcome, "paused")
        self.expect(outcome.seconds > 1.2, f"it was not stopped: {outcome.seconds} s")

    def test_expectations_can_fail(self):
        """Whatever a program's source expects is read, and a wrong count is found: the tests above can fail."""
        expected = EXPECTATIONS["launches"].launches
        self.assertEqual(len(expected), 6)  # an x2 among them
        line = "add load=160/2/5 store=160/2/5 foot=160/160 grid=2,1,1 block=32,1,1"
        self.assertEqual(expected[0], line)
        self.assertEqual((evaluate("2*3+4"), evaluate("5-2*2+1")), (10, 2))
        path = self.scratch / "launches.json"
        RUN["launches"](SIM_REPORT=str(path))
        report = read_report(path)
        wrong = {"160/2/5 store": "160/2/6 store", "grid=2": "grid=3", "foot=160/160": "foot=160/164", "add ": "sub "}
        for part, instead in wrong.items():
            changed = EXPECTATIONS["launches"]._replace(launches=[line.replace(part, instead), *expected[1:]])
            found = Case()
            found.setUp()
            expect_launches(found, "launches", changed, report)
            self.assertEqual(len(found.problems), 1, f"{instead}: {found.problems}")
