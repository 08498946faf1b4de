"""Makes of a GGUF file's keys and tensors the flat file that common/model reads.

Little endian, each part padded to 32 bytes: a header (HEADER; common/model/language_model.c has it with names), whose
checksum is the CRC-32 of all that follows it; the token of each byte (-1: none); where each token's bytes end, and
these bytes; the merges, sorted by their parts: left, right, the token they make, their rank; then the tensors as they
are stored in the GGUF file, in the order of `layout`. What the header cannot say, the forward pass does not do: a
model that wants it is Broken. Called by: tools/model, tests/data/tiny_model/make.py.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from .gguf import ENCODINGS, F32, Broken, Tensor

MAGIC, VERSION = b"FLATLLM\n", 1
# magic, version, checksum, bytes of the file; layers, width, heads, KV heads, hidden, context, tokens, merges, bytes of
# the tokens; epsilon, RoPE's base; encodings of the layers, the embedding, the output; <|im_start|>, <|im_end|>, two
# more tokens that end an answer; the name
HEADER = struct.Struct("<8sIIQ9I2f3I4I96s")
CHECKED = 16  # the checksum is of what begins here
TIED = 0xFFFFFFFF  # the output's encoding: it is the embedding
NORMAL, CONTROL = 1, 3  # GGUF's types of tokens
TITLE = 80


def text(keys: dict[str, Any], name: str, expected: str) -> None:
    if keys.get(name) != expected:
        raise Broken(f"key {name} is {keys.get(name)!r:.60}, expected {expected!r}")


def number(keys: dict[str, Any], name: str, default: int | None = None) -> int:
    value = keys.get(name, default)
    if type(value) is not int or not 0 < value < 1 << 24:
        raise Broken(f"key {name} is {value!r:.60}, expected a number from 1 to {(1 << 24) - 1}")
    return value


def real(keys: dict[str, Any], name: str) -> float:
    value = keys.get(name)
    if not isinstance(value, float) or not 0 < value < 1e30:
        raise Broken(f"key {name} is {value!r:.60}, expected a number above 0")
    return value


def array(keys: dict[str, Any], name: str, kind: type) -> list[Any]:
    value = keys.get(name)
    if not isinstance(value, list) or not value or not all(type(entry) is kind for entry in value):
        raise Broken(f"key {name} is no array of {kind.__name__} with something in it")
    return value


# ---- the vocabulary ----


def byte_characters() -> dict[str, int]:
    """GPT-2 writes a byte as a character that can be seen: itself if Latin-1 prints it, else the next from U+0100."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + i): byte for i, byte in enumerate(unseen)}


def token_bytes(keys: dict[str, Any]) -> tuple[list[bytes], dict[str, int], dict[str, int]]:
    """The bytes of each token; the ids of ordinary and of control tokens."""
    byte_of = byte_characters()
    tokens, kinds = array(keys, "tokenizer.ggml.tokens", str), array(keys, "tokenizer.ggml.token_type", int)
    if len(tokens) != len(kinds):
        raise Broken(f"has {len(tokens)} tokens and {len(kinds)} token types, expected equal numbers")
    out: list[bytes] = []
    ids: dict[int, dict[str, int]] = {NORMAL: {}, CONTROL: {}}
    for i, (token, kind) in enumerate(zip(tokens, kinds)):
        if kind not in ids or not token:
            raise Broken(f"token {i} has type {kind} and {len(token)} characters, expected type 1 or 3, and some")
        if ids[kind].setdefault(token, i) != i:
            raise Broken(f"tokens {ids[kind][token]} and {i} are the same")
        if kind == NORMAL and not set(token) <= byte_of.keys():
            raise Broken(f"token {i} has a character that does not stand for a byte")
        plain = bytes(byte_of[c] for c in token) if kind == NORMAL else token.encode(errors="surrogateescape")
        out.append(plain)
    return out, ids[NORMAL], ids[CONTROL]


