"""SIM_TRACE: what each block touches between two barriers. Small kernels whose lines were worked out by hand; the sums
of every program's trace, which are the counts; the same trace whoever compiled the program and in whatever order it
runs; and how a trace ends that does not end well."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections import defaultdict
from pathlib import Path

from catalogue import NAMES, ORDERED, RUN, fast, with_other_compiler
from reports import read_report
from support import FIRST, OTHER, TESTS, Case, Outcome, Run, inline, marked_line, needs_other, without_namespaces
from traces import Trace, expect_trace_of, is_access, read_trace, spell_access

FOLDER = TESTS / "programs"
TRACE = RUN["trace"]
FAST_RUN = fast()
OTHER_RUN = with_other_compiler()
# The usual one, with the checks of a program that names none: all but leakcheck.
USUAL = {"SIM_THREADS": "2", "SIM_ORDER": "forward"}
WAYS = [
    {"SIM_THREADS": "1", "SIM_CHECK": "none"},
    {"SIM_THREADS": "2", "SIM_ORDER": "reverse"},
    {"SIM_THREADS": "3", "SIM_ORDER": "shuffle:7", "SIM_CHECK": "memcheck"},
]
USUAL_TRACES: dict[str, str] = {}
MEGABYTE = 1 << 20

# How a program ends, its exit status and the trace's error; the lines that it must have.
ENDS = [
    # All of the blocks before the one that fails, and of that one all it did; the launch after it never ran.
    ("stray", 1, "cudaErrorIllegalAddress", {}, [
        "stray 0,0,0 0 global alloc0 store 16 [0,16] before",
        "stray 0,0,0 1 global alloc0 store 16 [0,16] after",
        "stray 0,0,0 2 global alloc0 store 16 [0,16] last",
        "stray 1,0,0 0 global alloc0 store 16 [16,32] before",
        "stray 1,0,0 1 global alloc0 store 8 [16,20] [400,404] after also",
    ]),
    # An interval is the number of barriers the thread has passed: those that have left passed none.
    ("leave", 0, None, {"SIM_CHECK": "memcheck"}, [
        "leave 0,0,0 0 global alloc0 store 16 [0,16] all",
        "leave 0,0,0 1 global alloc0 store 8 [0,8] left",
        "grid 0,0,0 0 global alloc0 store 4 [0,4] grid",
    ]),
    # What was complete is in the file, whatever ends the program.
    ("killed", 128 + 9, None, {}, ["grid 0,0,0 0 global alloc0 store 4 [0,4] grid"]),
]  # fmt: skip

CALLS = inline(
    "trace.calls",
    r"""#include <cuda_runtime.h>
