"""Tensors in files, as the programs take them with --load and write them with --save: numpy's format, version 1, of
float32 in C's order."""

from __future__ import annotations

import array
import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

REAL = Path(__file__).resolve().parents[1] / "data/real_qkv"


def read_npy(path: Path) -> tuple[tuple[int, ...], array.array[float]]:
    """Shape and values."""
    content = path.read_bytes()
    start = 10 + int.from_bytes(content[8:10], "little")
    return ast.literal_eval(content[10:start].decode())["shape"], array.array("f", content[start:])


def write_npy(path: Path, shape: Sequence[int], values: Iterable[float]) -> None:
    path.parent.mkdir(exist_ok=True)
    header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).ljust(117) + "\n"
    path.write_bytes(
        b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + array.array("f", values).tobytes()
    )


def nested(shape: Sequence[int], values: array.array[float]) -> Any:
    if len(shape) < 2:
        return list(values)
    step = len(values) // shape[0]
    return [nested(shape[1:], values[at : at + step]) for at in range(0, len(values), step)]


def first_tokens(directory: Path, tokens: int) -> Path:
    """Of the model's Q, K and V (B, H, N, d) in tests/data/real_qkv."""
    for name in ("q.npy", "k.npy", "v.npy"):
        (B, H, N, d), values = read_npy(REAL / name)
        some = [values[head * N * d :][: tokens * d] for head in range(B * H)]
        write_npy(directory / name, (B, H, tokens, d), sum(some, array.array("f")))
    return directory