def merges_of(keys: dict[str, Any], ids: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """(left, right, whole, rank), sorted."""
    out = {}
    for rank, merge in enumerate(array(keys, "tokenizer.ggml.merges", str)):
        left, _, right = merge.partition(" ")
        if not {left, right, left + right} <= ids.keys():
            raise Broken(f"merge {rank} does not join two tokens to a third")
        first, second = ids[left], ids[right]
        if out.setdefault((first, second), (ids[left + right], rank))[1] != rank:
            raise Broken(f"merges {out[first, second][1]} and {rank} are the same")
    return sorted((*pair, *whole) for pair, whole in out.items())


def special(keys: dict[str, Any], control: dict[str, int], count: int) -> list[int]:
    """<|im_start|>, <|im_end|>, and two that end an answer, too; if there are none, <|im_end|> again."""
    for name in ("<|im_start|>", "<|im_end|>"):
        if name not in control:
            raise Broken(f"has no token {name}, which a conversation needs")
    end = control["<|im_end|>"]
    also = keys.get("tokenizer.ggml.eos_token_id", end)
    if type(also) is not int or not 0 <= also < count:
        raise Broken(f"key tokenizer.ggml.eos_token_id is {also!r:.60}, expected a token below {count}")
    return [control["<|im_start|>"], end, also, control.get("<|endoftext|>", end)]


# ---- the tensors ----


def layout(
    layers: int, width: int, hidden: int, kv_width: int, vocabulary: int, tied: bool
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape of each tensor in the order of the file."""
    yield "token_embd.weight", (width, vocabulary)
    yield "output_norm.weight", (width,)
    if not tied:
        yield "output.weight", (width, vocabulary)
    for layer in range(layers):
        for name, *shape in (
            ("attn_norm", width), ("attn_q", width, width), ("attn_k", width, kv_width), ("attn_v", width, kv_width),
            ("attn_output", width, width), ("ffn_norm", width), ("ffn_gate", width, hidden), ("ffn_up", width, hidden),
            ("ffn_down", hidden, width),
        ):  # fmt: skip
            yield f"blk.{layer}.{name}.weight", tuple(shape)


def encoding_of(tensors: dict[str, Tensor], names: list[str]) -> int:
    """That of all these."""
    found = {tensors[name].encoding for name in names}
    if len(found) != 1:
        kinds = ", ".join(sorted(ENCODINGS[encoding][0] for encoding in found))
        raise Broken(f"the matrices of its layers are {kinds}, expected one encoding for all")
    return found.pop()


def check_tensors(tensors: dict[str, Tensor], expected: dict[str, tuple[int, ...]]) -> None:
    for name, shape in expected.items():
        if name not in tensors:
            raise Broken(f"has no tensor {name}")
        if tensors[name].shape != shape:
            raise Broken(f"tensor {name} is {list(tensors[name].shape)}, expected {list(shape)}")
        if len(shape) == 1 and tensors[name].encoding != F32:
            raise Broken(f"tensor {name} is {ENCODINGS[tensors[name].encoding][0]}, expected F32")
    if len(tensors) != len(expected):
        raise Broken(f"has {len(tensors)} tensors, expected {len(expected)}: the others would be ignored")


# ---- the file ----


def convert(keys: dict[str, Any], tensors: dict[str, Tensor]) -> bytes:
    """The flat file. Raises Broken."""
    text(keys, "general.architecture", "llama")
    text(keys, "tokenizer.ggml.model", "gpt2")
    text(keys, "tokenizer.ggml.pre", "smollm")
    for name in ("tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_space_prefix"):
        if keys.get(name):
            raise Broken(f"key {name} is true, expected false")
    if "llama.rope.scaling.type" in keys:
        raise Broken("scales its RoPE (llama.rope.scaling.type), which is not done here")
    layers, width, heads, hidden, context = (
        number(keys, "llama." + name)
        for name in (
            "block_count", "embedding_length", "attention.head_count", "feed_forward_length", "context_length"
        )
    )  # fmt: skip
    kv_heads = number(keys, "llama.attention.head_count_kv", heads)
    head_dim = width // heads
    for name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if keys.get("llama." + name, head_dim) != head_dim:
            raise Broken(f"key llama.{name} is {keys['llama.' + name]!r:.60}, expected {head_dim}")

    plain, ids, control = token_bytes(keys)
    merges, tokens = merges_of(keys, ids), special(keys, control, len(plain))
    if keys.get("llama.vocab_size", len(plain)) != len(plain):
        raise Broken(f"key llama.vocab_size is {keys['llama.vocab_size']!r:.60}, expected {len(plain)}")
    of_byte = {plain[i][0]: i for i in ids.values() if len(plain[i]) == 1}

    tied = "output.weight" not in tensors
    expected = dict(layout(layers, width, hidden, kv_heads * head_dim, len(plain), tied))
    check_tensors(tensors, expected)
    matrices = [name for name, shape in expected.items() if len(shape) == 2 and name.startswith("blk.")]
    output = TIED if tied else tensors["output.weight"].encoding
    encodings = encoding_of(tensors, matrices), tensors["token_embd.weight"].encoding, output

    parts = [
        struct.pack("<256i", *(of_byte.get(byte, -1) for byte in range(256))),
        struct.pack(f"<{len(plain)}I", *accumulate(map(len, plain))),
        b"".join(plain),
        b"".join(struct.pack("<4I", *merge) for merge in merges),
        *(tensors[name].data for name in expected),
    ]
    body = b"".join(piece for part in parts for piece in (part, bytes(-len(part) % 32)))
    title = str(keys.get("general.name", "?"))[:TITLE]
    head = HEADER.pack(
        MAGIC, VERSION, 0, HEADER.size + len(body), layers, width, heads, kv_heads, hidden, context, len(plain),
        len(merges), sum(map(len, plain)), real(keys, "llama.attention.layer_norm_rms_epsilon"),
        real(keys, "llama.rope.freq_base"), *encodings, *tokens,
        "".join(c if " " <= c <= "~" else "?" for c in title).encode(),
    )  # fmt: skip
    return sealed(head + body)


def sealed(file: bytes) -> bytes:
    """With the checksum that it has to have."""
    return file[:12] + struct.pack("<I", zlib.crc32(memoryview(file)[CHECKED:])) + file[CHECKED:]


def is_whole(path: Path) -> bool:
    """Is it a flat file as it was written?"""
    if not path.is_file():
        return False
    file = path.read_bytes()
    return len(file) > CHECKED and file[:12] == MAGIC + struct.pack("<I", VERSION) and sealed(file) == file
