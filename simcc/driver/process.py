"""Commands, files, and the ways a build may end: what simcc asks of the system.

Everywhere else text, paths and arguments are bytes in the shape of a str (driver/__init__.py); here they become bytes.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Python ignores these in itself, and what it ignores its children would ignore.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)

_running: set[int] = set()
_unfinished: set[str] = set()  # files to remove should we be stopped
_scratch: list[str] = []


class Stop(Exception):
    """Ends simcc with this status, after these lines on the standard error."""

    def __init__(self, status: int, *lines: str) -> None:
        super().__init__(*lines)
        self.status = status
        self.lines = lines


def report(errors: list[str]) -> None:
    """What does not compile or link."""
    if errors:
        raise Stop(1, *errors)


def usage_error(message: str) -> Stop:
    return Stop(2, f"simcc: {message}")


# ---- text ----


def as_bytes(text: str) -> bytes:
    return text.encode("latin-1")


def as_text(path: str | bytes) -> str:
    return os.fsencode(path).decode("latin-1")


def variable(name: str) -> str | None:
    """A variable of the environment."""
    value = os.environb.get(as_bytes(name))
    return None if value is None else value.decode("latin-1")


def words(text: str) -> list[str]:
    """At ASCII's white space: str.split() knows more."""
    return [word.decode("latin-1") for word in as_bytes(text).split()]


