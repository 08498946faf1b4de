"""simcc --loops and simcc --widths: the machine code that nvcc made, beside the source that simcc counts."""

from __future__ import annotations

import sys

from machine.facts import read_files, spelled
from machine.problem import Problem

USAGE = {
    "--loops": "simcc --loops FILE.sass [more.sass]      (FILE.sass: nvdisasm -gi -c of a cubin made with -lineinfo)",
    "--widths": "simcc --widths FILE.sass[,more.sass] [--json] PROGRAM [arguments]",
}


def print_loops(arguments: list[str]) -> int:
    if not arguments or any(each.startswith("-") for each in arguments):
        raise Problem(2, f"expected: {USAGE['--loops']}")
    sys.stdout.write(spelled(read_files(arguments)))
    return 0


def run(command: str, arguments: list[str]) -> int:
    """Returns the exit status; `command` is --loops or --widths."""
    try:
        if command == "--loops":
            status = print_loops(arguments)
        else:
            from machine.widths import print_widths

            status = print_widths(arguments, USAGE[command])
        sys.stdout.flush()
        return status
    except Problem as problem:
        print(f"simcc: {problem}", file=sys.stderr)
        return problem.status
    except BrokenPipeError:
        return 141
    except OSError as error:
        print(f"simcc: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 3
