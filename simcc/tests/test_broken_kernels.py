"""The sanitizer on kernels as people write them: broken_kernels/NAME.cu holds a planted bug and, with FIXED defined,
none; those in correct/ are right as they stand. The first must be reported whatever the order and the number of CPU
threads, the others must be silent. Each file says itself what is expected:

    // EXPECT tool kind|kind error|warning [noline] [xN]     xN: each of N launches has a bug of this kind
    // ORDERS all        with LONG=1 all 8 shuffles, else one instead of none
    // SLOW              ends by its timeout: two ways only
    // CHECK list        SIM_CHECK instead of the four tools (and leakcheck for correct/)
    // WHOLE             with LONG=1 compiled alone, as people write them; the others have their mains from main.cuh
    ... // BUG           a line that must be named; with OTHER lines, both sides must be marked ones
    ... // ALSO          a line that further findings may name; any other line is a false alarm

What the first way reports, to the thread and the word, stands in
broken_kernels/reports.txt, and what people read in texts.txt, of each finding that says what none before it has said;
REMAKE=1 writes them anew: read their difference.
All these kernels are in programs with fences. Without one another part of racecheck works (check/racecheck.c), and
counts and names some accesses otherwise: unfenced.txt has what it reports of those kernels without a fence that is not
in reports.txt, and of what is there and it does not, the number and a checksum.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import golden
from reports import Record, Report, read_report
from support import LONG, TESTS, TRIED, Batch, Case, Member, Program, Run, leak_check, program

FOLDER = TESTS / "broken_kernels"
REPORTS = FOLDER / "reports.txt"
UNFENCED_REPORTS = FOLDER / "unfenced.txt"
TEXTS = FOLDER / "texts.txt"
FOUR_TOOLS = "memcheck,racecheck,initcheck,synccheck"
BATCH_SIZE = 25


class Way(NamedTuple):
    order: str
    threads: str


WAYS = [
    Way("forward", "1"),
    Way("forward", "2"),
    Way("reverse", "2"),
    Way("shuffle:1", "1"),
    Way("shuffle:2", "2"),
    Way("shuffle:3", "1"),
    Way("shuffle:4", "2"),
    Way("shuffle:5", "1"),
    Way("shuffle:6", "2"),
    Way("shuffle:7", "1"),
    Way("shuffle:8", "2"),
    Way("reverse", "1"),
]

# ---- what the sources say ----


@dataclass
class Kernel:
    source: Path
    tool: str = ""
    kinds: list[str] = field(default_factory=list)
    severities: list[str] = field(default_factory=list)
    times: int = 1
    check: str = FOUR_TOOLS
    flags: set[str] = field(default_factory=set)
    lines: dict[str, set[int]] = field(default_factory=lambda: {"BUG": set(), "OTHER": set(), "ALSO": set()})

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def is_correct(self) -> bool:
        return self.source.parent.name == "correct"

    @property
    def ways(self) -> list[Way]:
        """Both directions, and both numbers of CPU threads; with LONG=1 all that there are."""
        if "SLOW" in self.flags:
            return WAYS[:2]
        if "ORDERS all" in self.flags or self.is_correct:
            return WAYS if LONG else [WAYS[0], WAYS[2], WAYS[5]]
        return WAYS[:6] if LONG else [WAYS[0], WAYS[2]]

    @property
    def sides(self) -> set[int]:
        return self.lines["BUG"] | self.lines["OTHER"]


def read_kernel(source: Path) -> Kernel:
    kernel = Kernel(source)
    for number, line in enumerate(source.read_text().split("\n"), 1):
        expect = re.match(r"// EXPECT (\S+) (\S+) (\S+)( noline)?(?: x(\d+))?$", line)
        if expect:
            kernel.tool = expect.group(1)
            kernel.kinds, kernel.severities = expect.group(2).split("|"), expect.group(3).split("|")
            kernel.flags |= {"noline"} if expect.group(4) else set()
            kernel.times = int(expect.group(5) or 1)
        elif line.startswith("// CHECK "):
            kernel.check = line[len("// CHECK ") :]
        elif line in ("// ORDERS all", "// SLOW", "// WHOLE"):
            kernel.flags.add(line[3:])
        elif not line.startswith("//"):
            for mark in re.findall(r"// (BUG|OTHER|ALSO)", line):
                kernel.lines[mark].add(number)
    return kernel


BROKEN = [read_kernel(source) for source in sorted(FOLDER.glob("*.cu"))]
LONGEST = [kernel for kernel in BROKEN if kernel.name == "race_long_history"]
CORRECT = [read_kernel(source) for source in sorted((FOLDER / "correct").glob("*.cu"))]

# ---- building: WHOLE ones one by one if there is time, the others together ----


def _alone(kernel: Kernel, fixed: bool) -> Program:
    options = ["-w"] + (["-DFIXED"] if fixed else [])
    name = f"kernels.{kernel.name}{'.fixed' * fixed}"
    return program(str(kernel.source.relative_to(TESTS).with_suffix("")), *options, name=name)


def _build() -> dict[tuple[str, bool], Run]:
    runs: dict[tuple[str, bool], Run] = {}
    both = [(kernel, fixed) for kernel in BROKEN + CORRECT for fixed in (False, True)[: 2 - kernel.is_correct]]
    # With LONG=1, too, in the same company: one with fences changes what is told of all.
    fence = Member("fence", FOLDER / "correct/last_block.cu")
    together = [Member(f"{kernel.name}{'.fixed' * fixed}", kernel.source, fixed) for kernel, fixed in both]
    for first in range(0, len(together), 2 * BATCH_SIZE):
        members = together[first : first + 2 * BATCH_SIZE]
        batch = Batch(f"kernels.{first // (2 * BATCH_SIZE)}", [*members, fence], "-w")
        for member, run in zip(members, batch.runs().values()):
            runs[member.source.stem, member.fixed] = run
    for kernel, fixed in both if LONG else ():
        if "WHOLE" in kernel.flags:
            runs[kernel.name, fixed] = _alone(kernel, fixed).run
    return runs


RUNS = _build()
UNFENCED = [
    kernel for kernel in BROKEN if kernel.tool == "racecheck" and "threadfence" not in kernel.source.read_text()
]
UNFENCED_RUNS = Batch("kernels.unfenced", [Member(each.name, each.source, False) for each in UNFENCED], "-w").runs()
# With another compiler, too: the lanes are there or not by what it makes of branches.
LEFT = [program("broken_kernels/sync_left", "-w", name="sync_left", compiler=compiler).run for compiler in TRIED[1:]]

# ---- the verdicts ----


def is_expected(kernel: Kernel, hazard: Record) -> bool:
    kinds = kernel.kinds == ["any"] or hazard["kind"] in kernel.kinds
    if hazard["tool"] != kernel.tool or not kinds or hazard["severity"] not in kernel.severities:
        return False
    if "noline" in kernel.flags:
        return True
    if hazard.get("line") not in kernel.sides:
        return False
    if not kernel.lines["OTHER"]:
        return hazard["line"] in kernel.lines["BUG"]
    # Which of two racing sides comes first is a question of order.
    return "other" not in hazard or hazard["other"].get("line") in kernel.sides


def of_launches(kernel: Kernel, report: Report) -> dict[int, set[str]]:
    """What each launch is caught at in whatever order: the severities, and the kinds unless that is which of two comes
    first."""
    said = defaultdict(set)
    for hazard in filter(functools.partial(is_expected, kernel), report.hazards):
        said[hazard["launch"]] |= {hazard["severity"]} | ({hazard["kind"]} - {"RAW", "WAR", "WAW"})
    return said


def is_noise(kernel: Kernel, hazard: Record) -> bool:
    allowed = kernel.sides | kernel.lines["ALSO"]
    return hazard["severity"] != "info" and "noline" not in kernel.flags and hazard.get("line") not in allowed


def told(kernel: Kernel, hazard: Record) -> str:
    """A hazard in one line: all its keys but those that EXPECT holds already, and the names of files."""
    left_out = ("type", "tool", "kernel", "file", "other", "advice", "launch")
    other = {f"other.{key}": value for key, value in hazard.get("other", {}).items() if key != "file"}
    pairs = {**{key: value for key, value in hazard.items() if key not in left_out}, **other}
    if "SLOW" in kernel.flags:  # how far it came until it was ended
        pairs = {key: value for key, value in pairs.items() if key not in ("count", "thread", "block", "line")}
    words = [f"{key}={','.join(map(str, value)) if isinstance(value, list) else value}" for key, value in pairs.items()]
    return " ".join([f"{kernel.name}:", *words, hazard.get("advice", "")]).rstrip()


def addresses(text: str) -> dict[int, list[str]]:
    """What a text says of wrong addresses, by the line of the access."""
    said = defaultdict(list)
    for finding in re.split(r"^={9} (?=Invalid )", masked(text), flags=re.MULTILINE)[1:]:
        line = int(re.search(r"@:(\d+)$", finding, re.MULTILINE)[1])
        said[line].append(" ".join(re.findall(r"^={9} {5}((?!at |by )\S.*)", finding, re.MULTILINE)))
    return said


def masked(text: str) -> str:
    """Without addresses, the column of a caret, which compilers put at different words, and what the length of a path
    changes: where lines break, whether a kernel's parameters have room."""
    text = re.sub(r"\n={9} {9}(?=[^ \d|])", " ", text)
    text = re.sub(r"\S*/\S*?:(\d+)", r"@:\1", re.sub("0x[0-9a-f]{6,}", "0x#", text))
    text = re.sub(r"(    at \w+)\([^()]*\) in", r"\1 in", text)
    return re.sub(r"^(=+ +\|) +\^.*", r"\1 ^", text, flags=re.MULTILINE)


