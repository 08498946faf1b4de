"""tools/lib/gguf.py and flat_model.py: one line for every GGUF file that cannot be read or converted."""

from __future__ import annotations

import re
import struct
import tempfile
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lib.flat_model import HEADER, Broken, convert
from lib.gguf import F32, Q4_1, Q8_0, Tensor, parse
from model_files import TINY, files, tiny_gguf

U8, I8, U16, I16, U32, I32, FLOAT, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U32: "I", FLOAT: "f", BOOL: "B", U64: "Q"}
START = b"GGUF" + struct.pack("<I", 3)
HUGE = 1 << 60


def string(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def key(name: str, kind: int, content: Any) -> bytes:
    value = string(content) if kind == STRING else struct.pack("<" + FORMATS[kind], content)
    return string(name) + struct.pack("<I", kind) + value


def tensor(name: str, shape: Sequence[int], encoding: int, offset: int) -> bytes:
    return string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, encoding, offset)


def gguf(keys: Sequence[bytes], tensors: Sequence[bytes] = (), data: bytes = b"", alignment: int = 32) -> bytes:
    out = START + struct.pack("<QQ", len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)
    return out + bytes(-len(out) % alignment) + data


def header(tensors: int, keys: int, rest: bytes = b"") -> bytes:
    return START + struct.pack("<QQ", tensors, keys) + rest


def one_key(kind: int, raw: bytes) -> bytes:
    """A file with one key, its value as bytes."""
    return header(0, 1, string("a") + struct.pack("<I", kind) + raw)


def one_array(kind: int, count: int, raw: bytes = b"") -> bytes:
    return one_key(ARRAY, struct.pack("<IQ", kind, count) + raw)


def one_tensor(shape: Sequence[int], encoding: int = 0, offset: int = 0, data: int = 128) -> bytes:
    return gguf([], [tensor("t", shape, encoding, offset)], bytes(data))


NORMAL = key("a", U32, 1)
ALIGNMENT = "general.alignment"

