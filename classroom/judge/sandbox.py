"""One command with limits on CPU time, memory, processes and size of files; in bwrap, where that works.

In bwrap, or else in namespaces of our own (unshare), a command sees the system's programs and libraries, what `read`
and `write` name, and nothing else: no network, no home, no other process. Where neither is allowed, as in a container,
root runs a submission as another user, without a capability: it writes what `write` names, and reads what everybody
may. Who is not root has limits. A compiler, which runs nothing of a submission, has limits alone there.

CPU time is what counts, so a busy machine changes nothing; there is a limit on the clock too, far away, for a process
that sleeps. GRADE_SANDBOX=bwrap|namespaces|user|limits insists on one.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMITS = {
    "cpu_seconds": 4,
    "region_seconds": 20,
    "compile_seconds": 20,
    "memory_mb": 1024,
    "file_mb": 64,
    "clock_factor": 30,
}
LEAST_MEMORY_MB = 1024  # of address space: the simulated device reserves what it may need
NAMESPACES = ("bwrap", "namespaces")  # kinds in which no process is seen from outside, nor sees any there
TIME = re.compile(r"(\d+)m([\d.]+)s")
TOLD = re.compile(r"(\d+)\n.*\n(.*)\n")  # a status; times of the shell, and of what it started
TO_END = 5  # seconds, for all that is killed to be gone
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/etc/ld.so.cache")
BWRAP = ("bwrap", "--unshare-all", "--die-with-parent", "--new-session")
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child")
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--inh-caps=-all")
# A root of its own: $1 the place for it, then pairs "ro|rw PATH" up to "--", then the command.
NEW_ROOT = r"""set -e; root=$1; shift
mount -t tmpfs none "$root"
while [ "$1" != -- ]; do
	if [ -d "$2" ]; then mkdir -p "$root$2"; else mkdir -p "$root${2%/*}"; : > "$root$2"; fi
	mount --rbind "$2" "$root$2"
	[ "$1" = rw ] || mount -o remount,bind,ro "$root$2" 2>/dev/null || true
	shift 2
done
shift
mkdir -p "$root/proc" "$root/tmp"; mount -t proc none "$root/proc"
chroot "$root" "$@" || exit $? # not in the place of process 1, which no limit ends
"""


_lock = threading.RLock()  # a signal may come while its thread holds it
_running: set[subprocess.Popen] = set()
_is_stopped = False


class Environment(Exception):
    """This machine cannot. One line, or what a tool said."""


@dataclass(frozen=True)
class Outcome:
    status: int
    signal: int
    timeout: str  # "", "cpu" or "clock"
    seconds: float = field(default=0, compare=False)  # of CPU time; 0 where that is not known


def limit(name: str) -> int:
    given = os.environ.get(f"GRADE_{name.upper()}", "")
    return int(given) if given.isdecimal() and 0 < int(given) < 10_000_000 else LIMITS[name]


def check_machine() -> None:
    """A machine that gives less would take points from everybody; better to say so before."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    if most != resource.RLIM_INFINITY and most < LEAST_MEMORY_MB << 20:
        raise Environment(
            f"this shell allows {most >> 20} MB of address space (ulimit -v); a run needs {LEAST_MEMORY_MB}"
        )
    if re.search(r"[\x00-\x1f\x7f]", os.path.realpath(tempfile.gettempdir())):
        raise Environment("TMPDIR has a control character in it; expected another directory")
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if most != resource.RLIM_INFINITY and most < limit("file_mb") << 20:
        raise Environment(f"this shell allows files of {most} bytes (ulimit -f); a run needs {limit('file_mb')} MB")
    if limit("memory_mb") < LEAST_MEMORY_MB:
        raise Environment(f"GRADE_MEMORY_MB={limit('memory_mb')}: expected at least {LEAST_MEMORY_MB}")


