"""Reads a GGUF file, version 3, little endian: its keys, and its tensors as they are stored.

Layout: "GGUF", version, number of tensors and of keys; the keys with their values; name, shape, encoding and offset of
each tensor; padding to the alignment; the tensors' data. Source:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. A file that is not as it must be is one line: Broken. PyPI's
`gguf` reads the same (tests/model/test_gguf.py), but believes the numbers of a broken file, and then takes all memory.
Called by: tools/model, tests/data/tiny_model/make.py.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any, NamedTuple

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# Encodings that the course computes with: name, weights and bytes of a block.
F32, Q4_1, Q8_0 = 0, 3, 8
ENCODINGS = {F32: ("F32", 1, 4), Q4_1: ("Q4_1", 32, 20), Q8_0: ("Q8_0", 32, 34)}


class Broken(Exception):
    """What was read cannot be used; the text goes behind the file's name."""


class Tensor(NamedTuple):
    shape: tuple[int, ...]  # columns first
    encoding: int
    data: bytes | memoryview


class Reader:
    """Steps through bytes; no length in them is believed before there is so much left."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = memoryview(data), 0

    def take(self, count: int, what: str) -> memoryview:
        if count > len(self.data) - self.at:
            raise Broken(f"ends in {what}: {count} bytes from byte {self.at} on, of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, kind: str, what: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind), what))[0]

    def text(self, what: str) -> str:
        return bytes(self.take(self.number("Q", what), what)).decode(errors="surrogateescape")

    def value(self, kind: int, what: str) -> Any:
        if kind == STRING:
            return self.text(what)
        if kind in FORMATS:
            return self.number(FORMATS[kind], what)
        raise Broken(f"{what} has type {kind}, expected 0 to 12 and no array in an array")

    def key(self) -> tuple[str, Any]:
        name = self.text("the name of a key")
        kind, what = self.number("I", "the type of a value"), f"key {name}"
        if kind != ARRAY:
            return name, self.value(kind, what)
        kind, count = self.number("I", what), self.number("Q", what)
        if count > len(self.data):
            raise Broken(f"{what} has {count} values, more than the file has bytes")
        return name, [self.value(kind, what) for _ in range(count)]

    def tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """Name, shape, encoding, offset."""
        name = self.text("the name of a tensor")
        rank = self.number("I", f"tensor {name}")
        if not 1 <= rank <= 4:
            raise Broken(f"tensor {name} has {rank} dimensions, expected 1 to 4")
        shape = tuple(self.number("Q", f"tensor {name}") for _ in range(rank))
        return name, shape, self.number("I", f"tensor {name}"), self.number("Q", f"tensor {name}")


def bytes_of(name: str, shape: tuple[int, ...], encoding: int) -> int:
    if encoding not in ENCODINGS:
        raise Broken(f"tensor {name} has encoding {encoding}, expected 0 (F32), 3 (Q4_1) or 8 (Q8_0)")
    kind, weights, block = ENCODINGS[encoding]
    if shape[0] % weights:
        raise Broken(f"tensor {name} is {kind} with rows of {shape[0]}, expected a multiple of {weights}")
    return math.prod(shape) // weights * block


def parse(data: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    reader = Reader(data)
    if data[:4] != b"GGUF":
        raise Broken("is not a GGUF file, expected one that begins with GGUF")
    reader.at = 4
    version = reader.number("I", "the version")
    if version != 3:
        raise Broken(f"is GGUF version {version}, expected version 3, little endian")
    tensor_count, key_count = reader.number("Q", "the number of tensors"), reader.number("Q", "the number of keys")
    if max(tensor_count, key_count) > len(data):
        raise Broken(f"says it has {tensor_count} tensors and {key_count} keys, more than the file has bytes")
    keys = dict(reader.key() for _ in range(key_count))
    found = [reader.tensor() for _ in range(tensor_count)]
    if len(keys) != key_count or len({name for name, *_ in found}) != tensor_count:
        raise Broken("has a key or a tensor twice")
    alignment = keys.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise Broken(f"has the alignment {alignment!r}, expected a number")
    start = -(-reader.at // alignment) * alignment
    tensors = {}
    for name, shape, encoding, offset in found:
        reader.at = start + offset
        tensors[name] = Tensor(shape, encoding, reader.take(bytes_of(name, shape, encoding), f"tensor {name}"))
    return keys, tensors


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """{key: value}, {name: tensor}. Raises Broken, and OSError."""
    return parse(path.read_bytes())
