#!/usr/bin/env python3
"""Makes the tiny language model that stands in for the real one, and what it must answer.

    make.py [OUT]       writes into OUT; default: the folder of this script
    make.py --gguf FILE writes the GGUF file alone

tiny.bin      what tools/model makes of a GGUF file: a Llama of the real model's kind with random weights: width 96,
              3 query heads on 1 KV head of 32, hidden 256, 2 layers, 320 tokens, context 256; Q4_1 matrices, Q8_0
              embedding (tied), F32 norms. Its tokenizer: 235 bytes (21 have no token, as in the real model), 82 merges
              learnt from TEXT, 3 control tokens
golden.tsv    a line for each prompt: its tokens, and the 3 that follow greedily; a tab between, blanks between ids
golden.f32    for each prompt the logits after it and after each of the 3: [prompts, 4, 320], fp32, little endian,
              computed here in double and rounded once

Everything is computed a second time, apart from common/model/: the tokenizer from the pattern as Python's re, the
forward pass in double from the stored weights. No weight depends on the machine: random numbers are whole ones, scaled.
Reads: unicodedata. Called: by hand, and by tests/model/test_tiny_model.py, which wants the same bytes again.
"""

from __future__ import annotations

import math
import re
import struct
import sys
import unicodedata
from collections import Counter
from itertools import groupby
from operator import mul
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from lib.flat_model import convert
from lib.gguf import parse

WIDTH, HEADS, KV_HEADS, HEAD_DIM, HIDDEN, LAYERS, VOCABULARY, CONTEXT = 96, 3, 1, 32, 256, 2, 320, 256
EPSILON, ROPE_BASE = 1e-5, 100000.0
BLOCK, ALIGNMENT = 32, 32
F32, Q4_1, Q8_0 = 0, 3, 8
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
NO_TOKEN = {0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100)}
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
STEPS = 4

# What the merges are learnt from.
TEXT = """
Attention compares one query with every key, and takes the mean of the values with the weights that come out. The kernel
does not write the scores to memory: a tile of keys and values is read, the scores of the tile are computed, the running
maximum and the running sum are corrected, and the tile is forgotten. What is left at the end is divided by the sum.
You are a helpful assistant. The user asks, the assistant answers: how do plants make food? why is the sky blue? what
is the capital of France? It's not what they've said, we'll see; I'm sure you're right, he'd say, they don't.
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
Die Größe der Kachel, la mémoire, naïve façade; система, внимание; 注意力 注意力; τα λόγια.
"""

# None: the first one as a conversation
PROMPTS = ["How do plants make food?", "The kernel", "  Why is\n\nthe sky 2 blue?", None]


# ---- the tokenizer ----


def ranges_of(wanted: str) -> str:
    """The characters of a general category as the inside of a class of re."""
    text = ""
    for inside, run in groupby(
        range(sys.maxunicode + 1), key=lambda code: unicodedata.category(chr(code))[0] == wanted
    ):
        codes = list(run)
        if inside:
            text += f"\\U{codes[0]:08x}-\\U{codes[-1]:08x}"
    return text


L, N = ranges_of("L"), ranges_of("N")
S = "\\t-\\r\\x85" + ranges_of("Z")
WORD = re.compile(f"'s|'t|'re|'ve|'m|'ll|'d| ?[{L}]+| ?[{N}]+| ?[^{S}{L}{N}]+|[{S}]+(?![^{S}])|[{S}]+")
NUMBER = re.compile(f"([{N}])")


