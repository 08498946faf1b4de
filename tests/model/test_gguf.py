"""common/model/gguf.h and language_model.h under the sanitizers: one line and exit 2 for every unusable file."""

from __future__ import annotations

import os
import struct
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from model_files import (
    ARRAY,
    BOOL,
    F32,
    F64,
    I8,
    I32,
    I64,
    REAL,
    STRING,
    TINY,
    U8,
    U16,
    U32,
    U64,
    array,
    files,
    gguf,
    key,
    string,
    tensor,
)  # fmt: skip

START = b"GGUF" + struct.pack("<I", 3)
HUGE = 1 << 60


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
    ("empty", b"", "is empty, expected a GGUF file"),
    ("one byte", b"G", "is not a GGUF file"),
    ("another magic", b"GGML" + struct.pack("<I", 3), "is not a GGUF file"),
    ("a zip", b"PK\3\4" + bytes(60), "is not a GGUF file"),
    ("only the magic", b"GGUF", "ends in the version"),
    ("version 0", b"GGUF" + bytes(20), "is GGUF version 0, expected version 3"),
    ("version 2", b"GGUF" + struct.pack("<IQQ", 2, 0, 0), "is GGUF version 2, expected version 3"),
    ("version 4", b"GGUF" + struct.pack("<IQQ", 4, 0, 0), "is GGUF version 4, expected version 3"),
    ("big endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "is big endian"),
    ("2^60 tensors", header(HUGE, 0, bytes(64)), f"the number of tensors is {HUGE}"),
    ("2^64 - 1 tensors", header(2**64 - 1, 0, bytes(64)), "the number of tensors is"),
    ("2^60 keys", header(0, HUGE, bytes(64)), f"the number of keys is {HUGE}"),
    ("tensors whose bytes wrap", header(-(-(2**64) // 33), 0, bytes(64)), "the number of tensors is"),
    ("keys whose bytes wrap", header(0, -(-(2**64) // 14), bytes(64)), "the number of keys is"),
    ("more tensors than bytes", header(100, 0, bytes(1000)), "the number of tensors is 100"),
    ("more keys than bytes", header(0, 100, bytes(1000)), "the number of keys is 100"),
    ("no keys where one is said", header(0, 1), "the number of keys is 1, but the file has only 0 more bytes"),
    ("a name of 2^60 bytes", header(0, 1, struct.pack("<Q", HUGE) + bytes(64)), f"has {HUGE} bytes"),
    ("a name of 2^64 - 8 bytes", header(0, 1, struct.pack("<Q", 2**64 - 8) + bytes(64)), "but the file has only"),
    ("a name one byte too long", header(0, 1, struct.pack("<Q", 7) + bytes(6)), "bytes"),
    ("an empty name of a key", header(0, 1, key("", U32, 1)), "the name of a key at byte 24 is empty"),
    ("an empty name of a tensor", gguf([NORMAL], [tensor("", [32], 0, 0)], bytes(128)), "the name of a tensor"),
    ("no value", one_key(U64, b"\0\0\0"), "values of type uint64, but the file has only 3 more bytes"),
    ("type 13", one_key(13, bytes(16)), "type 13, expected 0 to 12"),
    ("type 2^32 - 1", one_key(2**32 - 1, bytes(16)), "expected 0 to 12"),
    ("a truth value of 2", one_key(BOOL, b"\2"), "the truth value 2"),
    ("a text of 2^63 bytes", one_key(STRING, struct.pack("<Q", 1 << 63) + bytes(64)), "but the file has only"),
    ("an array of arrays", one_array(ARRAY, 1, struct.pack("<IQ", U8, 1) + b"x"), "an array of arrays"),
    ("an array of type 99", one_array(99, 1, bytes(8)), "type 99"),
    ("an array of 2^60 bytes", one_array(U8, HUGE), f"has {HUGE} values"),
    ("an array of 2^61 eights", one_array(U64, 1 << 61, bytes(64)), "values of type uint64"),
    ("an array of 2^62 fours", one_array(U32, 1 << 62, bytes(64)), "values of type uint32"),
    ("an array of 2^60 texts", one_array(STRING, HUGE, bytes(64)), "values of type string"),
    ("an array of texts, one too few", one_array(STRING, 2, string("abcdefgh")), "ends in a string"),
    ("an array of texts, one too long", one_array(STRING, 2, string("") + struct.pack("<Q", 9) + bytes(8)),
     "a string at"),
    ("a key twice", gguf([NORMAL, key("b", U8, 1), NORMAL]), "key a occurs twice"),
    ("a tensor twice", gguf([], [tensor("t", [32], 0, 0), tensor("t", [32], 0, 128)], bytes(256)),
     "tensor t occurs twice"),
    ("alignment 0", gguf([key(ALIGNMENT, U32, 0)]), "general.alignment is 0"),
    ("alignment 24", gguf([key(ALIGNMENT, U32, 24)]), "general.alignment is 24"),
    ("alignment 4", gguf([key(ALIGNMENT, U32, 4)]), "general.alignment is 4"),
    ("alignment 2^63", gguf([key(ALIGNMENT, U64, 1 << 63)]), "general.alignment is"),
    ("an alignment that is a text", gguf([key(ALIGNMENT, STRING, "32")]), "expected a whole number"),
    ("a negative alignment", gguf([key(ALIGNMENT, I8, -32)]), "is negative"),
    ("no dimension", one_tensor([]), "has 0 dimensions, expected 1 to 4"),
    ("five dimensions", one_tensor([1, 1, 1, 1, 1]), "has 5 dimensions"),
    ("2^31 dimensions", gguf([], [string("t") + struct.pack("<I", 1 << 31) + bytes(64)]),
     "dimensions, expected 1 to 4"),
    ("a dimension of 0", one_tensor([32, 0]), "has a dimension of 0"),
    ("2^60 columns", one_tensor([HUGE]), "more elements than the file has bits"),
    ("2^32 x 2^32", one_tensor([1 << 32, 1 << 32]), "more elements than the file has bits"),
    ("a product that wraps to 32", one_tensor([1 << 33, (1 << 31) + 1, 1 << 59, 32]), "more elements"),
    ("a product that wraps to 0", one_tensor([1 << 16] * 4, data=16384), "more elements"),
    ("a row that is no block", one_tensor([33], encoding=8), "rows of 33, expected a multiple of 32"),
    ("an offset outside", one_tensor([32], offset=1024), "at offset 1024 of the data, which have 128 bytes"),
    ("an offset of 2^64 - 32", one_tensor([32], offset=2**64 - 32), "of the data, which have 128 bytes"),
    ("one that ends outside", one_tensor([32], offset=32), "has 128 bytes at offset 32"),
    ("one row too many", one_tensor([32, 2]), "has 256 bytes at offset 0"),
    ("a quantized one that ends outside", one_tensor([32, 4], encoding=8), "has 136 bytes at offset 0"),
    ("an offset not aligned", one_tensor([8], offset=4), "at offset 4, expected a multiple of 32"),
    ("an offset not aligned to 64", gguf([key(ALIGNMENT, U32, 64)], [tensor("t", [8], 0, 32)], bytes(128), 64),
     "multiple of 64"),
    ("no data", gguf([], [tensor("t", [32], 0, 0)])[:-1], "of the data, which have 0 bytes"),
    ("two in one place", gguf([], [tensor("t", [32], 0, 0), tensor("u", [8], 0, 96)], bytes(256)), "overlaps"),
]  # fmt: skip

# ---- models: the tiny one with keys or tensors changed ----


def take_apart(raw: bytes) -> tuple[dict[str, bytes], dict[str, tuple[list[int], int, bytes]]]:
    """{name: the key as stored}, {name: (shape, encoding, data)} of a file like the tiny model."""
    widths = {U32: 4, I32: 4, F32: 4}
    tensor_count, key_count = struct.unpack_from("<QQ", raw, 8)
    at = 24

    def text() -> str:
        nonlocal at
        (length,) = struct.unpack_from("<Q", raw, at)
        at += 8 + length
        return raw[at - length : at].decode()

    def skip(kind: int) -> None:
        nonlocal at
        if kind == STRING:
            text()
        else:
            at += widths[kind]

    keys = {}
    for _ in range(key_count):
        start, name = at, text()
        (kind,) = struct.unpack_from("<I", raw, at)
        at += 4
        if kind == ARRAY:
            inner, count = struct.unpack_from("<IQ", raw, at)
            at += 12
            for _ in range(count):
                skip(inner)
        else:
            skip(kind)
        keys[name] = raw[start:at]
    found = []
    for _ in range(tensor_count):
        name = text()
        (rank,) = struct.unpack_from("<I", raw, at)
        shape = list(struct.unpack_from(f"<{rank}Q", raw, at + 4))
        encoding, offset = struct.unpack_from("<IQ", raw, at + 4 + 8 * rank)
        at += 16 + 8 * rank
        found.append((name, shape, encoding, offset))
    start = -(-at // 32) * 32
    ends = [offset for *_, offset in found[1:]] + [len(raw) - start]
    return keys, {n: (s, e, raw[start + o : start + end]) for (n, s, e, o), end in zip(found, ends)}


KEYS, TENSORS = take_apart(TINY.read_bytes())


def model(
    keys: dict[str, bytes | None] | None = None, tensors: dict[str, tuple[list[int], int, bytes] | None] | None = None
) -> bytes:
    """The tiny model with these keys and tensors changed, added, or (None) left out."""
    all_keys = {**KEYS, **(keys or {})}
    all_tensors = {name: found for name, found in {**TENSORS, **(tensors or {})}.items() if found is not None}
    data, headers = b"", []
    for name, (shape, encoding, raw) in all_tensors.items():
        headers.append(tensor(name, shape, encoding, len(data)))
        data += raw + bytes(-len(raw) % 32)
    return gguf([raw for raw in all_keys.values() if raw is not None], headers, data)


def with_key(name: str, kind: int, content: object) -> bytes:
    return model({name: key(name, kind, content)})


def with_tokens(tokens: Sequence[bytes | str], types: Sequence[int] | None = None) -> bytes:
    types = types or [1] * len(tokens)
    name, kinds = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
    return model({name: array(name, STRING, tokens), kinds: array(kinds, I32, types)})


def with_merges(merges: Sequence[bytes | str]) -> bytes:
    return model({"tokenizer.ggml.merges": array("tokenizer.ggml.merges", STRING, merges)})


def reshaped(name: str, *shape: int) -> bytes:
    _, encoding, data = TENSORS[name]
    return model(tensors={name: (list(shape), encoding, data)})


def encoded(name: str, encoding: int) -> bytes:
    shape, _, data = TENSORS[name]
    return model(tensors={name: (shape, encoding, data)})


def with_block(name: str, encoding: int, block: bytes) -> bytes:
    """A matrix of quantized zeros whose 200th block is this one."""
    shape, _, _ = TENSORS[name]
    blocks = bytearray(shape[0] * shape[1] // 32 * len(block))
    blocks[200 * len(block) : 201 * len(block)] = block
    return model(tensors={name: (shape, encoding, bytes(blocks))})


BROKEN_BLOCKS = {
    f"{kind} {name}": (encoding, bytes(before) + number + bytes(after))
    for name, number in {"NaN": b"\x00\x7e", "inf": b"\x00\x7c", "-inf": b"\x00\xfc"}.items()
    for kind, encoding, before, after in (("Q4_1 scale", 3, 0, 18), ("Q4_1 least", 3, 2, 16), ("Q8_0 scale", 8, 0, 32))
}
ROPE = "llama.rope.dimension_count"
SHAPE, HEADS, EPSILON = "llama.embedding_length", "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"
Q, NORM = "blk.1.attn_q.weight", "blk.0.attn_norm.weight"
MODELS = [
    # was taken, and ended with status 1 when its logits did not verify
    ("a weight NaN", TINY.read_bytes()[:-4] + struct.pack("<f", float("nan")), "NaN or infinite weight at element 95"),
    *((f"{name} in a block", with_block(Q, *block), f"tensor {Q} has a NaN or infinite weight at element 6400")
      for name, block in BROKEN_BLOCKS.items()),
    ("no keys", gguf([]), "has no key general.architecture"),
    ("another architecture", with_key("general.architecture", STRING, "mamba"),
     "architecture is mamba, expected llama"),
    ("an empty architecture", with_key("general.architecture", STRING, ""), "expected llama"),
    ("an architecture with an escape", with_key("general.architecture", STRING, "\x1b[2J\n"), "is ?[2J?, expected"),
    ("no layers", with_key("llama.block_count", U32, 0), "is 0, expected 1 to"),
    ("2^31 layers", with_key("llama.block_count", U32, 1 << 31), "expected 1 to"),
    ("a layer more", with_key("llama.block_count", U32, 3), "has no tensor blk.2."),
    ("a layer less", with_key("llama.block_count", U32, 1), "has 20 tensors, expected 11"),
    ("-2 layers", with_key("llama.block_count", I64, -2), "is negative"),
    ("layers as a text", with_key("llama.block_count", STRING, "2"), "is string, expected a whole number"),
    ("layers as an array", model({"llama.block_count": array("llama.block_count", U32, [2])}), "is an array of uint32"),
    ("another width", model({SHAPE: key(SHAPE, U32, 192), ROPE: None}), "[320, 96], expected [320, 192]"),
    ("a width that no head divides", with_key(SHAPE, U32, 97), "a width of 97 for 3 heads"),
    ("no width", model({SHAPE: None}), f"has no key {SHAPE}"),
    ("an odd head", with_key(HEADS, U32, 32), "a head dimension of 3, expected an even number"),
    ("a head above 128", model({SHAPE: key(SHAPE, U32, 130), HEADS: key(HEADS, U32, 1)}), "head dimension of 130"),
    ("2 KV heads for 3", with_key(HEADS + "_kv", U32, 2), "3 heads and 2 KV heads"),
    ("4 KV heads for 3", with_key(HEADS + "_kv", U32, 4), "3 heads and 4 KV heads"),
    ("no KV heads", with_key(HEADS + "_kv", U32, 0), "is 0, expected 1 to"),
    ("3 KV heads, weights of 1", with_key(HEADS + "_kv", U32, 3), "is [32, 96], expected [96, 96]"),
    ("epsilon NaN", with_key(EPSILON, F32, float("nan")), "is not a finite number"),
    ("epsilon inf", with_key(EPSILON, F64, float("inf")), "is not a finite number"),
    ("epsilon 0", with_key(EPSILON, F32, 0.0), "expected a number above 0"),
    ("epsilon -1", with_key(EPSILON, F32, -1.0), "expected a number above 0"),
    ("epsilon 1e-300", with_key(EPSILON, F64, 1e-300), "expected a number above 0"),
    ("epsilon as a whole number", with_key(EPSILON, U32, 1), "is uint32, expected a real number"),
    ("RoPE to the base 0", with_key("llama.rope.freq_base", F32, 0.0), "expected a number above 0"),
    ("RoPE over half a head", with_key(ROPE, U32, 16), "is 16, expected 32"),
    ("RoPE scaled", with_key("llama.rope.scaling.type", STRING, "linear"), "scales its RoPE"),
    ("keys of another length", with_key("llama.attention.key_length", U16, 64), "is 64, expected 32"),
    ("another vocabulary", with_key("llama.vocab_size", U32, 321), "is 321, expected 320"),
    ("an end beyond the vocabulary", with_key("tokenizer.ggml.eos_token_id", U32, 320), "expected a token below 320"),
    ("no norm", model(tensors={NORM: None}), f"has no tensor {NORM}"),
    ("a longer norm", model(tensors={NORM: ([128], 0, bytes(512))}), "is [128], expected [96]"),
    ("a norm with two dimensions", reshaped(NORM, 96, 1), "is [1, 96], expected [96]"),
    ("a quantized norm", model(tensors={NORM: ([96], 8, bytes(102))}), "encoding 8 (Q8_0), expected F32"),
    ("a matrix on its side", reshaped("blk.0.ffn_up.weight", 256, 96), "is [96, 256], expected [256, 96]"),
    ("a matrix with three dimensions", reshaped(Q, 96, 96, 1), "is [1, 96, 96], expected [96, 96]"),
    ("a matrix as a row", reshaped(Q, 96 * 96), "is [9216], expected [96, 96]"),
    ("F16", model(tensors={Q: ([96, 96], 1, bytes(18432))}), "encoding 1 (F16), expected F32, Q4_1 or Q8_0"),
    ("Q6_K", encoded(Q, 14), "encoding 14 (Q6_K)"),
    ("an encoding nobody knows", encoded(Q, 1000), "encoding 1000 (unknown)"),
    ("a bias", model(tensors={"blk.0.attn_q.bias": ([96], 0, bytes(384))}), "has 21 tensors, expected 20"),
    ("another tokenizer", with_key("tokenizer.ggml.model", STRING, "llama"), 'is "llama", expected "gpt2"'),
    ("another pattern", with_key("tokenizer.ggml.pre", STRING, "qwen2"), 'is "qwen2", expected "smollm"'),
    ("a blank before", with_key("tokenizer.ggml.add_space_prefix", BOOL, 1), "is true, expected false"),
    ("a token before", with_key("tokenizer.ggml.add_bos_token", BOOL, 1), "is true, expected false"),
    ("no tokens", with_tokens([]), "is an empty array"),
    ("an empty token", with_tokens(["a", "", "b"]), "token 1 is empty"),
    ("a token twice", with_tokens(["a", "b", "a"]), "tokens 0 and 2 are the same"),
    ("a control token twice", with_tokens(["<x>", "b", "<x>"], [3, 1, 3]), "are the same"),
    ("a token of type 6", with_tokens(["a", "b"], [1, 6]), "token 1 has type 6"),
    ("a token that is no character", with_tokens([b"\xff"]), "does not stand for a byte"),
    ("a token that ends in a character", with_tokens([b"a\xc4"]), "does not stand for a byte"),
    ("a token with a blank", with_tokens(["a b"]), "does not stand for a byte"),
    ("a token beyond the bytes", with_tokens(["\u0144"]), "does not stand for a byte"),
    ("more types than tokens", with_tokens(["a"], [1, 1]), "1 tokens and 2 token types"),
    ("types as other numbers", model({"tokenizer.ggml.token_type": array("tokenizer.ggml.token_type", U32, [1] * 320)}),
     "an array of uint32"),
    ("tokens as numbers", model({"tokenizer.ggml.tokens": array("tokenizer.ggml.tokens", U32, [1])}),
     "an array of string"),
    ("no merges", with_merges([]), "is an empty array"),
    ("an empty merge", with_merges([""]), "merge 0 does not join two tokens"),
    ("a merge of one", with_merges(["a"]), "merge 0 does not join two tokens"),
    ("a merge without a left side", with_merges([" a"]), "merge 0 does not join two tokens"),
    ("a merge of three", with_merges(["t h e"]), "merge 0 does not join two tokens"),
    ("a merge to nothing", with_merges(["q q"]), "merge 0 does not join two tokens"),
    ("a merge twice", with_merges(["h e", "h e"]), "merges 0 and 1 are the same"),
]  # fmt: skip


class Files(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = Path(scratch.name) / "model.gguf"

    def check(self, name: str, path: Path, said: str) -> None:
        done = files("read", path, seconds=30)
        message = f"{name}: {done}"
        self.assertEqual((done.status, done.out), (2, ""), message)
        self.assertEqual(done.err.count("\n"), 1, message)
        self.assertTrue(done.err.startswith(f"{path}: "), message)
        self.assertIn(said, done.err, message)
        self.assertTrue(done.err[:-1].isprintable(), message)

    def check_all(self, cases: Sequence[tuple[str, bytes, str]]) -> None:
        self.assertEqual(len({name for name, *_ in cases}), len(cases))
        for name, content, said in cases:
            self.path.write_bytes(content)
            self.check(name, self.path, said)

    def test_what_is_no_gguf_file(self) -> None:
        self.check_all(WRONG)

    def test_what_is_no_model(self) -> None:
        self.check_all(MODELS)

    def test_what_is_no_file(self) -> None:
        pipe, loop = self.path.with_name("pipe"), self.path.with_name("loop")
        os.mkfifo(pipe)
        loop.symlink_to(loop)
        self.check("a directory", self.path.parent, "is a directory, expected a GGUF file")
        self.check("a pipe", pipe, "is no regular file, expected a GGUF file")
        self.check("a device", Path("/dev/null"), "is no regular file, expected a GGUF file")
        self.check("nothing", self.path, "No such file or directory, expected a GGUF file")
        self.check("a link to itself", loop, "expected a GGUF file")

    def test_the_models_are_fine(self) -> None:
        """Otherwise all that is refused above could be refused for another reason."""
        for content in (
            TINY.read_bytes(),
            model(),
            with_key(HEADS + "_kv", U8, 1),
            with_key(EPSILON, F64, 1e-5),
            model({"tokenizer.ggml.eos_token_id": None, "general.name": None, HEADS + "_kv": KEYS[HEADS + "_kv"]}),
            model({"z": key("z", STRING, ""), "y": array("y", F64, [])}),
            model(tensors={"output.weight": TENSORS["token_embd.weight"]}),
            with_merges(["h e"]),
        ):
            self.path.write_bytes(content)
            done = files("read", self.path)
            self.assertEqual((done.status, done.err), (0, ""))

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


if __name__ == "__main__":
    unittest.main()
