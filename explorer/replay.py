"""A kernel that came out wrong, run again on the first keys alone: from how many keys on is it wrong?

Keys [0, n) are a problem of their own, with a reference of its own.
"""

from __future__ import annotations

import array
import itertools
import math
import struct
import tempfile
from pathlib import Path

from details import Details, Output, coordinates, number, run_again

WITHOUT_TILES, MOST_REPLAYS = 32, 40  # the step, in keys, where a kernel works in no tiles
AXES = "NM"  # the letters of queries and keys


def is_wrong(details: Details, kernel: int) -> bool:
    """Where rows are missing, what the others are made of explains nothing: there is nothing to look for."""
    outputs = details.kernels[kernel]["outputs"]
    return not any("unwritten" in output for output in outputs) and any(not output["passed"] for output in outputs)


def tokens_of(details: Details, kernel: int) -> int:
    """How many queries there are, each with the keys of its own head, as many; 0: it is no such attention."""
    query, key = (details.tensor(kernel, name) for name in "QK")
    if not query or not key or not details.tensor(kernel, "V") or "N" not in query["letters"]:
        return 0
    return query["shape"][query["letters"].index("N")] if query["shape"] == key["shape"] else 0


def npy(values: array.array, shape: list[int]) -> bytes:
    """Format 1.0 of numpy.lib.format."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header = header.ljust(-(len(header) + 11) % 64 + len(header)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def cut(values: array.array, tensor: dict, keys: int) -> bytes:
    """What a tensor of the whole problem holds where the shorter one has an element, too."""
    shape = [keys if letter in AXES else extent for letter, extent in zip(tensor["letters"], tensor["shape"])]
    strides = [math.prod(tensor["shape"][axis + 1 :]) for axis in range(len(shape))]
    # Whole pieces behind the last axis that is cut.
    last = max((axis for axis, letter in enumerate(tensor["letters"]) if letter in AXES), default=-1)
    piece = shape[last] * strides[last] if last >= 0 else len(values)
    short = array.array("f")
    for at in itertools.product(*map(range, shape[: max(last, 0)])):
        first = sum(index * stride for index, stride in zip(at, strides))
        short += values[first : first + piece]
    return npy(short, shape)


def seen(output: Output) -> dict:
    """Its first wrong element, else its worst."""
    about = output.about
    index, wrong = output.first_wrong(), True
    if index is None:
        row = about["worst_row"] if isinstance(output.rows, range) else list(output.rows).index(about["worst_row"])
        index, wrong = row * output.length + about["worst_column"], False
    flat = output.flat(index)
    return {
        "tensor": about["tensor"],
        "wrong": wrong or not about["passed"],
        "at": coordinates(flat, about["shape"]),
        "got": number(output.actual[flat]),
        "expected": number(output.expected[index]),
    }


class Replays:
    """Of one wrong kernel, in a directory of its own."""

    def __init__(self, program: str, details: Details, kernel: int, room: Path) -> None:
        self.program, self.details, self.kernel, self.room = program, details, kernel, room
        self.inputs = [
            (tensor, details.input(tensor))
            for tensor in details.kernels[kernel]["tensors"]
            if tensor["role"] == "input"
        ]

    def once(self, keys: int) -> dict | None:
        """None where it cannot be run, or where the device found something."""
        for tensor, values in self.inputs:
            (self.room / f"{tensor['name'].lower()}.npy").write_bytes(cut(values, tensor, keys))
        name = self.details.kernels[self.kernel]["name"]
        arguments = ["--kernel", name, "--load", str(self.room), *self.details.kept()]
        with tempfile.TemporaryDirectory(dir=self.room) as left:
            again = run_again(self.program, arguments, Path(left))
            if not again or again.run["hazards"] or not again.kernels[0]["outputs"]:
                return None
            outputs = [seen(output) for output in again.outputs(0)]
        return {"keys": keys, "wrong": any(output["wrong"] for output in outputs), "outputs": outputs}

    def narrow_down(self, tokens: int, tile: int) -> list[dict]:
        """From whole tiles to the one key with which it is wrong; that all of them together are wrong is known. Tile by
        tile, after four of them twice as many each time; at last all whole tiles."""
        right, wrong, keys = 0, tokens, tile if tile < tokens else tokens // 2
        steps: list[dict] = []
        while wrong - right > 1 and len(steps) < MOST_REPLAYS:
            step = self.once(keys)
            if not step:
                break
            steps.append(step)
            if step["wrong"]:
                wrong = keys
            else:
                right = keys
            whole, following = tokens // tile * tile, right + tile if right < 4 * tile else 2 * right
            following = whole if right < whole < following else following
            keys = following if following < wrong == tokens else right + (wrong - right) // 2
        return steps


def replays(program: str, details: Details, kernel: int) -> dict:
    """As wrong.js tells it: the steps, none of what ended with a hazard or is no attention."""
    tile = details.kernels[kernel].get("tile", [0, 0])[1] or WITHOUT_TILES
    tokens = tokens_of(details, kernel)
    if details.run["hazards"] or tokens < 2 or not is_wrong(details, kernel):
        return {"tile": tile, "steps": []}
    with tempfile.TemporaryDirectory(dir=details.directory) as room:
        return {"tile": tile, "steps": Replays(program, details, kernel, Path(room)).narrow_down(tokens, tile)}