def escaped(text: str) -> str:
    """As it stands between the quotes of a string in assembly."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


ESCAPED = re.compile(r"\\([23][0-7]{2})")  # what is beyond ASCII


def unescaped(text: str) -> str:
    """What clang has preprocessed, with its files named as they are."""
    return ESCAPED.sub(lambda byte: chr(int(byte[1], 8)), text)


def print_on(descriptor: int, text: str) -> None:
    data = as_bytes(text)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        pass  # nobody reads it


# ---- files ----


def base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def read_file(path: str) -> str:
    with open(as_bytes(path), "rb") as file:
        return file.read().decode("latin-1")


def write_file(path: str, text: str) -> None:
    try:
        with open(as_bytes(path), "wb") as file:
            file.write(as_bytes(text))
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: str, error: OSError) -> Stop:
    return Stop(3, f"simcc: cannot write {path}: {error.strerror}")


def is_file(path: str) -> bool:
    return os.path.isfile(as_bytes(path))


def is_directory(path: str) -> bool:
    return os.path.isdir(as_bytes(path))


def is_readable(path: str) -> bool:
    return os.access(as_bytes(path), os.R_OK)


def is_same_file(path: str, other: str) -> bool:
    return os.path.exists(as_bytes(other)) and os.path.samefile(as_bytes(path), as_bytes(other))


def place_in_path(program: str) -> str | None:
    """Where a program lies that is called by this name."""
    directories = [""] if "/" in program else [f"{each}/" for each in (variable("PATH") or "").split(":")]
    return next((place for each in directories if is_executable(place := f"{each}{program}")), None)


def is_executable(path: str) -> bool:
    return is_file(path) and os.access(as_bytes(path), os.X_OK)


def make_directory(path: str) -> bool:
    try:
        os.makedirs(as_bytes(path), exist_ok=True)
    except OSError:
        return False
    return True


def make_scratch_directory() -> str:
    """A directory of our own, which goes when we do."""
    parent = variable("TMPDIR") or "/tmp"
    if not os.access(as_bytes(parent), os.W_OK | os.X_OK):
        parent = "/tmp"
    while True:
        path = f"{parent}/simcc-{os.urandom(5).hex()}"
        try:
            os.mkdir(as_bytes(path), 0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise Stop(3, f"simcc: cannot make {path}: {error.strerror}") from None
        _scratch.append(path)
        return path


def clean_up() -> None:
    """Ends what still runs and takes away what is not to stay. No file stands half-written under its own name at any
    time."""
    _end_running()
    for path in _unfinished:
        with suppress(OSError):
            os.unlink(as_bytes(path))
    for directory in _scratch:
        try:
            for file in os.scandir(as_bytes(directory)):
                os.unlink(file)
            os.rmdir(as_bytes(directory))
        except OSError:
            pass


# ---- commands ----


def _end_running() -> None:
    for pid in list(_running):
        with suppress(ChildProcessError):  # a signal came when it had ended and was waited for
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
        _running.discard(pid)


def _interrupted(number: int, _frame: object) -> None:
    for end in ENDS:
        signal.signal(end, signal.SIG_IGN)
    raise SystemExit(128 + number)


def handle_interrupts() -> None:
    for end in ENDS:
        signal.signal(end, _interrupted)


def _start(command: list[str], actions: list[tuple], environment: dict[bytes, bytes] | None) -> int:
    arguments = [as_bytes(word) for word in command]
    environment = os.environb if environment is None else environment
    try:
        pid = os.posix_spawnp(arguments[0], arguments, environment, file_actions=actions, setsigdef=RESTORED)
    except OSError as error:
        if error.errno != 8:  # ENOEXEC: a script that does not say whose it is
            raise
        return _start(["sh", "-c", 'exec "$@"', "sh", *command], actions, environment)
    _running.add(pid)
    return pid


def _wait(pid: int) -> int:
    status = os.waitpid(pid, 0)[1]
    _running.discard(pid)
    return status


def quoted(word: str) -> str:
    import re

    return "'" + word.replace("'", "'\\''") + "'" if re.search(r"[^\w./:=+,@%-]", word, re.ASCII) else word


class Commands:
    """Runs commands that show their own messages; `verbose` prints them first."""

    verbose = False


def show(command: list[str], variables: dict[str, str] | None = None) -> None:
    if Commands.verbose:
        given = [f"{name}={quoted(value)}" for name, value in (variables or {}).items()]
        print_on(2, " ".join([*given, *map(quoted, command)]) + "\n")


def run(command: list[str], environment: dict[bytes, bytes] | None = None) -> None:
    """The failure of the command is ours."""
    show(command)
    try:
        pid = _start(command, [], environment)
    except OSError as error:
        raise usage_error(f"cannot run {command[0]}: {error.strerror}") from None
    if _wait(pid) != 0:
        raise Stop(1)


Command = tuple[list[str], dict[str, str]]  # and what its environment has besides


def run_saying(commands: list[Command], translate) -> None:
    """Runs them at once, and says what `translate` makes of what each says, in English, up to the first that fails.
    Where it ends there, or `translate` raises, the others have ended, too."""
    try:
        for pid, reader in _start_together(commands):
            messages = _read(reader)
            failed = _wait(pid) != 0
            print_on(2, translate(messages.decode("latin-1")))
            if failed:
                raise Stop(1)
    finally:
        _end_running()


def run_silently(commands: list[Command]) -> bool:
    """Runs them at once. Whether all end well and none has a message, which nobody sees."""
    said = [(_read(reader), _wait(pid)) for pid, reader in _start_together(commands)]
    return not any(messages or status for messages, status in said)


def _start_together(commands: list[Command]) -> list[tuple[int, int]]:
    for command, variables in commands:
        show(command, variables)
    return [_start_captured(command, 2, [], _with(variables, "C.UTF-8")) for command, variables in commands]


def _with(variables: dict[str, str], language: str) -> dict[bytes, bytes]:
    added = {as_bytes(name): as_bytes(value) for name, value in variables.items()}
    return {**os.environb, **added, b"LC_ALL": as_bytes(language)}


def output_of(command: list[str], quiet: bool = False) -> str:
    """What a command prints, in English; `quiet` drops its messages. "" where it cannot be run."""
    actions = [(os.POSIX_SPAWN_OPEN, 2, b"/dev/null", os.O_WRONLY, 0)] if quiet else []
    try:
        pid, reader = _start_captured(command, 1, actions, _with({}, "C"))
    except OSError:
        return ""
    output = _read(reader)
    _wait(pid)
    return output.decode("latin-1")


def _start_captured(
    command: list[str], descriptor: int, actions: list[tuple], environment: dict[bytes, bytes]
) -> tuple[int, int]:
    """The process, and what reads that descriptor of it."""
    reader, writer = os.pipe()
    try:
        pid = _start(command, [(os.POSIX_SPAWN_DUP2, writer, descriptor), *actions], environment)
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    return pid, reader


def _read(reader: int) -> bytes:
    with open(reader, "rb") as pipe:
        return pipe.read()


def run_to(output: str, command: list[str], accept=None, translate=None) -> None:
    """Runs a command that writes a file, which appears only when it is complete, and when `accept` does not raise; says
    what `translate` makes of what it says.

    The command does not see the file's own folder, so that what cannot be written there is told by us, by its name.
    """
    made = f"{make_scratch_directory()}/output"
    command = [*command, "-o", made]
    if translate:
        run_saying([(command, {})], translate)
    else:
        run(command)
    if accept:
        accept(made)
    put_in_place(made, output)


def put_in_place(made: str | None, output: str) -> None:
    """Copies a file to the place where it is to be; without one, tries whether it could be.

    What is there and no regular file, /dev/null or a pipe, is written to and stays what it is.
    """
    special = os.path.exists(as_bytes(output)) and not os.path.isfile(as_bytes(output))
    if special and made is None and not os.path.isdir(as_bytes(output)):
        return
    partial = output if special else f"{output}.simcc{os.getpid()}"
    _unfinished.update(() if special else (partial,))
    try:
        with open(as_bytes(partial), "wb") as file:
            if made is not None:
                with open(as_bytes(made), "rb") as content:
                    file.write(content.read())
        if made is None:
            os.unlink(as_bytes(partial))
        elif not special:
            os.chmod(as_bytes(partial), os.stat(as_bytes(made)).st_mode)
            os.rename(as_bytes(partial), as_bytes(output))
    except OSError as error:
        raise cannot_write(output, error) from None
    _unfinished.discard(partial)
