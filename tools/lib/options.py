"""Numbers on the command lines of tools, for argparse: decimal digits, and nothing else."""

from __future__ import annotations

import argparse
import re


def whole(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got '{text}'")
    return int(text)


def seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got '{text}'")
    return float(text)
