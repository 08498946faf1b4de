#!/usr/bin/env python3
"""Makes texts.json.xz: 2,000 texts and the tokens that another tokenizer gives them with the real model's vocabulary.

    make.py MODEL.gguf

The reference is PyPI's `tokenizers` (0.23.3 made the file), which has to be installed: byte-level BPE after the stages
Digits(individual_digits=True) and ByteLevel(add_prefix_space=False), with the vocabulary and the merges of the file.
The texts are put together here from words, digits, blanks, marks, code and emoji of many scripts; no byte in them is
without a token. texts.json.xz holds {"made_by": ..., "texts": [...], "ids": [[...], ...]}; what reads it is
tests/model/test_tokenizer.py. Called: by hand.
"""

from __future__ import annotations

import json
import lzma
import random
import struct
import sys
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers

COUNT = 2000
WORDS = """
    the of attention softmax Kernel GPU FlashAttention memory bandwidth tile queries keys values a I it's don't we'll
    they've you're I'm he'd 's 'S 'LL rock'n'roll naïve façade Größe Straße niño português garçon čeština język
    система внимание памяти Київ λόγος μνήμη προσοχή שלום זיכרון انتباه ذاكرة فارسی हिन्दी ध्यान বাংলা தமிழ் ไทย ความสนใจ
    注意力 模型 日本語 メモリ ひらがな 한국어 주의 tiếng Việt ქართული հայերեն አማርኛ
""".split()
DIGITS = "0 1 7 12 42 1024 3.14 1e-5 2026-11-22 ½ ² ³ Ⅳ ٣٤ ५६ １２ ⑦ 0x1f 65,536 100%".split()
BLANKS = [
    " ",
    " ",
    " ",
    "  ",
    "   ",
    "       ",
    "\n",
    "\n\n",
    "\n  ",
    "\t",
    "\t\t",
    "\r\n",
    " \n",
    "\u00a0",
    "\u3000",
    "\u2003",
]
MARKS = """
    . , ; : ! ? ... - -- — ( ) [ ] { } " ' '' ` « » „ ” @ # $ € £ % & * + = / \\ | ~ ^ _ <|im_end|> <|endoftext|>
""".split()
EMOJI = [
    "🙂",
    "🚀",
    "👩‍🔬",
    "🇫🇷",
    "❤️",
    "👍🏽",
    "→",
    "≤",
    "∑",
    "√",
    "°",
    "©",
    "e\u0301",
    "n\u0303",
    "\u200b",
    "\u200d",
    "\ufeff",
]
CODE = [
    "for (int i = 0; i < n; i++) {\n    sum += a[i];\n}\n", "def f(x):\n\treturn x ** 2\n", "#include <stdio.h>\n",
    "__syncthreads();", "float4 v = *(float4 *)&K[64 * j];", "S = Q @ K.T / math.sqrt(64)", "x->y", "i != j && !k",
    "<p class=\"a\">", "https://example.org/a?b=1&c=2", "{\"key\": [1, 2.5, null]}", "SELECT * FROM t;", "$HOME",
]  # fmt: skip
KINDS = [(WORDS, 12), (BLANKS, 10), (DIGITS, 4), (MARKS, 4), (EMOJI, 1), (CODE, 1)]


def text(chance: random.Random) -> str:
    """Up to 14 pieces; half of the texts have a blank between all of them, as prose has."""
    kinds = chance.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS], k=chance.randint(1, 14))
    return chance.choice(["", " "]).join(chance.choice(kind) for kind in kinds)


def strings(data: bytes, key: str) -> list[str]:
    """The array of strings of that key in a GGUF file."""
    at = data.index(struct.pack("<Q", len(key)) + key.encode()) + 8 + len(key)
    _, _, count = struct.unpack_from("<IIQ", data, at)
    at += 16
    out = []
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", data, at)
        out.append(data[at + 8 : at + 8 + length].decode())
        at += 8 + length
    return out


def main() -> None:
    data = Path(sys.argv[1]).read_bytes()
    vocabulary = {token: i for i, token in enumerate(strings(data, "tokenizer.ggml.tokens"))}
    merges = [tuple(merge.split(" ")) for merge in strings(data, "tokenizer.ggml.merges")]
    reference = Tokenizer(models.BPE(vocabulary, merges))
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    chance = random.Random(2026)
    texts: dict[str, None] = {}
    while len(texts) < COUNT:
        texts[text(chance)] = None
    ids = [reference.encode(made).ids for made in texts]
    content = {"made_by": f"tokenizers {tokenizers.__version__}", "texts": list(texts), "ids": ids}
    packed = lzma.compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), preset=9)
    (Path(__file__).parent / "texts.json.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
