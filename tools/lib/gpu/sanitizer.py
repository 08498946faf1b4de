"""compute-sanitizer's verdicts on programs, beside those of the simulated device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_MORE = {"memcheck": ["--leak-check", "full"], "racecheck": ["--racecheck-report", "all"]}


def arguments(tool: str) -> list[str]:
    """What follows "compute-sanitizer" on the command line, without the program."""
    return ["--tool", tool, "--print-limit", "20", "--error-exitcode", "86", *_MORE.get(tool, [])]


@dataclass
class Result:
    """verdict: error, warning, clean, endless (over its limit), or broken: a run that says nothing of the program,
    because the tool did not start, or did not get to its summary."""

    verdict: str
    errors: int = 0
    warnings: int = 0
    leaks: int = 0
    said: str = "-"


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else None


def read_output(text: str, timed_out: bool) -> Result:
    """Of all that a finished run printed."""
    errors = int(_first(r"ERROR SUMMARY: (\d+) errors?", text) or 0)
    leaks = int(_first(r"LEAK SUMMARY: \d+ bytes leaked in (\d+) allocations?", text) or 0)
    warnings = 0
    races = re.search(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)", text)
    if races:
        errors, warnings = map(int, races.groups())
    said = None
    if timed_out:
        verdict = "endless"
    elif not re.search("(?:ERROR|RACECHECK) SUMMARY:", text):
        verdict = "broken"
        last = [line for line in text.split("\n") if line.strip()][-1:] or ["it printed nothing"]
        said = _first("^(.*(?:not supported|[Ee]rror|failed|No such).*)$", text) or last[0]
    else:
        verdict = "error" if errors else "warning" if warnings else "clean"
    if verdict not in ("clean", "broken"):
        said = _first(r"^========= (?!\s*(?:COMPUTE-SANITIZER|Saved|Host Frame|in |at ))(.*\S)", text)
    said = re.sub(r"[\t\r]", " ", re.sub("^=+ ", "", said or "-"))[:160]
    return Result(verdict, errors, warnings, leaks, said)


@dataclass
class Expectation:
    """What a source says the simulated device reports of it; simcc/tests holds it to these lines."""

    tool: str = ""
    severities: str = ""  # "error|warning"
    slow: bool = False

    @property
    def nvidia_tool(self) -> str:
        """Leaks are memcheck's, with --leak-check full."""
        return "memcheck" if self.tool == "leakcheck" else self.tool


def read_expectation(path: Path) -> Expectation:
    text = path.read_text(encoding="utf-8")
    slow = bool(re.search("^// SLOW", text, re.MULTILINE))
    found = re.findall(r"^// EXPECT (\S+) \S+ (\S+)", text, re.MULTILINE)
    return Expectation(*found[-1], slow) if found else Expectation(slow=slow)


def reason(limits: Iterable[Mapping[str, str]], kernel: str, tool: str) -> str:
    """Why this tool is known not to see this kernel's bug; "" if it should. limits: gpu/sanitizer_limits.tsv."""
    for limit in limits:
        if tool == limit["tool"] and fnmatchcase(kernel, limit["kernel"]):
            return limit["reason"]
    return ""


def judge(
    kernel: str, variant: str, tool: str, expected: Expectation, result: Result, limits: Iterable[Mapping[str, str]]
) -> tuple[str, str]:
    """(our verdict, "agree" | "differ: ..." | "beside it: ..." | "not comparable: ...").

    variant: broken, fixed or correct.
    """
    broken = variant == "broken"
    ours = expected.severities if broken and expected.nvidia_tool == tool else "clean"
    theirs = result.verdict
    found = theirs in ("error", "warning")
    if theirs == "broken":
        return ours, f"not comparable: {result.said}"
    if ours == "clean":
        if theirs == "endless":
            return ours, "not comparable: over its time limit"
        if not found:
            return ours, "agree"
        return ours, "beside it: also reported" if broken else "differ: a finding where ours has none"
    if found:
        return ours, "agree" if theirs in ours.split("|") else f"differ in severity: {theirs}"
    known = reason(limits, kernel, tool)
    return ours, f"differ, as known: {known}" if known else "differ: silent, for no reason we know"
