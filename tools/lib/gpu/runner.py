"""Runs programs with a time limit each, one or many at once, and never waits longer than that.

Each program is the leader of a process group of its own; the whole group is killed when the program ends, runs over its
limit, or when this process is told to stop.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TO_TERMINATE = 3  # seconds between SIGTERM and SIGKILL
TO_KILL = 7  # seconds after that a process is left to itself: a driver may keep one that was killed
_stopping = False


@dataclass
class Job:
    command: Sequence[str | Path]
    seconds: float = 60
    log: Path | None = None  # of stdout and stderr together
    directory: Path | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)  # added to ours; None: taken away
    # What came of it. A job that was not started, for want of time, has no status.
    status: int | None = None  # exit status; 128 + signal; 124 over its limit; 127 it could not be started
    timed_out: bool = False
    took: float | None = None

    @property
    def ok(self) -> bool:
        return self.status == 0

    def output(self) -> str:
        return read_text(self.log) if self.log else ""

    def last_line(self) -> str:
        """What to tell of a program that failed: the first of its last lines that names an error, or the very last."""
        if self.timed_out:
            return "over its time limit"
        lines = [line for line in self.output()[-4000:].split("\n") if line.strip()]
        errors = [line for line in lines if re.search("error|fatal|cannot|not found|ERR_", line, re.IGNORECASE)]
        return re.sub(r"[\t\r]", " ", (errors[:1] or lines[-1:] or ["it printed nothing"])[0])[:200]


_running: set[subprocess.Popen[bytes]] = set()


def _kill(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in its group
        os.killpg(process.pid, number)


def stop(*_: object) -> None:
    """To be a handler of signals: all that runs is killed, and run_all ends this process with status 130."""
    global _stopping
    _stopping = True
    for process in list(_running):
        _kill(process, signal.SIGKILL)


def check_stopped() -> None:
    if _stopping:
        raise SystemExit(130)


def run(job: Job) -> Job:
    return run_all([job])[0]


def run_all(jobs: Sequence[Job], at_once: int = 1, end: float | None = None) -> Sequence[Job]:
    """The jobs in their order, at most `at_once` at a time; returns them.

    No job starts after the moment `end` (of time.monotonic()), and none runs on after it.
    """
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda job: _run(job, end), jobs))
    check_stopped()
    return jobs


def _run(job: Job, end: float | None) -> None:
    started = time.monotonic()
    seconds = job.seconds if end is None else min(job.seconds, end - started)
    if _stopping or end is not None and end <= started:
        return
    environment = {name: value for name, value in {**os.environ, **job.environment}.items() if value is not None}
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
    with open(job.log or os.devnull, "wb") as log:
        try:
            command = [str(word) for word in job.command]
            process = subprocess.Popen(command, stdout=log, cwd=job.directory, env=environment, **streams)
        except OSError as error:
            log.write(f"{job.command[0]}: {error.strerror}\n".encode())
            job.status, job.took = 127, 0
            return
    _running.add(process)
    if _stopping:  # since we looked
        _kill(process, signal.SIGKILL)
    for limit, number in ((seconds, signal.SIGTERM), (TO_TERMINATE, signal.SIGKILL), (TO_KILL, signal.SIGKILL)):
        try:
            process.wait(limit)
            break
        except subprocess.TimeoutExpired:
            job.timed_out = True
            _kill(process, number)
    _kill(process, signal.SIGKILL)  # what it left behind
    _running.discard(process)
    status = process.returncode
    job.status = 124 if job.timed_out else status if status >= 0 else 128 - status
    job.took = time.monotonic() - started


def read_text(path: Path) -> str:
    """All of a file, whatever bytes it has; "" if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