# What is wrong, the file, and what the line has to say.
WRONG = [
    ("empty", b"", "is not a GGUF file, expected one that begins with GGUF"),
    ("another magic", b"GGML" + struct.pack("<I", 3), "is not a GGUF file"),
    ("version 2", b"GGUF" + struct.pack("<IQQ", 2, 0, 0), "is GGUF version 2, expected version 3"),
    ("big endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "expected version 3, little endian"),
    ("2^60 tensors", header(HUGE, 0, bytes(64)), f"says it has {HUGE} tensors and 0 keys"),
    ("2^64 - 1 keys", header(0, 2**64 - 1, bytes(64)), "more than the file has bytes"),
    ("no keys where one is said", header(0, 1), "ends in the name of a key"),
    ("a name of 2^60 bytes", header(0, 1, struct.pack("<Q", HUGE) + bytes(64)), f"{HUGE} bytes from byte 32 on"),
    ("type 13", one_key(13, bytes(16)), "key a has type 13, expected 0 to 12"),
    ("a text of 2^63 bytes", one_key(STRING, struct.pack("<Q", 1 << 63) + bytes(64)), "ends in key a"),
    ("an array of arrays", one_array(ARRAY, 1, struct.pack("<IQ", U8, 1) + b"x"), "no array in an array"),
    ("an array of 2^60 bytes", one_array(U8, HUGE), f"has {HUGE} values, more than the file has bytes"),
    ("an array of texts, one too few", one_array(STRING, 2, string("abcdefgh")), "ends in key a"),
    ("a key twice", gguf([NORMAL, key("b", U8, 1), NORMAL]), "has a key or a tensor twice"),
    ("a tensor twice", gguf([], [tensor("t", [32], 0, 0), tensor("t", [32], 0, 128)], bytes(256)),
     "has a key or a tensor twice"),
    ("alignment 0", gguf([key(ALIGNMENT, U32, 0)]), "has the alignment 0"),
    ("a negative alignment", gguf([key(ALIGNMENT, I8, -32)]), "has the alignment -32"),
    ("an alignment that is a text", gguf([key(ALIGNMENT, STRING, "32")]), "has the alignment '32'"),
    ("no dimension", one_tensor([]), "has 0 dimensions, expected 1 to 4"),
    ("2^31 dimensions", gguf([], [string("t") + struct.pack("<I", 1 << 31) + bytes(64)]), "dimensions, expected 1"),
    ("2^32 x 2^32", one_tensor([1 << 32, 1 << 32]), "ends in tensor t"),
    ("a row that is no block", one_tensor([33], encoding=8), "is Q8_0 with rows of 33, expected a multiple of 32"),
    ("an offset outside", one_tensor([32], offset=1024), "ends in tensor t"),
    ("one that ends outside", one_tensor([32], offset=32), "ends in tensor t: 128 bytes"),
    ("a quantized one that ends outside", one_tensor([32, 4], encoding=8), "ends in tensor t: 136 bytes"),
    ("no data", gguf([], [tensor("t", [32], 0, 0)])[:-1], "ends in tensor t"),
    ("F16", one_tensor([32], encoding=1), "encoding 1, expected 0 (F32), 3 (Q4_1) or 8 (Q8_0)"),
]  # fmt: skip

EPSILON, TOKENS, TYPES = "llama.attention.layer_norm_rms_epsilon", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
Q, NORM = "blk.1.attn_q.weight", "blk.0.attn_norm.weight"
CONTROL = ["<|im_start|>", "<|im_end|>"]

# What is wrong, the keys of the tiny model that are others (None: missing), and what the line has to say.
KEYS: list[tuple[str, dict[str, Any], str]] = [
    ("no architecture", {"general.architecture": None}, "key general.architecture is None, expected 'llama'"),
    ("another architecture", {"general.architecture": "mamba\x1b[2J"}, r"is 'mamba\x1b[2J', expected 'llama'"),
    ("another tokenizer", {"tokenizer.ggml.model": "llama"}, "is 'llama', expected 'gpt2'"),
    ("another pattern", {"tokenizer.ggml.pre": "qwen2"}, "is 'qwen2', expected 'smollm'"),
    ("a blank before", {"tokenizer.ggml.add_space_prefix": True}, "is true, expected false"),
    ("a token before", {"tokenizer.ggml.add_bos_token": True}, "is true, expected false"),
    ("RoPE scaled", {"llama.rope.scaling.type": "linear"}, "scales its RoPE"),
    ("no layers", {"llama.block_count": 0}, "is 0, expected a number from 1"),
    ("layers as a text", {"llama.block_count": "2"}, "is '2', expected a number from 1"),
    ("2^40 heads", {"llama.attention.head_count": 1 << 40}, "expected a number from 1"),
    ("a layer more", {"llama.block_count": 3}, "has no tensor blk.2.attn_norm.weight"),
    ("a layer less", {"llama.block_count": 1}, "has 20 tensors, expected 11: the others would be ignored"),
    ("3 KV heads, weights of 1", {"llama.attention.head_count_kv": 3}, "is [96, 32], expected [96, 96]"),
    ("RoPE over half a head", {"llama.rope.dimension_count": 16}, "is 16, expected 32"),
    ("keys of another length", {"llama.attention.key_length": 64}, "is 64, expected 32"),
    ("values of another length", {"llama.attention.value_length": 64}, "is 64, expected 32"),
    ("another vocabulary", {"llama.vocab_size": 321}, "is 321, expected 320"),
    *((f"epsilon {value!r}", {EPSILON: value}, f"key {EPSILON} is {value!r}, expected a number above 0")
      for value in (float("nan"), float("inf"), 0.0, -1.0, 1, None)),
    ("RoPE to the base 0", {"llama.rope.freq_base": 0.0}, "expected a number above 0"),
    ("an end beyond the vocabulary", {"tokenizer.ggml.eos_token_id": 320}, "is 320, expected a token below 320"),
    ("no tokens", {TOKENS: []}, "is no array of str"),
    ("tokens as numbers", {TOKENS: [1] * 320}, "is no array of str"),
    ("types as texts", {TYPES: ["1"] * 320}, "is no array of int"),
    ("more types than tokens", {TYPES: [1] * 321}, "320 tokens and 321 token types"),
    ("no merges", {"tokenizer.ggml.merges": []}, "is no array of str"),
]  # fmt: skip
# The tokens, their types, and what the line has to say.
VOCABULARIES: list[tuple[list[str], list[int], str]] = [
    (["a", ""], [1, 1], "token 1 has type 1 and 0 characters"),
    (["a", "b", "a"], [1, 1, 1], "tokens 0 and 2 are the same"),
    (["<x>", "b", "<x>"], [3, 1, 3], "tokens 0 and 2 are the same"),
    (["a", "b"], [1, 6], "token 1 has type 6"),
    (["\udcff"], [1], "does not stand for a byte"),
    (["a b"], [1], "does not stand for a byte"),
    (["h", "e", "he"], [1, 1, 1], "has no token <|im_start|>, which a conversation needs"),
    (["h", "e", "he", CONTROL[0]], [1, 1, 1, 3], "has no token <|im_end|>"),
    (["h", "e", "he", *CONTROL], [1, 1, 1, 1, 1], "has no token <|im_start|>"),
]
MERGES = {
    "empty": ([""], "merge 0 does not join two tokens"),
    "without a left side": ([" a"], "merge 0 does not join two tokens"),
    "to nothing": (["h e", "q q"], "merge 1 does not join two tokens"),
    "twice": (["h e", "h e"], "merges 0 and 1 are the same"),
    "of a control token": (["<|im_end|> h"], "merge 0 does not join two tokens"),
}


def weights_of(flat: Path) -> int:
    """The bytes of weights that a token reads."""
    return int(re.search(r", (\d+) bytes, ", files("open", flat).out)[1])


def zeros(shape: Sequence[int], encoding: int, count: int) -> Tensor:
    return Tensor(tuple(shape), encoding, bytes(count))


# What is wrong, the tensors that are others, and what the line has to say.
TENSORS: list[tuple[str, dict[str, Tensor | None], str]] = [
    ("no norm", {NORM: None}, f"has no tensor {NORM}"),
    ("a longer norm", {NORM: zeros([128], F32, 512)}, "is [128], expected [96]"),
    ("a norm with two dimensions", {NORM: zeros([96, 1], F32, 384)}, "is [96, 1], expected [96]"),
    ("a quantized norm", {NORM: zeros([96], Q8_0, 102)}, "is Q8_0, expected F32"),
    ("a matrix on its side", {"blk.0.ffn_up.weight": zeros([256, 96], Q4_1, 15360)}, "[256, 96], expected [96, 256]"),
    ("another encoding", {Q: zeros([96, 96], Q8_0, 9792)}, "its layers are Q4_1, Q8_0, expected one encoding for all"),
    ("a bias", {"blk.0.attn_q.bias": zeros([96], F32, 384)}, "has 21 tensors, expected 20"),
]


class Gguf(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.path = tiny_gguf(Path(cls.scratch.name))
        cls.keys, cls.tensors = parse(cls.path.read_bytes())

    def refused(self, name: str, what: Callable[[], object], said: str) -> None:
        with self.assertRaises(Broken, msg=name) as caught:
            what()
        self.assertIn(said, str(caught.exception), name)
        self.assertTrue(str(caught.exception).isprintable(), name)

    def converted(self, keys: dict[str, Any] | None = None, tensors: dict[str, Tensor | None] | None = None) -> bytes:
        """The tiny model with these keys and tensors changed, added, or (None) left out."""
        every = {**self.tensors, **(tensors or {})}
        return convert(
            {name: value for name, value in {**self.keys, **(keys or {})}.items() if value is not None},
            {name: tensor for name, tensor in every.items() if tensor is not None},
        )

    def test_what_is_no_gguf_file(self) -> None:
        for name, content, said in WRONG:
            self.refused(name, lambda content=content: parse(content), said)

    def test_every_file_that_was_cut_is_refused(self) -> None:
        whole = self.path.read_bytes()
        for size in (*range(0, 16384, 7), *range(16384, len(whole), 4999), len(whole) - 1):
            self.refused(str(size), lambda size=size: parse(whole[:size]), "")

    def test_what_is_no_model_of_ours(self) -> None:
        for name, keys, said in KEYS:
            self.refused(name, lambda keys=keys: self.converted(keys), said)
        for name, tensors, said in TENSORS:
            self.refused(name, lambda tensors=tensors: self.converted({}, tensors), said)
        for tokens, types, said in VOCABULARIES:
            keys = {TOKENS: tokens, TYPES: types, "llama.vocab_size": None, "tokenizer.ggml.merges": ["h e"]}
            self.refused(repr(tokens), lambda keys=keys: self.converted(keys), said)
        for name, (merges, said) in MERGES.items():
            self.refused(name, lambda merges=merges: self.converted({"tokenizer.ggml.merges": merges}), said)

    def test_the_tiny_model_is_what_the_converter_makes(self) -> None:
        self.assertEqual(self.converted(), TINY.read_bytes())

    def test_what_may_be_otherwise(self) -> None:
        """Without what has a default; with an output of its own, where a token reads a row of the embedding, too; with
        other tokens that end an answer."""
        flat, embedding = Path(self.scratch.name) / "flat.bin", self.tensors["token_embd.weight"]
        row = len(embedding.data) // embedding.shape[1]
        for keys, tensors, bytes_more, read_more in (
            ({"general.name": None, "tokenizer.ggml.eos_token_id": None, "llama.vocab_size": None}, {}, 0, 0),
            ({}, {"output.weight": embedding}, len(embedding.data), row),
            ({}, {n: Tensor(t.shape, F32, bytes(t.shape[0] * t.shape[1] * 4)) for n, t in self.tensors.items()
                  if t.encoding == Q4_1}, None, None),
            ({"tokenizer.ggml.merges": ["h e"]}, {}, -1280, 0),
        ):  # fmt: skip
            made = self.converted(keys, tensors)
            if bytes_more is not None:
                self.assertEqual(len(made) - TINY.stat().st_size, bytes_more)
            flat.write_bytes(made)
            done = files("read", flat)
            self.assertEqual((done.status, done.err), (0, ""))
            if read_more is not None:
                self.assertEqual(weights_of(flat) - weights_of(TINY), read_more)

    def test_tokens_of_the_header(self) -> None:
        def tokens(keys: dict[str, Any]) -> list[int]:
            return list(HEADER.unpack_from(self.converted(keys))[18:22])

        self.assertEqual(tokens({}), [1, 2, 2, 0])
        self.assertEqual(tokens({"tokenizer.ggml.eos_token_id": 7}), [1, 2, 7, 0])
        self.assertEqual(tokens({"tokenizer.ggml.eos_token_id": None}), [1, 2, 2, 0])
        renamed = ["<|x|>", *self.keys[TOKENS][1:]]
        self.assertEqual(tokens({TOKENS: renamed}), [1, 2, 2, 2])
