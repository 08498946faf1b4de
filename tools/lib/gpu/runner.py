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
from dataclasses import dataclass, field
from pathlib import Path

TO_TERMINATE = 3  # seconds between SIGTERM and SIGKILL
TO_KILL = 10  # seconds after which a process is left to itself: a driver may keep one that was killed
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


@dataclass
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    started: float
    stop_at: float

    def kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in it
            os.killpg(self.process.pid, number)

    def has_ended(self) -> bool:
        """Also ends it, step by step, when its time is over."""
        now = time.monotonic()
        status = self.process.poll()
        if status is not None:
            self.kill(signal.SIGKILL)  # what it left behind
        elif now > self.stop_at:
            self.job.timed_out = True
            self.kill(signal.SIGKILL if now > self.stop_at + TO_TERMINATE else signal.SIGTERM)
            if now <= self.stop_at + TO_KILL:
                return False
        else:
            return False
        self.job.status = 124 if self.job.timed_out or status is None else status if status >= 0 else 128 - status
        self.job.took = now - self.started
        return True


def stop(*_: object) -> None:
    """To be a handler of signals: all that runs is killed, and run_all ends this process with status 130."""
    global _stopping
    _stopping = True


def check_stopped() -> None:
    if _stopping:
        raise SystemExit(130)


def run(job: Job) -> Job:
    return run_all([job])[0]


def run_all(jobs: Sequence[Job], at_once: int = 1, end: float | None = None) -> Sequence[Job]:
    """The jobs in their order, at most `at_once` at a time; returns them.

    No job starts after the moment `end` (of time.monotonic()), and none runs on after it.
    """
    waiting = list(reversed(jobs))
    running: list[_Running] = []
    try:
        while waiting or running:
            check_stopped()
            while waiting and len(running) < at_once:
                job = waiting.pop()
                now = time.monotonic()
                if end is not None and now >= end:
                    continue
                if process := _start(job):
                    limit = job.seconds if end is None else min(job.seconds, end - now)
                    running.append(_Running(job, process, now, now + limit))
            still = [each for each in running if not each.has_ended()]
            if still and len(still) == len(running):
                time.sleep(0.01)
            running = still
    finally:
        for each in running:
            each.kill(signal.SIGKILL)
    return jobs


def _start(job: Job) -> subprocess.Popen[bytes] | None:
    environment = {name: value for name, value in {**os.environ, **job.environment}.items() if value is not None}
    with open(job.log or os.devnull, "wb") as log:
        try:
            return subprocess.Popen(
                [str(word) for word in job.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=job.directory,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            log.write(f"{job.command[0]}: {error.strerror}\n".encode())
            job.status, job.took = 127, 0
            return None


def read_text(path: Path) -> str:
    """All of a file, whatever bytes it has; "" if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
