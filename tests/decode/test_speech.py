"""Chapter 08 with --prompt: every kernel and cache gives the tokens that a pass without a cache gives, on the tiny
model; what attention asks for is equal to closed forms worked out here from the model's shape. The last test wants the
real model: DECODE_MODEL names its file, or `make model` brought it; without it that is skipped, and says so."""

from __future__ import annotations

from typing import Any

from case import BUILD
from speech import Speech, real_model

LAYERS, HEADS, KV_HEADS, DIM = 2, 3, 1, 32  # tests/data/tiny_model/make.py's
WAYS = (
    "--kernel decode_naive",
    "--kernel decode_grouped",
    "--kernel decode_split --splits 1",
    "--kernel decode_split --splits 88",
    "--kernel decode_paged --page 1",
    "--kernel decode_paged --page 7 --splits 3 --seed 5",
    "--page 4096",
)


def bytes_of(n: int, splits: int) -> int:
    """Of a token that sees n: keys and values, Q for each split, partials twice, O."""
    of_splits = splits * HEADS * DIM + 2 * splits * HEADS * (DIM + 2)
    return 4 * LAYERS * (2 * n * KV_HEADS * DIM + of_splits + HEADS * DIM)


def words_of(n: int, splits: int, page: int) -> int:
    """Of the table."""
    keys = [range(split * n // splits, (split + 1) * n // splits) for split in range(splits)]
    return LAYERS * KV_HEADS * sum(key == split[0] or key % page == 0 for split in keys for key in split)


class Decode(Speech):
    program = BUILD / "chapters/decode"

    def answer(self, prompt: str, options: str = "", **of: Any) -> dict[str, Any]:
        """A pass without a cache says the same."""
        told = super().answer(prompt, options, **of)
        self.assertEqual(told["same_ids"], told["logit_rows"], f"'{prompt}' {options}: without a cache something else")
        return told

    def test_every_kernel_says_the_same(self) -> None:
        """Golden ids of tests/data/tiny_model, which chapter 07 has to give, too."""
        for way in WAYS:
            told = self.answer("How do plants make food?", f"--tokens 3 {way}")
            self.assertEqual(told["tokens"], [304, 303, 221], way)

    def test_what_attention_asks_for(self) -> None:
        splits, page, tokens = 5, 3, 4
        told = self.answer("Hi", f"--tokens {tokens} --splits {splits} --page {page}")
        prompt = told["prompt_tokens"]
        for phase, seen in (("prompt", range(1, prompt + 1)), ("answer", range(prompt + 1, prompt + tokens))):
            asked = told["asked"][phase]
            table = 4 * sum(words_of(n, splits, page) for n in seen)
            whole = table + sum(bytes_of(n, splits) for n in seen)
            found = (asked["table_bytes"], asked["counted_bytes"], asked["model_bytes"])
            self.assertEqual(found, (table, whole, whole), phase)

    def test_splits_of_a_conversation(self) -> None:
        """More splits than tokens would have nothing to read: 70 in the prompt, one of the answer that is run."""
        self.assertEqual(self.answer("Hi", "--tokens 2 --splits 71")["splits"], 71)
        done = self.said("Hi", "--tokens 2 --splits 72")
        self.assertEqual((done.status, done.out, done.err.count("\n")), (2, "", 1), done.err)
        self.assertTrue(done.err.startswith("decode: --splits: expected at most 71 with this --prompt"), done.err)

    def test_the_real_model(self) -> None:
        """Greedy; the answer ends by itself."""
        model = real_model("DECODE_MODEL")
        told = self.answer("What is the capital of France?", "--tokens 10", model=model, seconds=250)
        self.assertEqual((told["text"], told["ended"]), ("The capital of France is Paris.", True))
