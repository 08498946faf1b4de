"""Broken kernels, each beside its clean twin (the same file with FIXED defined): memcheck, synccheck, endless loops and
mistakes with the API, to the word, and what the API says after them: at least one for each kind of fault. (More, in
every order: test_broken_kernels.py; more calls: test_hazards.py.) What each must be reported as stands beside it in
the source, messages/*.cu:

    //! case NAME tool=T kind=A|B error=E thread=x,y,z|any block=x,y,z|any [array=A] [index=I] [space=S] [line=any]
    //+ further keys: [call=E] [timeout] [severity=warning]
    //! says a piece of the message
    ... // BUG NAME       the line, or one of the lines, that must be named

With LONG=1 in other orders, too, and by both LLVMs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from reports import hazards_of, read_report
from support import (
    FIRST,
    LONG,
    TESTS,
    TRIED,
    Batch,
    Case,
    Compiler,
    Member,
)

FILES = ["api", "barriers", "endless", "global", "shared"]


@dataclass
class Broken:
    file: str
    name: str
    keys: dict[str, str]
    flags: set[str]
    says: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def key(self, name: str) -> str:
        return self.keys.get(name, "")

    @property
    def severity(self) -> str:
        return self.keys.get("severity", "error")

    @property
    def any_line(self) -> bool:
        return self.key("line") == "any"


def read_cases(file: str) -> list[Broken]:
    text = (TESTS / "messages" / f"{file}.cu").read_text()
    cases: list[Broken] = []
    for line in text.replace("\n//+ ", " ").split("\n"):
        if line.startswith("//! case "):
            words = line.split()[2:]
            keys = dict(word.split("=", 1) for word in words if "=" in word)
            cases.append(Broken(file, words[0], keys, {word for word in words[1:] if "=" not in word}))
        elif line.startswith("//! says "):
            cases[-1].says.append(line[len("//! says ") :])
    by_name = {case.name: case for case in cases}
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.search(r"^[^/].*// BUG (\w+)", line)
        if mark:
            by_name[mark.group(1)].lines.append(number)
    for case in cases:
        assert case.key("tool") and case.key("kind") and (case.key("error") or case.key("call")), case.name
        assert case.lines or case.any_line, f"{file}.cu: no line for {case.name}"
        assert case.flags <= {"timeout"}, f"{file}.cu: {case.name}: {case.flags}"
    return cases


def _batch(compiler: Compiler) -> Batch:
    sources = {file: TESTS / "messages" / f"{file}.cu" for file in FILES}
    members = [Member(f"{file}{'.fixed' * fixed}", sources[file], fixed) for file in FILES for fixed in (False, True)]
    return Batch("messages", members, "-w", compiler=compiler)


BATCH = {compiler: _batch(compiler) for compiler in TRIED}


class Way(NamedTuple):
    threads: str
    order: str


FORWARD = Way("1", "forward")
OTHER_WAYS = [Way("2", "reverse"), Way("1", "shuffle:3"), Way("2", "shuffle:5")]


def values_after(output: str, label: str) -> str:
    found = re.search(f"{label}: (.*)", output)
    return found.group(1) if found else ""


class Messages(Case):
    def run_case(self, compiler: Compiler, broken: Broken, way: Way, fixed: bool):
        path = self.scratch / "report.json"
        path.unlink(missing_ok=True)
        # What is tested here; a broken kernel may well be broken in other ways too.
        checks = "memcheck,racecheck,initcheck,synccheck" if fixed else "memcheck,synccheck"
        outcome = BATCH[compiler].run(
            f"{broken.file}{'.fixed' * fixed}",
            broken.name,
            SIM_REPORT=str(path),
            SIM_THREADS=way.threads,
            SIM_ORDER=way.order,
            SIM_CHECK=checks,
            SIM_TIMEOUT="0.2" if "timeout" in broken.flags and not fixed else "20",
        )
        return outcome, read_report(path)

    def check_broken(self, compiler: Compiler, broken: Broken, way: Way, exact: bool) -> None:
        what = f"{broken.name}, {compiler.cxx}, {way}"
        outcome, report = self.run_case(compiler, broken, way, fixed=False)
        is_error = broken.severity == "error"
        self.expect_equal(outcome.status, int(is_error), f"{what}: exit status:\n{outcome.err}")
        self.check_message(what, broken, outcome.err, exact)
        self.check_errors(what, broken, outcome.out)
        self.check_record(what, broken, report, exact)

    def check_message(self, what: str, broken: Broken, message: str, exact: bool) -> None:
        for piece in broken.says:
            self.expect_in(piece, message, what)
        summed = "========= ERROR SUMMARY: 1 error\n" in message
        self.expect_equal(summed, broken.severity == "error", f"{what}: its summary in\n{message}")
        if not broken.any_line:
            named = any(f"{broken.file}.cu:{line}\n" in message for line in broken.lines)
            self.expect(named, f"{what}: none of the lines {broken.lines} is named in\n{message}")
            source = [
                line.replace("\t", " ") for line in (TESTS / "messages" / f"{broken.file}.cu").read_text().split("\n")
            ]
            quotes = re.findall(r"^=========\s+(\d+) \| (.{10,})$", message, re.MULTILINE)
            is_quoted = any(int(n) in broken.lines and text.strip(".") in source[int(n) - 1] for n, text in quotes)
            self.expect(is_quoted, f"{what}: none of the lines {broken.lines} is quoted in\n{message}")
        if not broken.key("error"):
            return
        if exact and broken.key("thread") != "any":
            self.expect_in(f"by thread ({broken.key('thread')}) in block ", message, what)
        if exact and broken.key("block") != "any":
            self.expect_in(f" in block ({broken.key('block')})\n", message, what)
        self.expect_in("by thread (", message, what)

    def check_errors(self, what: str, broken: Broken, output: str) -> None:
        """A fault is heard of by the call that waits for the device and stays until the reset; then it works again."""
        call = broken.key("call")
        labels = ("last error", "waits", "other calls", "call after it", "call")
        values = {label: values_after(output, label) for label in labels}
        if broken.key("error") and not call:
            self.expect_equal(values["last error"], "cudaSuccess", f"{what}: heard of too early")
        if broken.key("error"):
            for label in ("waits", "call after it"):
                self.expect(values[label] in broken.key("error").split("|"), f"{what}: {label}: {values[label]}")
        if call:
            self.expect_equal(values["call"], call, f"{what}: the call")
            self.expect_equal(values["last error"], call, f"{what}: the error after it")
            self.expect_equal(values["call after it"], "cudaSuccess", f"{what}: the next call")
        if broken.key("error"):
            self.expect_equal(values["other calls"], "", f"{what}: calls that do not return the fault")
        self.expect_equal(values_after(output, "\nreset"), "cudaSuccess", f"{what}: cudaDeviceReset")
        self.expect("not what was" not in output, f"{what}: a call after the fault did something")
        self.expect_equal(values_after(output, "after reset"), "cudaSuccess", f"{what}: after the reset")
        self.expect_in("works again", output, f"{what}: after the reset")

    def check_record(self, what: str, broken: Broken, report, exact: bool) -> None:
        if len(report.hazards) != 1:
            self.expect(False, f"{what}: {len(report.hazards)} hazard records")
            return
        hazard = report.hazards[0]
        self.expect_equal(hazard["tool"], broken.key("tool"), f"{what}: tool")
        self.expect(hazard["kind"] in broken.key("kind").split("|"), f"{what}: kind {hazard['kind']}")
        self.expect_equal(hazard["severity"], broken.severity, f"{what}: severity")
        self.expect(hazard.get("file", "").endswith(f"/{broken.file}.cu"), f"{what}: file {hazard.get('file')}")
        named = broken.any_line or hazard.get("line") in broken.lines
        self.expect(named, f"{what}: line {hazard.get('line')}, expected one of {broken.lines}")
        if broken.key("error"):
            self.expect_equal(hazard["kernel"], broken.name, f"{what}: kernel")
            counted = sum(hazards_of(launch) for launch in report.launches if launch["kernel"] == broken.name)
            self.expect(counted > 0, f"{what}: its launch record counts no hazard")
        for key in ("space", "array"):
            if broken.key(key):
                self.expect_equal(hazard.get(key), broken.key(key), f"{what}: {key}")
        if exact and broken.key("index"):
            self.expect_equal(hazard.get("index"), int(broken.key("index")), f"{what}: index")

    def check_fixed(self, compiler: Compiler, broken: Broken, way: Way) -> None:
        what = f"{broken.name}, fixed, {compiler.cxx}, {way}"
        outcome, report = self.run_case(compiler, broken, way, fixed=True)
        self.expect_silent(outcome, what)
        works = "cudaError" not in outcome.out and "works again" in outcome.out
        self.expect(works, f"{what} printed {outcome.out}")
        for hazard in report.hazards:  # "info": blocks write the same value, on purpose
            self.expect_equal(hazard["severity"], "info", f"{what}: a hazard record")
        self.expect(report.launches, f"{what}: no launch")

    def check_file(self, file: str, at_least: int) -> None:
        cases = read_cases(file)
        self.expect(len(cases) >= at_least, f"{file}.cu: only {len(cases)} cases")
        for broken in cases:
            for compiler in TRIED:
                self.check_broken(compiler, broken, FORWARD, exact=True)
                self.check_fixed(compiler, broken, FORWARD)
            for way in OTHER_WAYS if LONG else []:  # always reported, whatever the order, even if by another thread
                self.check_broken(FIRST, broken, way, exact=False)
                self.check_fixed(FIRST, broken, way)

    def test_global_memory(self):
        self.check_file("global", 11)

    def test_shared_and_local_memory(self):
        self.check_file("shared", 11)

    def test_barriers_and_masks(self):
        self.check_file("barriers", 8)

    def test_endless_loops_and_traps(self):
        self.check_file("endless", 7)

    def test_mistakes_with_the_api(self):
        self.check_file("api", 11)

    def test_without_a_check_the_errors_are_the_same(self):
        """Kills: what only a report keeps from the program: an access that happens, an error that nobody hears of, a
        loop without an end."""
        for file in ("barriers", "endless", "global", "shared"):
            for broken in read_cases(file):
                outcome = BATCH[FIRST].run(file, broken.name, SIM_CHECK="none", SIM_TIMEOUT="0.2")
                self.expect_equal((outcome.status, outcome.err), (0, ""), broken.name)
                error = values_after(outcome.out, "waits")
                # Without synccheck no barrier is compared with another one.
                known = [*broken.key("error").split("|"), *(["cudaSuccess"] if file == "barriers" else [])]
                self.expect(error in known, f"{broken.name}: {error}, expected {known}")
                self.expect_in("works again", outcome.out, broken.name)
