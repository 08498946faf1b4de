"""common/model/language_model.h under the sanitizers: one line and exit 2 for every unusable file."""

from __future__ import annotations

import os
import struct
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from lib.flat_model import HEADER, VERSION, sealed
from model_files import REAL, TINY, files

RAW = TINY.read_bytes()
NUMBERS = "layers width heads kv_heads hidden context vocabulary merges text_bytes".split()
# Where the header has what.
AT = {
    "version": 8, "checksum": 12, "bytes": 16, **{name: 24 + 4 * i for i, name in enumerate(NUMBERS)},
    "epsilon": 60, "rope_base": 64, "encoding": 68, "embedding": 72, "output": 76, "start": 80, "end": 84, "title": 96,
}  # fmt: skip
LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT, VOCABULARY, MERGES, TEXT = struct.unpack_from("<9I", RAW, 24)


def padded(size: int) -> int:
    return -(-size // 32) * 32


BYTE_TOKEN = HEADER.size
TOKEN_END = BYTE_TOKEN + 1024
TEXT_AT = TOKEN_END + padded(4 * VOCABULARY)
MERGE = TEXT_AT + padded(TEXT)
EMBEDDING = MERGE + padded(16 * MERGES)
OUTPUT_NORM = EMBEDDING + padded(VOCABULARY * WIDTH // 32 * 34)
NORM = OUTPUT_NORM + 4 * WIDTH
Q = NORM + 4 * WIDTH
OF_BYTE, ENDS = struct.unpack_from("<256i", RAW, BYTE_TOKEN), struct.unpack_from(f"<{VOCABULARY}I", RAW, TOKEN_END)


def changed(at: int, content: bytes) -> bytes:
    """The tiny model with that in its place, and a checksum that is right."""
    return sealed(RAW[:at] + content + RAW[at + len(content) :])


def with_number(at: str | int, value: int) -> bytes:
    return changed(AT[at] if isinstance(at, str) else at, struct.pack("<I", value & 0xFFFFFFFF))


def with_real(name: str, value: float) -> bytes:
    return changed(AT[name], struct.pack("<f", value))


def with_merge(i: int, *numbers: int) -> bytes:
    return changed(MERGE + 16 * i, struct.pack(f"<{len(numbers)}i", *numbers))


def merge(i: int) -> tuple[int, ...]:
    return struct.unpack_from("<4i", RAW, MERGE + 16 * i)


def resized(size: int) -> bytes:
    """Cut or filled up, with a length and a checksum that are right."""
    file = RAW[:size] + bytes(max(0, size - len(RAW)))
    return sealed(file[:16] + struct.pack("<Q", len(file)) + file[24:])


MOST = dict(zip(NUMBERS, (1 << 10, 1 << 16, 1 << 16, 1 << 16, 1 << 20, 1 << 24, 1 << 24, 1 << 24, 1 << 30)))
NOT_FINITE = {"NaN": b"\x00\x7e", "inf": b"\x00\x7c", "-inf": b"\x00\xfc"}
BETWEEN = RAW[:EMBEDDING] + bytes(32) + RAW[EMBEDDING:]

# What is wrong, the file, and what the line has to say.
WRONG = [
    ("empty", b"", "is empty, expected a file that tools/model wrote"),
    ("only the magic", RAW[:8], "is no model"),
    ("a header but for a byte", RAW[: HEADER.size - 1], "is no model"),
    ("another magic", changed(0, b"FLATLLM\r"), "is no model"),
    ("a GGUF file", b"GGUF" + bytes(600), "is a GGUF file, which has to be converted: tools/model --convert "),
    ("four bytes of a GGUF file", b"GGUF", "is a GGUF file"),
    ("version 0", with_number("version", 0), f"is of version 0, expected {VERSION}"),
    ("the next version", with_number("version", VERSION + 1), f"is of version {VERSION + 1}"),
    ("only the header", RAW[: HEADER.size], f"has {HEADER.size} bytes, expected {len(RAW)}: it was cut or has grown"),
    ("a byte less", RAW[:-1], f"has {len(RAW) - 1} bytes"),
    ("a byte more", RAW + b"\0", f"has {len(RAW) + 1} bytes"),
    ("a length of 2^64 - 1", changed(AT["bytes"], b"\xff" * 8), "bytes, expected 18446744073709551615"),
    ("another checksum", RAW[:12] + bytes(4) + RAW[16:], "was changed: its checksum is another"),
    *((f"a bit at {at}", RAW[:at] + bytes([RAW[at] ^ 1 << at % 8]) + RAW[at + 1 :], "its checksum is another")
      for at in (24, 95, 96, 191, 192, TOKEN_END, TEXT_AT, MERGE, EMBEDDING + 1, Q + 7, len(RAW) - 1)),
    *((f"{name}: {value}", with_number(name, value), f"{value}, expected 1 to {most}")
      for name, most in MOST.items() for value in (0, most + 1, 2**31, 2**32 - 1)),
    *((f"most {name}", with_number(name, MOST[name]), "is not as long as a model of its shape")
      for name in ("layers", "hidden", "vocabulary", "merges", "text_bytes")),
    ("a layer more", with_number("layers", LAYERS + 1), "is not as long as a model of its shape"),
    ("a width that no head divides", with_number("width", 97), "a width of 97 for 3 heads"),
    ("an odd head", with_number("heads", 32), "a head dimension of 3, expected an even number up to 128"),
    ("a head above 128", changed(AT["width"], struct.pack("<2I", 160, 1)), "head dimension of 160"),
    ("more heads than width", changed(AT["heads"], struct.pack("<2I", 192, 192)), "a width of 96 for 192 heads"),
    ("2 KV heads for 3", with_number("kv_heads", 2), "3 heads and 2 KV heads"),
    ("4 KV heads for 3", with_number("kv_heads", 4), "3 heads and 4 KV heads"),
    ("3 KV heads, weights of 1", with_number("kv_heads", 3), "is not as long as a model of its shape"),
    ("rows that are no blocks", with_number("hidden", 255), "expected 0 (F32), or 3 (Q4_1) or 8 (Q8_0) and multiples"),
    *((f"{name} {value}", with_real(name, value), "expected numbers above 0")
      for name in ("epsilon", "rope_base") for value in (float("nan"), float("inf"), 0.0, -1.0)),
    *((f"{name} {value}", with_number(name, value), f"encoding {value} for a width")
      for name in ("encoding", "embedding", "output") for value in (1, 14, 1000, 2**31)),
    ("matrices as F32", with_number("encoding", 0), "is not as long as a model of its shape"),
    ("an embedding as Q4_1", with_number("embedding", 3), "is not as long as a model of its shape"),
    ("an output that is not there", with_number("output", 8), "is not as long as a model of its shape"),
    ("cut between parts", resized(NORM), "is not as long as a model of its shape"),
    ("cut in the vocabulary", resized(MERGE + 16), "is not as long as a model of its shape"),
    ("a part more", resized(len(RAW) + 32), "is not as long as a model of its shape"),
    ("a part between", sealed(BETWEEN[:16] + struct.pack("<Q", len(BETWEEN)) + BETWEEN[24:]), "is not as long as"),
    ("no start", with_number("start", -1), "<|im_start|> is -1, <|im_end|> 2, expected tokens below 320"),
    ("a start beyond the tokens", with_number("start", 320), "expected tokens below 320"),
    ("an end beyond the tokens", with_number("end", 320), "expected tokens below 320"),
    ("an empty token", with_number(TOKEN_END + 4, ENDS[0]), "token 1 ends before it begins"),
    ("a token that ends before", with_number(TOKEN_END + 40, 1), "token 10 ends before it begins"),
    ("a token beyond the text", with_number(TOKEN_END + 4 * 319, TEXT + 1), "token 319 ends before it begins, or too"),
    ("a token of 2^32 - 1", with_number(TOKEN_END, 2**32 - 1), "token 0 ends before it begins, or too late"),
    ("a byte's token twice", with_number(BYTE_TOKEN + 4 * 98, OF_BYTE[97]), "does not stand for byte 98"),
    ("a control token for a byte", with_number(BYTE_TOKEN + 4 * 97, 0), "token 0 does not stand for byte 97"),
    ("a byte beyond the tokens", with_number(BYTE_TOKEN, 320), "token 320 does not stand for byte 0"),
    ("a byte of token -2", with_number(BYTE_TOKEN, -2), "token -2 does not stand for byte 0"),
    *((f"a merge, {i}, {value}", with_merge(3, *merge(3)[:i], value), "merge 3 joins no two tokens to a third")
      for i in range(3) for value in (-1, 320, 2**31 - 1, 0)),
    ("a merge to another token", with_merge(5, *merge(5)[:2], merge(6)[2]), "merge 5 joins no two tokens"),
    ("a merge twice", with_merge(1, *merge(0)), "merge 1 joins no two tokens to a third, or is not sorted"),
    ("merges not sorted", with_merge(0, *merge(1), *merge(0)), "merge 1 joins no two tokens to a third, or is not"),
    *((f"{what}, {value}", changed(at, struct.pack("<f", float(value))), f"{what} has a NaN or infinite weight at "
       f"element {element}, expected numbers")
      for value in ("nan", "inf", "-inf")
      for at, element, what in ((OUTPUT_NORM + 8, 2, "the output's norm"), (NORM, 0, "attention_norm of layer 0"))),
    ("the last norm with NaN", changed(len(RAW) - HIDDEN * WIDTH // 32 * 60 - 4, struct.pack("<f", float("nan"))),
     "feed_forward_norm of layer 1 has a NaN or infinite weight at element 95"),
    *((f"{name} in a scale", changed(Q + 200 * 20, number), "q of layer 0 has a NaN or infinite weight at element 6400")
      for name, number in NOT_FINITE.items()),
    *((f"{name} as the least", changed(Q + 200 * 20 + 2, number), "q of layer 0 has a NaN or infinite weight at")
      for name, number in NOT_FINITE.items()),
    *((f"{name} in the embedding", changed(EMBEDDING + 200 * 34, number), "the embedding has a NaN or infinite weight "
       "at element 6400") for name, number in NOT_FINITE.items()),
    ("NaN in the last block", changed(len(RAW) - 20, b"\x00\x7e"), f"down of layer 1 has a NaN or infinite weight at "
     f"element {HIDDEN * WIDTH - 32}"),
]  # fmt: skip


class Files(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = Path(scratch.name) / "model.bin"

    def check(self, name: str, path: Path, said: str) -> None:
        done = files("read", path, seconds=30)
        message = f"{name}: {done}"
        self.assertEqual((done.status, done.out), (2, ""), message)
        self.assertEqual(done.err.count("\n"), 1, message)
        self.assertTrue(done.err.startswith(f"{path}: "), message)
        self.assertIn(said, done.err, message)
        self.assertTrue(done.err[:-1].isprintable(), message)

    def test_what_is_no_model(self) -> None:
        cases: Sequence[tuple[str, bytes, str]] = WRONG
        self.assertEqual(len({name for name, *_ in cases}), len(cases))
        for name, content, said in cases:
            self.path.write_bytes(content)
            self.check(name, self.path, said)

    def test_what_is_no_file(self) -> None:
        pipe, loop = self.path.with_name("pipe"), self.path.with_name("loop")
        os.mkfifo(pipe)
        loop.symlink_to(loop)
        expected = ", expected a file that tools/model wrote"
        self.check("a directory", self.path.parent, "is a directory" + expected)
        self.check("a pipe", pipe, "is no regular file" + expected)
        self.check("a device", Path("/dev/null"), "is no regular file" + expected)
        self.check("nothing", self.path, "No such file or directory" + expected)
        self.check("a link to itself", loop, expected)

    def test_the_models_are_fine(self) -> None:
        """Otherwise all that is refused above could be refused for another reason."""
        for content in (
            RAW,
            resized(len(RAW)),
            changed(0, RAW[:8]),
            with_number("context", 1),
            with_merge(0, *merge(0)),
        ):
            self.path.write_bytes(content)
            done = files("read", self.path)
            self.assertEqual((done.status, done.err), (0, ""))

    def test_a_name_moves_no_cursor(self) -> None:
        self.path.write_bytes(changed(AT["title"], b"\x1b[2J\nx\xff" + b"y" * 89))
        self.assertTrue(files("open", self.path).out.endswith(" bytes, ?[2J?x?" + "y" * 88 + "\n"))

    def test_what_is_read_from_the_models(self) -> None:
        shape = "2 layers, width 96, 3 heads on 1, head 32, hidden 256, context 256, vocabulary 320, epsilon 1e-05"
        self.assertTrue(files("open", TINY).out.startswith(shape))
        if not REAL.exists():
            self.skipTest("the shape of the real model: it is not there (make model)")
        self.assertEqual(
            files("open", REAL).out,
            "30 layers, width 576, 9 heads on 3, head 64, hidden 1536, context 8192, vocabulary 49152, epsilon 1e-05, "
            "base 100000, 96576768 bytes, Smollm2 135M 8k Lc100K Mix1 Ep2\n",
        )

    def test_every_file_that_was_cut_is_refused(self) -> None:
        done = files("cut", TINY)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertGreater(int(done.out.split()[0]), 16000)

    def test_random_changes_are_refused_or_can_be_read(self) -> None:
        count = 100_000 if os.environ.get("LONG") else 2000
        done = files("fuzz", TINY, "1", str(count), seconds=600)
        self.assertEqual((done.status, done.err), (0, ""))
        opened, refused = (int(word) for word in done.out.split() if word.isdigit())
        self.assertEqual(opened + refused, count)
        self.assertGreater(min(opened, refused), count // 20, done.out)
