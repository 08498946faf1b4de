"""What suites of unittest that run programs share: where things are, a directory of their own, and runs that end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Where make built what a suite needs; run.py says it. What suite.py runs by itself finds the build of gcc.
BUILD = Path(os.environ.get("TEST_BUILD", ROOT / "build/gcc/tests"))


class Outcome(NamedTuple):
    status: int  # exit status; 128 + signal for one that was killed
    out: str
    err: str


def run(command: Sequence[str | Path], *, cwd: Path | None = None, seconds: float = 120, **environment: str) -> Outcome:
    """Runs a command, with variables added to ours without SIM_*.

    Raises AssertionError when it runs longer than seconds; it and all it started are killed then.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    text = {"text": True, "encoding": "utf-8", "errors": "replace"}
    process = subprocess.Popen(
        command, cwd=cwd, env={**variables, **environment}, start_new_session=True, **streams, **text
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{command}: still running after {seconds:g} s, killed") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    status = process.returncode
    return Outcome(status if status >= 0 else 128 - status, out, err)


@contextlib.contextmanager
def started(command: Sequence[str | Path], **streams_and_places: Any) -> Iterator[subprocess.Popen[str]]:
    """A command that runs beside the test, in a process group of its own (as Popen takes it, with text); it and all it
    started are gone at the end of the block, also when the test failed in it."""
    process = subprocess.Popen(command, start_new_session=True, encoding="utf-8", **streams_and_places)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Waits until it is true. Raises AssertionError where it is not within these seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)


def running(words: str, seconds: float = 0) -> list[str]:
    """The command lines of this machine's processes that have these words in them; where `seconds` are given, of those
    that have not ended within them. (A minimal system has no ps.)"""
    deadline = time.monotonic() + seconds
    while True:
        commands = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # it has ended
                commands.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        found = [command for command in commands if words in command]
        if not found or time.monotonic() >= deadline:
            return found
        time.sleep(0.05)


def moved(kernel: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Elements that a kernel of a program's JSON reads and writes of each tensor; an atomic is both."""
    requested = {tensor["name"]: tensor["requested"] for tensor in kernel["hbm"]["tensors"]}
    return {
        name: tuple((of[key] + of["atomic_bytes"]) // 4 for key in ("read_bytes", "write_bytes"))
        for name, of in requested.items()
    }


# A value of SIM_CHECK: racecheck takes up to half of a run.
WITHOUT_RACECHECK = "memcheck,initcheck,synccheck"


def split_environment(words: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Arguments, and the words NAME=VALUE."""
    arguments: list[str] = []
    environment: dict[str, str] = {}
    for word in words:
        if re.match("[A-Z_]+=", word):
            name, _, value = word.partition("=")
            environment[name] = value
        else:
            arguments.append(word)
    return arguments, environment


class Case(unittest.TestCase):
    """A test with a directory of its own, self.scratch."""

    def setUp(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    def run_program(self, program: Path, options: str, status: int = 0, **environment: str) -> Outcome:
        """In the scratch directory; fails on another exit status."""
        outcome = run([program, *options.split()], cwd=self.scratch, **environment)
        self.assertEqual(outcome.status, status, f"{program} {options}: {outcome.err}")
        return outcome

    def run_json(self, program: Path, options: str, **environment: str) -> dict[str, Any]:
        return json.loads(self.run_program(program, f"--json - {options}", **environment).out)
