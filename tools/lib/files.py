"""Files that are never half-written, and how a tool ends: with its status and at most one line on why."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn


class InputError(Exception):
    """One line: what is wrong with what a tool was given. It ends the tool with status 2."""


def read_text(path: str | Path, error: type[InputError] = InputError) -> str:
    """Raises `error` where it cannot be read, or is no UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as why:
        raise error(f"{path}: cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise error(f"{path}: expected text in UTF-8") from why


def replace_file(path: str | Path, content: str | bytes) -> None:
    """Writes beside it and renames: a reader sees the old file or the new.

    A link is followed; what is no regular file (a device, a pipe) is written as it is. Several may write the same file:
    the last one stays. Raises OSError with the path's name, leaving nothing behind.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="surrogateescape")
    try:
        target = Path(path)
        if target.exists() and not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            real = Path(os.path.realpath(target))
            if real.is_symlink():  # it leads to itself
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            _replace(real, data)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _replace(target: Path, data: bytes) -> None:
    """By way of a new file that is this process's alone."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    number = 0
    while True:
        new = target.parent / f".new.{os.getpid()}.{number}"  # beside a name that is as long as one may be, too
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            break
        except FileExistsError:
            number += 1
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(data)
        os.replace(new, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        raise


def give_up(tool: str, status: int, text: str) -> NoReturn:
    """Exit statuses of every tool: 1 what was looked at is wrong, 2 usage or unusable input, 3 environment."""
    if sys.stdout:
        sys.stdout.flush()
    _say(tool, text)
    raise SystemExit(status)


def _say(tool: str, text: str) -> None:
    with contextlib.suppress(OSError):  # standard error may be closed or full as well
        print(f"{tool}: {text}", file=sys.stderr, flush=True)


def _leave(number: int, _: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one would end what cleans up
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _run(tool: str, main: Callable[[], int]) -> int:
    try:
        if sys.stdout is None:  # a file that is opened now would become it
            give_up(tool, 3, "standard output: is closed")
        # Not even with PYTHONUNBUFFERED is a line written at once: argparse does not tell when it cannot.
        sys.stdout.reconfigure(errors="backslashreplace", write_through=False)
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # who read it has left
        return 128 + signal.SIGPIPE
    except InputError as error:
        _say(tool, str(error))
        return 2
    except OSError as error:
        place = error.filename if error.filename is not None else "standard output"
        _say(tool, f"{os.fsdecode(place)}: {error.strerror}")
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # Path.resolve, before Python 3.13
            raise
        _say(tool, str(error))
    except subprocess.CalledProcessError as error:
        command = error.cmd if isinstance(error.cmd, str) else shlex.join(map(str, error.cmd))
        _say(tool, f"'{command}' failed")
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 3


def run_tool(tool: str, main: Callable[[], int]) -> NoReturn:
    """Runs a tool's main and exits with the status it returns, or with one line: 2 where what it was given is wrong
    (InputError), 3 where a file or standard output cannot be written, or a program cannot be run. What ends a tool from
    outside lets it clean up."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # not with nohup
            signal.signal(number, _leave)
    # One line, without argparse's usage above it.
    argparse.ArgumentParser.error = lambda parser, text: give_up(parser.prog, 2, f"{text} (--help says more)")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        status = _run(tool, main)
    except SystemExit as left:
        status = left.code or 0
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried again
    raise SystemExit(status)