def without_place(text: str) -> str:
    """How far a loop without an end came until it was ended is another line each time."""
    return re.sub(r"^=+ +(at|by|\d* *\|) .*\n", "", text, flags=re.MULTILINE)


def sentence(line: str) -> str:
    """What a line says, whoever it says it of: without names, numbers and kinds of accesses."""
    line = re.sub(r"^=+ +\S+(?= \(counted|: it was)|'\w+'|\b(at|in|on|to|kernel) [\w.@:\[\]]+|\d+", "#", line)
    line = re.sub(r"\b([Rr]ead|[Ww]rite|[Aa]tomic|RAW|WAR|WAW|cuda\w+|__\w+)\b", "#", line)
    return re.sub(r"(launch|error|time)(s|es)\b", r"\1", line)


def names_one_thread_twice(message: str) -> bool:
    """ "first thread (0,1,0), then thread (0,1,0)": a race is between two."""
    pairs = re.findall(r"first thread (\([0-9,]+\)),? then thread (\([0-9,]+\))", message)
    return any(first == second for first, second in pairs)


class BrokenKernels(Case):
    DONE: ClassVar[dict[tuple, tuple]] = {}

    def run_kernel(self, kernel: Kernel, fixed: bool, way: Way, check: str, run: Run | None = None):
        path = self.scratch / "report.json"
        path.unlink(missing_ok=True)
        settings = {"SIM_ORDER": way.order, "SIM_THREADS": way.threads, "SIM_CHECK": check}
        endless = "SLOW" in kernel.flags and not fixed
        settings |= {"SIM_REPORT": str(path), "SIM_TIMEOUT": "0.2" if endless else "20"}
        key = (kernel.name, fixed, way, check, run)
        if key not in self.DONE:  # some are asked for by two tests
            outcome = (run or RUNS[kernel.name, fixed])(**settings)
            self.DONE[key] = outcome, read_report(path)
        return self.DONE[key]

    def expect_caught(self, kernel: Kernel, way: Way, run: Run | None = None) -> None:
        what = f"{kernel.name}{' in another program' * bool(run)}, {way.order}, {way.threads} threads"
        outcome, report = self.run_kernel(kernel, False, way, kernel.check, run)
        caught = of_launches(kernel, report)
        warns = kernel.severities == ["warning"]
        said = f"status {outcome.status}, {report.hazards[:1]}\n{outcome.err}"
        self.expect_equal(len(caught), kernel.times, f"{what}: {said}")
        self.expect_equal(outcome.status, 0 if warns else 1, f"{what}: {said}")
        self.expect_in("========= Warning" if warns else "========= ERROR SUMMARY", outcome.err, what)
        self.expect(not names_one_thread_twice(outcome.err), f"{what}: a race of one thread:\n{outcome.err}")
        first = self.run_kernel(kernel, False, WAYS[0], kernel.check, run)[1]
        self.expect_equal(caught, of_launches(kernel, first), f"{what} and {WAYS[0].order}")
        for hazard in report.hazards:
            self.expect(not is_noise(kernel, hazard), f"{what}: beside it {hazard}")

    def expect_no_alarm(self, kernel: Kernel, fixed: bool, way: Way, check: str) -> None:
        outcome, report = self.run_kernel(kernel, fixed, way, check)
        infos = all(hazard["severity"] == "info" for hazard in report.hazards)
        said = re.sub("^========= Note: flags or locks .*\n", "", outcome.err, flags=re.MULTILINE)
        what = f"{kernel.name}{' fixed' * fixed}, {way.order}, {way.threads} threads"
        silent = outcome.status == 0 and not said and infos
        self.expect(silent, f"{what}: false alarm; status {outcome.status}\n{outcome.err}")

    def check_broken(self, prefix: str, at_least: int) -> None:
        kernels = [kernel for kernel in BROKEN if kernel.name.startswith(prefix)]
        bugs = sum(kernel.times for kernel in kernels)
        self.expect(bugs >= at_least, f"only {bugs} bugs in kernels {prefix}")
        for kernel in kernels:
            self.assertTrue(kernel.tool and (kernel.lines["BUG"] or "noline" in kernel.flags), kernel.name)
            for way in kernel.ways:
                self.expect_caught(kernel, way)
            for way in kernel.ways if LONG else kernel.ways[1:]:
                self.expect_no_alarm(kernel, True, way, kernel.check)

    def test_reports_to_the_word(self):
        """Kills: another thread, place, array, index, count or advice in a report; a finding more or less; another word
        or line of what people read; a loop through barriers that is not told of long before its end."""
        found, texts, advised = [], {}, set()
        # A kernel that is compiled alone has a main of its own, which is another program.
        kernels = [kernel for kernel in BROKEN if not LONG or "WHOLE" not in kernel.flags]
        of = " ".join(kernel.name for kernel in kernels) if LONG else ""
        for kernel in kernels:
            outcome, report = self.run_kernel(kernel, False, WAYS[0], kernel.check)
            at = addresses(outcome.err)
            for hazard in report.hazards:
                said_of = at[hazard["line"]].pop(0) if at.get(hazard.get("line")) else ""
                found.append(f"{told(kernel, hazard)} {said_of}".rstrip())
            texts[kernel.name] = without_place(outcome.err) if "SLOW" in kernel.flags else masked(outcome.err)
            advised |= {f"=========     {hazard['advice']}" for hazard in report.hazards if "advice" in hazard}
        with self.subTest(REPORTS.name):
            self.assertEqual(golden.changes(REPORTS, found, of), "")
        if not LONG:
            # Headlines begin a finding.
            findings = [
                (len(finding.splitlines()), name, finding)
                for name, text in texts.items()
                for finding in re.split(r"^(?=={9} \S)", text, flags=re.MULTILINE)
            ]
            kept, said = defaultdict(list), set()
            for _, name, finding in sorted(findings):
                new = [line for line in finding.splitlines() if line not in advised]
                says = {sentence(line) for line in new if not re.match(r"=+ +\d* *\|", line)}
                kept[name] += finding.splitlines() if says - said else []
                said |= says
            lines = [line for name in sorted(kept) if kept[name] for line in (f"$ {name}", *kept[name])]
            self.assertEqual(golden.changes(TEXTS, lines), "")

    def test_reports_without_fences_to_the_word(self):
        """Kills: in check/racecheck.c another lane, thread, clock, byte or cell that an access is held against, of
        shared and of global memory, for stores, reads, volatile ones and atomics; blocks told as lanes of a warp."""
        with_fences, found = defaultdict(list), []
        for line in REPORTS.read_text().splitlines():
            with_fences[line.partition(":")[0]].append(line)
        for kernel in UNFENCED:
            _, report = self.run_kernel(kernel, False, WAYS[0], kernel.check, UNFENCED_RUNS[kernel.name])
            lines, known = Counter(told(kernel, hazard) for hazard in report.hazards), Counter(with_fences[kernel.name])
            left_out = sorted((known - lines).elements())
            checksum = zlib.crc32("\n".join(left_out).encode())
            found += (lines - known).elements()
            found += [f"{kernel.name}: {len(left_out)} left out, {checksum:08x}"] if left_out else []
            for way in kernel.ways:
                self.expect_caught(kernel, way, UNFENCED_RUNS[kernel.name])
        self.assertEqual(golden.changes(UNFENCED_REPORTS, found), "")

    def test_nothing_is_lost(self):
        """Kills: what the checks allocate for a launch, a finding or a sentence, and do not give back."""
        variables = leak_check()
        for kernel in BROKEN + CORRECT if LONG else BROKEN[::4] + CORRECT[::3] + LONGEST:
            settings = {"SIM_REPORT": str(self.scratch / "report.json"), "SIM_TIMEOUT": "0.2", **variables}
            outcome = RUNS[kernel.name, False](SIM_CHECK=kernel.check, **settings)
            self.expect("detected memory leaks" not in outcome.err, f"{kernel.name}: {outcome.err}")

    def test_races(self):
        self.check_broken("race_", 101)

    def test_reads_of_what_nobody_wrote(self):
        self.check_broken("init_", 19)

    def test_wrong_addresses(self):
        self.check_broken("mem_", 42)

    def test_wrong_barriers(self):
        self.check_broken("sync_", 22)
        kernel = next(kernel for kernel in BROKEN if kernel.name == "sync_left")
        for run in LEFT:
            for way in (WAYS[0], WAYS[6]):
                self.expect_caught(kernel, way, run)
            reports = [self.run_kernel(kernel, False, WAYS[0], kernel.check, each)[1] for each in (None, run)]
            ours, others = ([told(kernel, hazard) for hazard in report.hazards] for report in reports)
            self.expect_equal(others, ours, "sync_left with another compiler")

    def test_correct_ones_are_silent(self):
        self.expect(len(CORRECT) >= 36, f"only {len(CORRECT)} correct kernels")
        for kernel in CORRECT:
            for way in kernel.ways:
                self.expect_no_alarm(kernel, False, way, FOUR_TOOLS + ",leakcheck")
