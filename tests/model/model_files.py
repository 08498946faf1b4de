"""What the suites of common/model share: the program that reads files under sanitizers, the two models, and files
made by hand."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case import BUILD, ROOT, Outcome, run

FILES = BUILD / "model/files"
TINY = ROOT / "tests/data/tiny_model/tiny.gguf"
REAL = ROOT / "models/SmolLM2-135M-Instruct.Q4_1.gguf"
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


# ---- GGUF ----

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}


def string(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def value(kind: int, content: object) -> bytes:
    return string(content) if kind == STRING else struct.pack("<" + FORMATS[kind], content)


def key(name: str | bytes, kind: int, content: object) -> bytes:
    return string(name) + struct.pack("<I", kind) + value(kind, content)


def array(name: str, kind: int, contents: Sequence[object]) -> bytes:
    head = string(name) + struct.pack("<IIQ", ARRAY, kind, len(contents))
    return head + b"".join(value(kind, content) for content in contents)


def tensor(name: str | bytes, shape: Sequence[int], encoding: int, offset: int) -> bytes:
    return string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, encoding, offset)


def gguf(keys: Sequence[bytes], tensors: Sequence[bytes] = (), data: bytes = b"", alignment: int = 32) -> bytes:
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)
    return out + bytes(-len(out) % alignment) + data
