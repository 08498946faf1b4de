"""simcc from its first line to its last."""

from __future__ import annotations

import gc
import os
import sys

from driver.options import parse
from driver.process import Stop, as_text, clean_up, handle_interrupts, print_on


def main(home: str, directory: str) -> None:
    """Never returns. `home` is where simcc lies, `directory` where its library is built."""
    gc.disable()  # a build ends before there is any garbage worth looking for
    handle_interrupts()
    try:
        status = status_of(as_text(home), as_text(directory))
    except SystemExit as end:
        status = end.code
    finally:
        clean_up()
    os._exit(status)  # nothing is open, and taking the interpreter apart takes time


def status_of(home: str, directory: str) -> int:
    if sys.argv[1:2] in (["--loops"], ["--widths"]):  # of what nvcc made, not of a program to build
        from machine.main import run

        return run(sys.argv[1], sys.argv[2:])
    try:
        settings = parse([as_text(argument) for argument in sys.argv[1:]])
        from driver.build import build

        build(settings, home, directory)
    except Stop as stop:
        print_on(2, "".join(f"{line}\n" for line in stop.lines))
        return stop.status
    except OSError as error:
        print_on(2, f"simcc: {as_text(error.filename or '')}: {error.strerror}\n")
        return 1
    return 0