#include <sim.h>
__global__ void one(int *y) { y[threadIdx.x] = 1; } // @one
int main(int argc, char **argv)
{
	int *y;
	cudaMalloc(&y, 64);
	sim_name_allocation(y, argc > 2 ? argv[2] : "y \"quoted\"");
	one<<<1, 1>>>(y);
	if (sim_trace(argv[1]) != 0)
		return 3;
	one<<<1, 2>>>(y);
	sim_trace(NULL);
	one<<<1, 3>>>(y);
	return sim_trace("/nonexistent/trace") == 0;
}
""",
)


def with_line_numbers(line: str) -> str:
    """ "... [0,4] even trace.cuh:twice" with line numbers in the place of places."""
    head, ranges, places = re.fullmatch(r"(.*?)((?: \[\d+,\d+\])+)(.*)", line).groups()
    words = []
    for place in places.split():
        file, _, mark = place.rpartition(":")
        number = marked_line(FOLDER / (file or "trace.cu"), f"@{mark}")
        words.append(f"{file}:{number}" if file else str(number))
    return head + ranges + "".join(f" {word}" for word in words)


def place_marks() -> list[tuple[int, str]]:
    """The marked lines of the program, and their marks."""
    lines = (FOLDER / "trace.cu").read_text().splitlines()
    return [(number, line.rpartition("// @")[2]) for number, line in enumerate(lines, 1) if "// @" in line]


class Traces(Case):
    @property
    def trace_path(self) -> Path:
        return self.scratch / "trace.jsonl"

    @property
    def report_path(self) -> Path:
        return self.scratch / "report.jsonl"

    def trace_of(self, run: Run, **settings: str) -> str:
        self.trace_path.unlink(missing_ok=True)
        settings = {**USUAL, **settings}
        outcome = run(SIM_TRACE=str(self.trace_path), SIM_REPORT=str(self.report_path), **settings)
        self.expect_silent(outcome, f"{run} {settings}")
        return without_namespaces(self.trace_path.read_text())

    def expect_accesses(self, what: str, trace: Trace, expected: list[str]) -> None:
        got = [spell_access(line) for line in trace.accesses]
        self.assertEqual(got, [with_line_numbers(line) for line in expected], what)

    # ---- by hand ----

    def test_lines_worked_out_by_hand(self):
        expected = re.findall(r"\t//- (.*)", (FOLDER / "trace.cu").read_text())
        self.assertGreater(len(expected), 20)
        self.trace_of(TRACE)
        trace = read_trace(self.trace_path)
        self.expect_accesses("trace", trace, expected)
        self.assertFalse(trace.truncated)

    def test_requests_worked_out_by_hand(self):
        """Kills: a request of other lanes, another offset or pattern; a site that is another one's, or twice there."""
        marks = {str(number): mark for number, mark in place_marks()}
        usual = self.trace_of(TRACE).splitlines()
        lines = self.trace_of(TRACE, SIM_TRACE_REQUESTS="1", SIM_ORDER="reverse").splitlines()
        self.assertEqual([line for line in lines if '"warp":' not in line], usual, "the other lines stay")
        got, bytes_ = [], defaultdict(int)
        for line in map(json.loads, lines):
            if "warp" not in line:
                continue
            where, told = ",".join(map(str, line["block"])), []
            self.assertEqual(len(line["sites"]), len(set(map(tuple, line["sites"]))), line["sites"])
            for number, lanes, offset, pattern in line["requests"]:
                place, column, space, op, size, tensor = line["sites"][number]
                file, _, at = place.rpartition(":")
                mark = marks.get(at) if file.endswith("trace.cu") else "twice"
                told.append(f"{mark} {space} {tensor.replace(' ', '_')} {op} {size} {lanes:x} {offset} {pattern}")
                bytes_[line["launch"], where, line["interval"], space, tensor, op] += size * bin(lanes).count("1")
                self.assertGreater(column, 0)
            got.append(f"{line['kernel']} {where} {line['interval']} {line['warp']}: {'; '.join(told)}")
        text = re.sub(r"\n\t//~ {2,}", " ", (FOLDER / "trace.cu").read_text())
        expected = re.findall(r"\t//~ (.*)", text)
        self.assertEqual([line for line in got if not line.startswith("part ")], expected)
        self.assertEqual(
            [line.split(":")[0] for line in got if line.startswith("part ")], ["part 0,0,0 0 0", "part 0,0,0 0 1"]
        )
        for line in filter(is_access, map(json.loads, usual)):
            where = ",".join(map(str, line["block"]))
            key = line["launch"], where, line["interval"], line["space"], line["tensor"], line["op"]
            self.assertEqual(bytes_.pop(key), line["bytes"], key)
        self.assertEqual(bytes_, {})

    def test_requests_of_copies(self):
        """Kills: a copy that arrives taken for a request, which was a crash; several requests of one statement whose
        lanes read different sizes."""
        usual = self.trace_of(RUN["copies"]).splitlines()
        lines = self.trace_of(RUN["copies"], SIM_TRACE_REQUESTS="1").splitlines()
        self.assertEqual([line for line in lines if '"warp":' not in line], usual, "the other lines stay")
        ragged = next(line for line in map(json.loads, lines) if line["kernel"] == "ragged" and "warp" in line)
        self.assertEqual(
            [site[2:] for site in ragged["sites"]], [["global", "load", 16, "alloc0"], ["shared", "store", 16, "s"]]
        )
        self.assertEqual(ragged["requests"], [[0, 0x3FF, 0, "+16"], [1, 0xFFFFFFFF, 0, "+16"]])

    def test_the_record_of_a_launch(self):
        self.trace_of(TRACE)
        head = read_trace(self.trace_path).lines[0]
        wanted = {
            "kernel": "stage",
            "template": "",
            "file": str(FOLDER / "trace.cu"),
            "grid": [2, 1, 1],
            "block": [4, 1, 1],
            "tensors": [
                {"tensor": "alloc0", "space": "global", "bytes": 256},
                {"tensor": "alloc1", "space": "global", "bytes": 256},
                {"tensor": "tile", "space": "shared", "bytes": 16},
            ],
        }
        self.assertEqual({key: head.get(key) for key in wanted}, wanted)
        self.assertNotIn("error", head)

    def test_names_are_any_bytes(self):
        """Kills: each bound of UTF-8 in a report one off. Python decodes as RFC 3629 says."""
        bounds = "7f c280 dfbf e0a080 ed9fbf ee8080 efbfbf f0908080 f48fbfbf"
        beyond = "1f 80 c1bf e09fbf eda080 f08fbfbf f4908080 f5808080 ff c2 c2c2 e0a0 e0a0c0 f09080 f09080c0"
        for name in map(bytes.fromhex, f"{bounds} {beyond}".split()):
            outcome = CALLS.run(str(self.trace_path), f"<{os.fsdecode(name)}>", SIM_REPORT=str(self.report_path))
            self.expect_equal(outcome.status, 0, f"{name!r}: {outcome.err}")
            record = json.loads(self.report_path.read_bytes().splitlines()[0])
            # Of what is no character each byte is one mark.
            text = name.decode(errors="surrogateescape")
            shown = re.sub("[\udc80-\udcff]", "\ufffd", text)
            self.expect_equal(record["tensors"][0]["name"], f"<{shown}>", f"{name!r}")

    # ---- sums ----

    def usual_trace_of(self, name: str) -> str:
        """And its sums are judged: once, whichever test asks for it first."""
        if name not in USUAL_TRACES:
            USUAL_TRACES[name] = self.trace_of(RUN[name])
            expect_trace_of(self, name, read_trace(self.trace_path), read_report(self.report_path))
        return USUAL_TRACES[name]

    def test_sums_are_the_counts_of_every_program(self):
        lines = 0
        for name in NAMES:
            lines += self.usual_trace_of(name).count("\n")
        self.assertGreater(lines, 500)

    # ---- always the same ----

    def test_whatever_the_order_the_threads_and_the_checks(self):
        for name in ORDERED:
            first = self.usual_trace_of(name)
            for way in WAYS:
                self.expect_same(f"{name} with {way}", first, self.trace_of(RUN[name], **way))
        self.assertGreaterEqual(len(ORDERED), 15)

    @needs_other
    def test_whatever_the_compiler(self):
        for name, run in OTHER_RUN.items():
            ours = self.trace_of(RUN[name], SIM_THREADS="1")
            theirs = self.trace_of(run, SIM_THREADS="1")
            self.expect_same(f"{name} of {FIRST.cxx} and {OTHER.cxx}", ours, theirs)

    # ---- ends ----

    def run_end(self, how: str, **settings: str) -> Outcome:
        return TRACE(how, SIM_TRACE=str(self.trace_path), **settings)

    def test_how_a_trace_ends(self):
        for how, status, error, settings, expected in ENDS:
            for threads in ("1", "3"):
                outcome = self.run_end(how, SIM_THREADS=threads, SIM_ORDER="forward", **settings)
                trace = read_trace(self.trace_path)
                self.assertEqual((outcome.status, trace.lines[0].get("error")), (status, error), outcome.err)
                self.expect_accesses(how, trace, expected)

    def test_an_endless_loop(self):
        outcome = self.run_end("spin", SIM_TIMEOUT="0.1", SIM_ORDER="forward")
        head, stored, looked = read_trace(self.trace_path).lines
        self.assertEqual((outcome.status, head["error"]), (1, "cudaErrorLaunchTimeout"), outcome.err)
        self.assertEqual(spell_access(stored), with_line_numbers("spin 0,0,0 0 global alloc0 store 8 [0,8] spin"))
        self.assertEqual(looked["interval"], 1)
        self.assertGreater(looked["bytes"], 1000)

    def test_the_limit(self):
        """The first lines that fit, the same ones however the blocks were run, and a last one that says so."""
        first = None
        for order in ("forward", "reverse", "shuffle:3"):
            outcome = self.run_end("crowd", SIM_TRACE_LIMIT="1", SIM_ORDER=order)
            content = self.trace_path.read_text()
            trace = read_trace(self.trace_path)
            last, lines = trace.lines[-1], len(trace.lines) - 1
            self.assertTrue(outcome.status == 0 and trace.truncated, f"{order}: exit {outcome.status}")
            note = f"ended after {lines} lines, at its limit of 1 MB (SIM_TRACE_LIMIT)\n"
            self.assertEqual(outcome.err, f"SIM_TRACE={self.trace_path}: {note}")
            self.assertEqual((last["lines"], last["launch"], last["limit_bytes"]), (lines, 0, MEGABYTE))
            self.assertTrue(MEGABYTE - 2000 < len(content) < MEGABYTE + 200, f"{len(content)} bytes")
            first = first or content
            self.expect_same(f"crowd, {order}", first, content)
        self.run_end("crowd", SIM_TRACE_LIMIT="64", SIM_ORDER="forward")
        whole = self.trace_path.read_text()
        self.assertGreater(len(whole), 3 * MEGABYTE)
        self.assertTrue(whole.startswith(first[: MEGABYTE - 2000]))
        self.assertNotIn('"type":"truncated"', whole)
        self.assertIn('"kernel":"grid"', whole)

    def test_a_block_that_is_cut_costs_no_other(self):
        """Kills: a block run before the others that fills the trace, and then none of them is in it."""
        contents = set()
        for order in ("forward", "reverse"):
            self.run_end("long_end", SIM_TRACE_LIMIT="1", SIM_ORDER=order, SIM_THREADS="1")
            trace = read_trace(self.trace_path)
            blocks = [line["block"][0] for line in trace.lines if "interval" in line]
            self.assertEqual((blocks.count(0), blocks[0], trace.truncated), (1, 0, True), order)
            contents.add(self.trace_path.read_text())
        self.assertEqual(len(contents), 1)

    def test_a_block_that_fails_late(self):
        """Kills: what came before it in time, not in the trace, is dropped for what came after it."""
        for threads in ("1", "2"):
            outcome = self.run_end(
                "late_error", SIM_TRACE_LIMIT="1", SIM_ORDER="reverse", SIM_THREADS=threads, SIM_CHECK="memcheck"
            )
            self.assertEqual(outcome.status, 1, outcome.err)
            trace = read_trace(self.trace_path)
            blocks = [line["block"][0] for line in trace.lines if "interval" in line]
            self.assertEqual((blocks, trace.truncated), ([395, 396, 397, 398, 399], False), threads)

    # ---- the variable ----

    def test_what_cannot_be_written_is_refused(self):
        """Kills: exit status 3 without a word; a report that is cut off and passes for a clean one."""
        nowhere, full = "No such file or directory", "No space left on device"
        for name, (path, why) in itertools.product(("REPORT", "TRACE"), (("/none/x", nowhere), ("/dev/full", full))):
            outcome = TRACE(**{f"SIM_{name}": path})
            said = f"SIM_{name}={path}: cannot be written: {why}\n"
            self.expect_equal(outcome[:3], (3, "", said), name)
        said = "SIM_TRACE=a: expected another file than SIM_REPORT's\n"
        self.expect_equal(TRACE(SIM_TRACE="a", SIM_REPORT="a")[:3], (2, "", said), "one file")

    def test_a_fast_program_says_once_that_it_traces_nothing(self):
        outcome = FAST_RUN["trace"](SIM_TRACE=str(self.trace_path))
        self.assertEqual(outcome.status, 0)
        self.assertEqual(outcome.err, f"SIM_TRACE={self.trace_path}: ignored: a --fast program counts nothing\n")
        self.assertFalse(self.trace_path.exists(), "it wrote a file")

    def test_from_the_program(self):
        """A program may ask for a trace of some of its launches, with no variable set: sim.h."""
        outcome = CALLS.run(str(self.trace_path))
        self.assertEqual(outcome.status, 0, outcome.err)
        trace = read_trace(self.trace_path)
        line = marked_line(CALLS.text, "@one")
        self.assertEqual(
            [spell_access(each) for each in trace.lines if is_access(each)],
            [f'one 0,0,0 0 global y_"quoted" store 8 [0,8] {line}'],
        )
        self.assertEqual([each["launch"] for each in trace.lines], [1, 1])
