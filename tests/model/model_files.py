"""What the suites of common/model share: the program that reads files under sanitizers, and the two models."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from case import BUILD, ROOT, Outcome, run

FILES = BUILD / "model/files"
TINY = ROOT / "tests/data/tiny_model/tiny.bin"
REAL = ROOT / "models/SmolLM2-135M-Instruct.Q4_1.bin"
MAKE_TINY = ROOT / "tests/data/tiny_model/make.py"
# The real model is 98 MB; no number in a file may ask for more.
LITTLE_MEMORY = {"ASAN_OPTIONS": "max_allocation_size_mb=128"}


def files(*arguments: str | Path, seconds: float = 120) -> Outcome:
    return run([FILES, *arguments], seconds=seconds, **LITTLE_MEMORY)


def encode(model: Path, texts: Iterable[bytes | str]) -> list[list[int] | str]:
    """The tokens of each text, or the error: "error: CODE MESSAGE"."""
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    packed = b"".join(struct.pack("<I", len(text)) + text for text in raw)
    done = subprocess.run([FILES, "encode", model], input=packed, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    lines = done.stdout.decode(errors="replace").split("\n")[:-1]
    assert len(lines) == len(raw), (len(lines), len(raw))
    return [line if line.startswith("error") else [int(word) for word in line.split()] for line in lines]


def tiny_gguf(directory: Path) -> Path:
    """The GGUF file of which the tiny model is made."""
    made = directory / "tiny.gguf"
    subprocess.run([sys.executable, MAKE_TINY, "--gguf", made], check=True, timeout=60)
    return made