def _works(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@functools.cache
def kind() -> tuple[str, str]:
    """What there is, "bwrap", "namespaces", "user" or "limits", and why it is no better one. Raises Environment."""
    asked = os.environ.get("GRADE_SANDBOX", "")
    why = "bwrap may not make its namespaces here" if shutil.which("bwrap") else "bwrap is not installed"
    everywhere = [*BWRAP, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    mounts = [*UNSHARE, "sh", "-c", "mount -t tmpfs none /mnt && mount -t proc none /proc"]
    as_nobody = [*AS_NOBODY, "true"] if os.getuid() == 0 else ["false"]
    for name, command, not_here in (
        ("bwrap", everywhere, why),
        ("namespaces", mounts, "unshare may not make them here"),
        ("user", as_nobody, "only root runs a submission as another user"),
    ):
        if asked in ("", name) and _works(command):
            return name, "" if name == "bwrap" else why
        if asked == name:
            raise Environment(f"GRADE_SANDBOX={name}: {not_here}")
    if asked not in ("", "limits"):
        raise Environment(f"GRADE_SANDBOX={asked}: expected bwrap, namespaces, user or limits")
    return "limits", f"GRADE_SANDBOX={asked}" if asked else why


@functools.cache
def _threads_now() -> int:
    """Threads that this user has already: the limit on processes counts them too."""
    count = 0
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if directory.stat().st_uid == os.getuid():
                count += len(list((directory / "task").iterdir()))
    return count


@functools.cache
def _process_letter() -> str:
    """dash calls the number of processes -p, bash -u."""
    return "u" if _works(["sh", "-c", "ulimit -u"]) else "p"


@functools.cache
def _programs(compilers: tuple[str, ...]) -> tuple[str, ...]:
    """Where compilers lie, and the Python that simcc is run with, that the system's directories do not have."""
    paths = {os.path.realpath(shutil.which(compiler) or compiler) for compiler in compilers}
    own = tuple(sorted({str(Path(path).parents[1]) for path in paths if not path.startswith(SYSTEM)}))
    return own if shutil.which("python3", path="/usr/bin:/bin") else (*own, sys.base_prefix)


def _inside(command: list[str], read: Sequence[str], write: Sequence[str], scratch: str) -> list[str]:
    how, _ = kind()
    system = [path for path in SYSTEM if os.path.exists(path)]
    if how == "bwrap":
        binds = [word for path in (*system, *read) for word in ("--ro-bind", path, path)]
        binds += [word for path in write for word in ("--bind", path, path)]
        own = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        return [*BWRAP, *own, *binds, *command]
    if how == "namespaces":
        pairs = [word for path in (*system, "/dev", *read) for word in ("ro", path)]
        pairs += [word for path in write for word in ("rw", path)]
        root = os.path.join(scratch, "root")
        os.makedirs(root, exist_ok=True)
        return [*UNSHARE, "sh", "-c", NEW_ROOT, "sh", root, *pairs, "--", *command]
    return command


def _give(read: Sequence[Path], write: Sequence[Path]) -> None:
    """To NOBODY: what it may write is its own, what it may read can be read, our directories above can be passed."""
    for path in write:
        os.chown(path, NOBODY, NOBODY)
    for path in read:
        path.chmod(0o755)
    for path in (*read, *write):
        for above in path.parents:
            if above.stat().st_uid == os.getuid() and above.stat().st_mode & 0o7777 == 0o700:
                above.chmod(0o711)


def _end(child: subprocess.Popen) -> None:
    """Kills it and what it started. Of a namespace it kills the first process, with which all others in there end: our
    child, outside, waits for that."""
    with contextlib.suppress(OSError):  # it has ended
        if kind()[0] in NAMESPACES:
            inside = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
            for process in inside:
                os.kill(int(process), signal.SIGKILL)
            if inside:
                return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _wait(child: subprocess.Popen) -> None:
    """Until nothing of what it started runs any more."""
    deadline = time.monotonic() + TO_END
    try:
        child.wait(TO_END)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(child.pid, 0)  # is anyone left in its group?
            time.sleep(0.005)


def stop() -> None:
    """For a signal's handler: ends what runs, and lets nothing more begin."""
    global _is_stopped
    with _lock:
        _is_stopped = True
        for child in _running:
            _end(child)


class Session:
    """A sandbox for commands that run one after the other. A shell in it starts them and says how each ended; a command
    finds no process of the one before it. Where there are no namespaces, each command has a sandbox of its own."""

    def __init__(
        self,
        *,
        output: Path,
        cpu_seconds: int,
        memory_mb: int,
        read: Sequence[Path] = (),
        write: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        compilers: tuple[str, ...] = (),
    ) -> None:
        """The limits are of each command. Its standard output and error go to `output`, from which those of the command
        before are gone. `read` and `write` are all that it sees of this machine's own files."""
        self.output, self.cpu_seconds, self.compilers = output, cpu_seconds, compilers
        self.read, self.write = read, write
        # What the shell itself has to say is not output. An address space, not memory in use: what a program reserves
        # and never touches counts here.
        self.limits = (
            "exec 3>&2 2>/dev/null; "
            f"ulimit -c 0; ulimit -t {cpu_seconds + 2}; ulimit -S -t {cpu_seconds}; "
            f"ulimit -v {memory_mb * 1024}; ulimit -f {limit('file_mb') * 2048}; "
            f"ulimit -{_process_letter()} {_threads_now() + 64}\n"
        )
        self.variables = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent", "LC_ALL": "C"}
        self.variables.update(environment or {})
        self.child: subprocess.Popen | None = None
        self.spent = 0.0  # CPU time of what the shell has started

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def run(self, command: Sequence[str], **variables: str) -> Outcome:
        """Raises Environment after stop()."""
        shell, before = self.child or self._open(), self.spent
        self.log.truncate(0)
        given = "".join(f"{name}={shlex.quote(value)} " for name, value in variables.items())
        lasts = kind()[0] in NAMESPACES
        ends = "kill -9 -1; " if lasts else ""
        line = f"({given}exec {shlex.join(command)}) </dev/null >&3 2>&3 3>&-; status=$?; {ends}echo $status; times\n"
        timeout, said, told = "", "", None
        try:
            with contextlib.suppress(BrokenPipeError):  # it was ended: nothing will be said
                os.write(shell.stdin.fileno(), line.encode("utf-8", "surrogateescape"))
            deadline = time.monotonic() + self.cpu_seconds * limit("clock_factor")
            while not (told := TOLD.match(said)):
                if not select.select([shell.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                    timeout = "clock"
                    break
                if not (more := os.read(shell.stdout.fileno(), 4096)):
                    break
                said += more.decode("ascii", "replace")
        finally:
            if not told or not lasts:
                self._close()
        if _is_stopped:
            raise Environment("stopped")
        if timeout:
            return Outcome(0, 0, timeout)
        if not told:  # the shell or its sandbox was killed: nothing is known of the run
            raise Environment("a sandbox ended without a word: was it killed?")
        status, spent = int(told[1]), sum(60 * float(m) + float(s) for m, s in TIME.findall(told[2]))
        used, self.spent = spent - before, spent if self.child else 0.0
        number = status - 128 if 128 < status < 128 + 65 else 0
        return Outcome(0 if number else status, number, "cpu" if number == signal.SIGXCPU else "", used)

    def _open(self) -> subprocess.Popen:
        readable = [*map(str, self.read), *(_programs(self.compilers) if self.compilers else ())]
        inside = ["sh"]
        if kind()[0] != "user":
            inside = _inside(inside, readable, [str(path) for path in self.write], str(self.output.parent))
        elif not self.compilers:
            _give(self.read, self.write)
            inside = [*AS_NOBODY, *inside]
        self.log = self.output.open("ab", buffering=0)
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log, "bufsize": 0}
        with _lock:
            if _is_stopped:
                raise Environment("stopped")
            self.child = subprocess.Popen(inside, **streams, env=self.variables, start_new_session=True, cwd="/")
            _running.add(self.child)
        with contextlib.suppress(BrokenPipeError):
            os.write(self.child.stdin.fileno(), self.limits.encode())
        return self.child

    def _close(self) -> None:
        child, self.child, self.spent = self.child, None, 0.0
        if child:
            with _lock:
                _end(child)
                _running.discard(child)
            _wait(child)
            for stream in (child.stdin, child.stdout, self.log):
                stream.close()


def run(command: Sequence[str], **settings: Any) -> Outcome:
    """One command, in a sandbox of its own."""
    with Session(**settings) as session:
        return session.run(command)