def byte_characters() -> list[str]:
    """What GPT-2 writes for each byte."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return [chr(byte if byte in seen else 256 + unseen.index(byte)) for byte in range(256)]


CHARACTERS = byte_characters()


def words(text: str) -> list[list[str]]:
    pieces = [piece for piece in NUMBER.split(text) if piece]
    return [[CHARACTERS[byte] for byte in word.encode()] for piece in pieces for word in WORD.findall(piece)]


def merged(word: list[str], pair: tuple[str, str]) -> list[str]:
    """The word with every such pair, from the left, made one."""
    out: list[str] = []
    for part in word:
        if out and (out[-1], part) == pair:
            out[-1] = pair[0] + pair[1]
        else:
            out.append(part)
    return out


def learn(text: str, count: int) -> list[tuple[str, str]]:
    """The merges: the most frequent pair first, of equal ones the first in the alphabet."""
    corpus = words(text)
    merges = []
    for _ in range(count):
        pairs = Counter(pair for word in corpus for pair in zip(word, word[1:]))
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        corpus = [merged(word, best) for word in corpus]
    return merges


class Tokenizer:
    def __init__(self) -> None:
        alphabet = [CHARACTERS[byte] for byte in range(256) if byte not in NO_TOKEN]
        self.merges = learn(TEXT, VOCABULARY - len(CONTROL) - len(alphabet))
        self.tokens = CONTROL + alphabet + [left + right for left, right in self.merges]
        assert len(set(self.tokens)) == VOCABULARY
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.rank = {pair: i for i, pair in enumerate(self.merges)}

    def encode(self, text: str) -> list[int]:
        out = []
        for word in words(text):
            while True:
                ranked = [self.rank[pair] for pair in zip(word, word[1:]) if pair in self.rank]
                if not ranked:
                    break
                word = merged(word, self.merges[min(ranked)])
            out += [self.ids[part] for part in word]
        return out

    def conversation(self, user: str) -> list[int]:
        start, end, line = [1], [2], self.encode("\n")
        return (
            start + self.encode("system\n" + SYSTEM) + end + line
            + start + self.encode("user\n" + user) + end + line
            + start + self.encode("assistant\n")
        )  # fmt: skip


# ---- the weights ----


class Random:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def word(self) -> int:
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def nearly_normal(self) -> float:
        """The sum of four 16-bit numbers, mean 0 and deviation 1 (4 * 2^32/12 = 37837.2^2)."""
        z = self.word()
        return (sum((z >> shift) & 0xFFFF for shift in (0, 16, 32, 48)) - 2 * 0xFFFF) / 37837.0


def half(value: float) -> float:
    return struct.unpack("<e", struct.pack("<e", value))[0]


def single(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def q4_1(values: list[float]) -> tuple[bytes, list[float]]:
    """A block as stored, and the weights it stands for."""
    m = half(min(values))
    d = half((max(values) - m) / 15)
    q = [min(15, max(0, math.floor((value - m) / d + 0.5))) for value in values]
    nibbles = bytes(q[i] | q[i + 16] << 4 for i in range(16))
    return struct.pack("<ee", d, m) + nibbles, [i * d + m for i in q]


def q8_0(values: list[float]) -> tuple[bytes, list[float]]:
    d = half(max(map(abs, values)) / 127)
    q = [min(127, max(-127, math.floor(value / d + 0.5))) for value in values]
    return struct.pack("<e32b", d, *q), [i * d for i in q]


class Tensor:
    """rows x columns; stored bytes, and the weights as doubles."""

    def __init__(self, name: str, rows: int, columns: int, encoding: int, values: list[float]) -> None:
        self.name, self.shape, self.encoding = name, [columns] if encoding == F32 else [columns, rows], encoding
        self.data, weights = b"", []
        if encoding == F32:
            weights = [single(value) for value in values]
            self.data = struct.pack(f"<{len(values)}f", *weights)
        else:
            for i in range(0, len(values), BLOCK):
                stored, block = (q4_1 if encoding == Q4_1 else q8_0)(values[i : i + BLOCK])
                self.data += stored
                weights += block
        assert all(single(weight) == weight for weight in weights), f"{name}: not exact in fp32"
        self.rows = [weights[i : i + columns] for i in range(0, len(weights), columns)]


def tensors() -> dict[str, Tensor]:
    random = Random(5)
    made: dict[str, Tensor] = {}

    def matrix(name: str, rows: int, columns: int, deviation: float, encoding: int = Q4_1) -> None:
        values = [deviation * random.nearly_normal() for _ in range(rows * columns)]
        made[name] = Tensor(name, rows, columns, encoding, values)

    def norm(name: str, mean: float) -> None:
        values = [mean * (1 + 0.2 * random.nearly_normal()) for _ in range(WIDTH)]
        made[name] = Tensor(name, 1, WIDTH, F32, values)

    matrix("token_embd.weight", VOCABULARY, WIDTH, 0.05, Q8_0)
    for layer in range(LAYERS):
        for name, rows, columns, deviation in (
            ("attn_q", WIDTH, WIDTH, 0.15), ("attn_k", KV_HEADS * HEAD_DIM, WIDTH, 0.15),
            ("attn_v", KV_HEADS * HEAD_DIM, WIDTH, 0.1), ("attn_output", WIDTH, WIDTH, 0.05),
            ("ffn_gate", HIDDEN, WIDTH, 0.1), ("ffn_up", HIDDEN, WIDTH, 0.1), ("ffn_down", WIDTH, HIDDEN, 0.04),
        ):  # fmt: skip
            matrix(f"blk.{layer}.{name}.weight", rows, columns, deviation)
        norm(f"blk.{layer}.attn_norm.weight", 1)
        norm(f"blk.{layer}.ffn_norm.weight", 1)
    norm("output_norm.weight", 8)
    return made


# ---- the file ----

U32, I32, REAL, TEXT_TYPE, ARRAY = 4, 5, 6, 8, 9


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def keys(tokenizer: Tokenizer) -> list[tuple[str, int, bytes]]:
    def number(value: int) -> tuple[int, bytes]:
        return U32, struct.pack("<I", value)

    def text(value: str) -> tuple[int, bytes]:
        return TEXT_TYPE, string(value)

    def strings(values: list[str]) -> tuple[int, bytes]:
        return ARRAY, struct.pack("<IQ", TEXT_TYPE, len(values)) + b"".join(map(string, values))

    types = [3 if token in CONTROL else 1 for token in tokenizer.tokens]
    return [
        ("general.architecture", *text("llama")),
        ("general.name", *text("tiny, random weights")),
        ("general.license", *text("mit")),
        ("llama.block_count", *number(LAYERS)),
        ("llama.context_length", *number(CONTEXT)),
        ("llama.embedding_length", *number(WIDTH)),
        ("llama.feed_forward_length", *number(HIDDEN)),
        ("llama.attention.head_count", *number(HEADS)),
        ("llama.attention.head_count_kv", *number(KV_HEADS)),
        ("llama.rope.dimension_count", *number(HEAD_DIM)),
        ("llama.rope.freq_base", REAL, struct.pack("<f", ROPE_BASE)),
        ("llama.attention.layer_norm_rms_epsilon", REAL, struct.pack("<f", EPSILON)),
        ("llama.vocab_size", *number(VOCABULARY)),
        ("tokenizer.ggml.model", *text("gpt2")),
        ("tokenizer.ggml.pre", *text("smollm")),
        ("tokenizer.ggml.tokens", *strings(tokenizer.tokens)),
        ("tokenizer.ggml.token_type", ARRAY, struct.pack(f"<IQ{VOCABULARY}i", I32, VOCABULARY, *types)),
        ("tokenizer.ggml.merges", *strings([f"{left} {right}" for left, right in tokenizer.merges])),
        ("tokenizer.ggml.eos_token_id", *number(2)),
    ]


def gguf(tokenizer: Tokenizer, model: dict[str, Tensor]) -> bytes:
    def padding(length: int) -> bytes:
        return bytes(-length % ALIGNMENT)

    pairs = keys(tokenizer)
    out = b"GGUF" + struct.pack("<IQQ", 3, len(model), len(pairs))
    out += b"".join(string(key) + struct.pack("<I", kind) + value for key, kind, value in pairs)
    data = b""
    for tensor in model.values():
        out += string(tensor.name) + struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        out += struct.pack("<IQ", tensor.encoding, len(data))
        data += tensor.data + padding(len(tensor.data))
    return out + padding(len(out)) + data


# ---- the forward pass ----


def times(rows: list[list[float]], x: list[float]) -> list[float]:
    return [sum(map(mul, row, x)) for row in rows]


class Forward:
    """One token after the other, in double; epsilon as the file holds it."""

    def __init__(self, model: dict[str, Tensor]) -> None:
        self.rows = {name: tensor.rows for name, tensor in model.items()}
        self.epsilon = single(EPSILON)
        self.keys: list[list[list[float]]] = [[] for _ in range(LAYERS)]
        self.values: list[list[list[float]]] = [[] for _ in range(LAYERS)]

    def normed(self, x: list[float], name: str) -> list[float]:
        scale = 1 / math.sqrt(sum(map(mul, x, x)) / len(x) + self.epsilon)
        return [value * scale * weight for value, weight in zip(x, self.rows[name][0])]

    def turned(self, head: list[float], position: int) -> list[float]:
        out = []
        for i in range(0, len(head), 2):
            angle = position * ROPE_BASE ** (-i / len(head))
            sine, cosine = math.sin(angle), math.cos(angle)
            out += [head[i] * cosine - head[i + 1] * sine, head[i] * sine + head[i + 1] * cosine]
        return out

    def heads(self, x: list[float]) -> list[list[float]]:
        return [x[i : i + HEAD_DIM] for i in range(0, len(x), HEAD_DIM)]

    def attention(self, layer: int, n: list[float]) -> list[float]:
        weights = f"blk.{layer}.attn_"
        position = len(self.keys[layer])
        query = times(self.rows[weights + "q.weight"], n)
        key = times(self.rows[weights + "k.weight"], n)
        self.keys[layer].append([value for head in self.heads(key) for value in self.turned(head, position)])
        self.values[layer].append(times(self.rows[weights + "v.weight"], n))
        out: list[float] = []
        for index, head in enumerate(self.heads(query)):
            at = index // (HEADS // KV_HEADS) * HEAD_DIM
            turned = self.turned(head, position)
            scores = [sum(map(mul, turned, key[at : at + HEAD_DIM])) / math.sqrt(HEAD_DIM) for key in self.keys[layer]]
            top = max(scores)
            exponentials = [math.exp(score - top) for score in scores]
            total = sum(exponentials)
            columns = zip(*(value[at : at + HEAD_DIM] for value in self.values[layer]))
            out += [sum(map(mul, exponentials, column)) / total for column in columns]
        return times(self.rows[weights + "output.weight"], out)

    def feed_forward(self, layer: int, n: list[float]) -> list[float]:
        weights = f"blk.{layer}.ffn_"
        gate, up = (times(self.rows[weights + name], n) for name in ("gate.weight", "up.weight"))
        return times(self.rows[weights + "down.weight"], [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])

    def logits(self, token: int) -> list[float]:
        x = self.rows["token_embd.weight"][token]
        for layer in range(LAYERS):
            x = [a + b for a, b in zip(x, self.attention(layer, self.normed(x, f"blk.{layer}.attn_norm.weight")))]
            x = [a + b for a, b in zip(x, self.feed_forward(layer, self.normed(x, f"blk.{layer}.ffn_norm.weight")))]
        return times(self.rows["token_embd.weight"], self.normed(x, "output_norm.weight"))


def answers(tokenizer: Tokenizer, model: dict[str, Tensor]) -> tuple[str, bytes]:
    """golden.tsv and golden.f32."""
    lines, logits = "", b""
    for prompt in PROMPTS:
        ids = tokenizer.conversation(PROMPTS[0]) if prompt is None else tokenizer.encode(prompt)
        forward, greedy = Forward(model), []
        for token in ids:
            row = forward.logits(token)
        for step in range(STEPS):
            logits += struct.pack(f"<{VOCABULARY}f", *row)
            first, second = sorted(row, reverse=True)[:2]
            assert first - second > 0.02, "the margin is too small for a check of tokens"
            if step < STEPS - 1:
                greedy.append(row.index(first))
                row = forward.logits(greedy[-1])
        lines += " ".join(map(str, ids)) + "\t" + " ".join(map(str, greedy)) + "\n"
    return lines, logits


# ---- texts, for tests/model/test_tokenizer.py ----

BLANKS = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\u200b", "\u200d"]
WORDS = """
    the The THE sum attention 's 'll 'S ''ve don't it's 0 12 2026 ½ Ⅷ ٣ ² . ... !? -- += { } (); é e\u0301 ß ñ
    Größe система внимание λόγια 注意力 日本語 العربية हिन्दी 한국어 ไทย 🙂 👩\u200d🔬 € <|im_end|> <|im_start|>
    _ @ ﬀ i++ a[i]*b[i]
"""
PARTS = BLANKS + [" the", " sum", "' s", " -", *WORDS.split()]


def texts(count: int) -> list[str]:
    random = Random(7)
    made = ["", " ", "a", "The kernel does not write the scores to memory.", *PARTS]
    while len(made) < count:
        made.append("".join(PARTS[random.word() % len(PARTS)] for _ in range(1 + random.word() % 12)))
    return made


def main() -> None:
    tokenizer, model = Tokenizer(), tensors()
    file = gguf(tokenizer, model)
    if sys.argv[1:2] == ["--gguf"]:
        Path(sys.argv[2]).write_bytes(file)
        return
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    lines, logits = answers(tokenizer, model)
    (out / "tiny.bin").write_bytes(convert(*parse(file)))
    (out / "golden.tsv").write_text(lines)
    (out / "golden.f32").write_bytes(logits)


if __name__ == "__main__":
    main()
