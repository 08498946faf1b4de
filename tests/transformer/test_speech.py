"""Chapter 07 with --prompt: what it says and how it tells it, on the tiny model; its logits beside golden ones; what
moved beside closed forms worked out here from the model's shape. The last tests want the real model: TRANSFORMER_MODEL
names its file, or `make model` brought it; without it they are skipped, and say so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from case import BUILD, run
from speech import REAL, TINY, Speech, real_model

FILLINGS = BUILD / "transformer/fillings"
LONG = bool(os.environ.get("LONG"))
# tests/data/tiny_model/make.py's: layers, C, C_kv, F, vocabulary, context; Q4_1 and Q8_0 bytes of a weight.
L, C, C_KV, F, VOCABULARY, CONTEXT = 2, 96, 32, 256, 320, 256
Q4_1, Q8_0 = 20 / 32, 34 / 32
WEIGHTS = L * Q4_1 * (2 * C * C + 2 * C_KV * C + 3 * F * C) + Q8_0 * VOCABULARY * C  # of matrices

# Prompts whose two likeliest tokens are never closer than the tolerance, so that greedy answers have to be equal.
ASKED = {
    "How do plants make food?": "Plants make food through a process called photosynthesis, which involves",
    "What is the capital of France?": "The capital of France is Paris.",
    "Why is the sky blue?": "The answer to this question lies in the intricate dance of light and color. The sky "
    "appears blue because of a phenomenon known as Rayleigh scattering.",
}


class Transformer(Speech):
    program = BUILD / "chapters/transformer"

    def tokens(self, prompt: str, options: str) -> list[int]:
        return self.answer(prompt, options)["tokens"]

    def double(self, prompt: str, count: int, model: Path = TINY) -> list[int]:
        """What the pass in double precision answers."""
        done = run([FILLINGS, "greedy", model, prompt, str(count)], seconds=300)
        self.assertEqual(done.status, 0, done.err)
        return [int(word) for word in done.out.split()]


class Told(Transformer):
    def test_json(self) -> None:
        told = self.answer("How do plants make food?", "--tokens 3")
        expected = {
            "heads": "strided", "prompt": "How do plants make food?", "prompt_tokens": 86,
            "tokens": [304, 303, 221],  # golden.tsv's last line
            "text": "onnning\ufffd", "ended": False, "all_kernels": False, "logits_tolerance": 1e-3, "logit_rows": 3,
            # Plain C stands in for the kernels around attention: these run the first tokens, and are compared, too.
            "replaced_kernels": "rms_norm, project, rope, swiglu", "replaced_kernels_tokens": 4,
            "replaced_kernels_verified": True,
        }  # fmt: skip
        self.assertEqual({key: told[key] for key in expected}, expected)
        for error in (told["logits_error"], told["replaced_kernels_error"]):
            self.assertTrue(0 < error < 1e-4, "fp32 is not exact")

    def test_the_committed_model_stands_in(self) -> None:
        """Without --model, where there is no real one, and it is said."""
        if REAL.exists():
            self.skipTest("the tiny model in the place of the real one: that is there")
        done = run([self.program, "--prompt", "Hi", "--tokens", "1"])
        self.assertEqual(done.status, 0, done.err)
        for words in ("make model", "means nothing"):
            self.assertIn(words, done.out)


class Logits(Transformer):
    def test_golden_logits(self) -> None:
        """Every filling of the pass, fed in three ways (with a cache, in short calls, all at once)."""
        done = run([FILLINGS, "golden", TINY.parent], SIM_CHECK="none")
        self.assertEqual(done.status, 0, done.out + done.err)
        for name in ("reference", "plain", "attention", "attention-permuted", "kernels", "kernels-permuted"):
            self.assertIn(f"{name} five-rows-at-once ", done.out)
        self.assertNotIn("wrong", done.out)

    def test_several_heads_on_each_of_several(self) -> None:
        done = run([FILLINGS, "grouped"])
        self.assertEqual(done.status, 0, done.out + done.err)
        self.assertIn("attention-permuted one-pass ", done.out)

    def test_copies_and_strides_say_the_same(self) -> None:
        """The same numbers in the same order: not only close."""
        strided, permuted = (self.answer("The kernel", f"--tokens 12 --kernel {h}") for h in ("strided", "permuted"))
        self.assertEqual(permuted["heads"], "permuted")
        for key in ("tokens", "logits_error"):
            self.assertEqual(strided[key], permuted[key])
        self.assertEqual(strided["tokens"], self.double("The kernel", 12))

    def test_a_long_prompt_is_read_in_parts(self) -> None:
        """One of more than 128 tokens is read in two calls."""
        prompt = "Attention compares one query with every key, and takes the mean of the values:" + 5 * " 0123456789"
        told = self.answer(prompt, "--tokens 6")
        self.assertGreater(told["prompt_tokens"], 129)
        self.assertEqual(told["tokens"], self.double(prompt, 6))


class Bytes(NamedTuple):
    weights: float
    kv: float
    activations: float


def moved_by(told: dict[str, Any], phase: str, kernel: str, which: str) -> Bytes | None:
    for entry in told["moved"][phase]:
        if entry["kernel"] == kernel:
            of = entry[which]
            found = Bytes(of["weights_bytes"], of["kv_bytes"], of["activations_bytes"])
            assert of["bytes"] == sum(found), (phase, kernel, which)
            return found
    return None


def blocks(N: int, rows: int) -> int:
    """Of a matrix, for one of N tokens: with 32 rows each, or 4 where all tokens would have fewer than 132."""
    return -(-rows // (4 if N * -(-rows // 32) < 132 else 32))


def forms(N: int, first: int, permuted: bool) -> dict[str, Bytes]:
    """For N tokens at once after `first`, of which one gets logits. Keys are loaded in tiles of 64 by tiles of as many
    queries as there are, in whole warps: all of them here, N <= 128 being one tile."""
    norms = 2 * L * N + 1
    x = (2 * blocks(N, C) + 2 * blocks(N, C_KV) + 2 * blocks(N, F)) * C + blocks(N, C) * F
    # x for each block of rows; y of q, o, gate, up, down; two residuals; the logits
    projected = L * N * (x + 3 * C + 2 * F + 2 * C) + blocks(1, VOCABULARY) * C + VOCABULARY
    matrices = WEIGHTS + (N - 1) * (WEIGHTS - Q8_0 * VOCABULARY * C)
    found = {
        "rms_norm": Bytes(4 * norms * C, 0, 4 * 3 * norms * C),
        "project": Bytes(matrices, 4 * L * N * 2 * C_KV, 4 * projected),
        "rope": Bytes(0, 4 * L * N * 2 * C_KV, 4 * L * N * (3 * C + C_KV)),
        "swiglu": Bytes(0, 0, 4 * L * N * 3 * F),
        "attention": Bytes(0, 4 * L * 2 * C * (first + N), 4 * L * N * 2 * C),
    }
    copied = {"permute": Bytes(0, 4 * L * N * 4 * C_KV, 4 * L * N * 4 * C)}  # of K and V, of Q and O
    return found | copied if permuted else found


class Moved(Transformer):
    def test_every_kernel_is_its_closed_form(self) -> None:
        """Copies cost 4 (C + C_kv) numbers a token and layer more than strides, and nothing else."""
        for heads in ("strided", "permuted"):
            told = self.answer("Hi", f"--count-all --kernel {heads} --tokens 4")
            prompt, permuted = told["prompt_tokens"], heads == "permuted"
            self.assertTrue(told["all_kernels"])
            self.assertNotIn("replaced_kernels", told, "all kernels ran")
            self.assertTrue(32 < prompt <= 128)
            steps = [forms(1, prompt + step, permuted) for step in range(3)]  # the last of 4 is chosen and not run
            answer = {kernel: Bytes(*map(sum, zip(*(step[kernel] for step in steps)))) for kernel in steps[0]}
            for phase, expected in (("prompt", forms(prompt, 0, permuted)), ("answer", answer)):
                self.assertEqual({entry["kernel"] for entry in told["moved"][phase]}, {*expected})
                for kernel, right in expected.items():
                    for side in ("model", "counted"):
                        found = moved_by(told, phase, kernel, side)
                        self.assertEqual(found, right, f"{heads}, {phase}, {kernel}, {side}")

    def test_attention_alone_is_counted(self) -> None:
        """Without --count-all; the closed forms are the same."""
        told = self.answer("Hi", "--tokens 1")
        expected = forms(told["prompt_tokens"], 0, permuted=False)
        for kernel, side in (("attention", "model"), ("attention", "counted"), ("project", "model")):
            self.assertEqual(moved_by(told, "prompt", kernel, side), expected[kernel])
        for entry in told["moved"]["prompt"]:
            self.assertEqual("counted" in entry, entry["kernel"] == "attention", entry["kernel"])
        self.assertEqual(told["moved"]["answer"], [], "one token is not run")
        self.assertEqual(told["logit_rows"], 1)
        self.assertEqual(told["weights_bytes"], WEIGHTS + L * 2 * 4 * C + 4 * C)


class Ends(Transformer):
    def test_sampling_is_the_seed_s(self) -> None:
        hot, greedy = "--tokens 5 --temperature 1.5 --seed", self.tokens("Hi", "--tokens 5")
        first = self.tokens("Hi", f"{hot} 7")
        self.assertEqual(first, self.tokens("Hi", f"{hot} 7"))
        self.assertNotEqual(first, self.tokens("Hi", f"{hot} 8"))
        self.assertNotEqual(first, greedy)
        self.assertEqual(self.tokens("Hi", "--tokens 5 --temperature 0 --seed 9"), greedy)
        likeliest = self.tokens("Hi", "--tokens 5 --temperature 1 --top-p 0.000001")
        self.assertEqual(likeliest, greedy, "the likeliest token alone")

    def test_a_full_context_ends_the_answer(self) -> None:
        """Cleanly, with a token that no longer has a place in it."""
        told = self.answer(178 * "7", "--tokens 1000")  # digits are tokens of their own
        read, answered = told["prompt_tokens"], len(told["tokens"])
        self.assertTrue(240 < read < 256, read)
        self.assertEqual((answered, told["logit_rows"]), (CONTEXT - read + 1, answered))
        self.assertFalse(told["ended"])

    def test_a_prompt_that_fills_the_context_is_refused(self) -> None:
        done = self.said(CONTEXT * "7", "--json -")
        self.assertEqual((done.status, done.out, done.err.count("\n")), (2, "", 1), done.err)
        self.assertIn("context of 256", done.err)

    def test_models_that_are_refused(self) -> None:
        """All that are: tests/model/test_flat.py."""
        cut = self.scratch / "cut.bin"
        cut.write_bytes(TINY.read_bytes()[:100_000])
        for options, says in (
            ("", "cut.bin: has 100000 bytes, expected 161792: it was cut"),
            (f"--json {cut}", "cut.bin is the model, expected another file"),
        ):
            done = self.said("Hi", options, cut)
            self.assertEqual((done.status, done.out, done.err.count("\n")), (2, "", 1), done.err)
            self.assertTrue(done.err.startswith("transformer: ") and says in done.err, done.err)

    def test_no_control_character_reaches_the_terminal(self) -> None:
        """What a model says may be any byte: JSON has it, a terminal is spared what would move its cursor, and only
        that."""
        hot = "--tokens 40 --temperature 30 --seed 1"
        text, done = self.answer("Hi", hot)["text"], self.said("Hi", f"--quiet {hot}")
        self.assertEqual(done.status, 0, done.err)
        self.assertRegex(text, r"[\0-\x08\x0b-\x1f]", "a draw among all bytes")
        self.assertNotRegex(done.out, r"[\0-\x08\x0b-\x1f]")
        kept, shown = (
            "".join(c for c in of if (c.isascii() and c.isalpha()) or c in "\n\t") for of in (text, done.out)
        )
        self.assertGreater(len(kept), 20)
        self.assertIn(kept, shown)
        hot = "--tokens 100 --temperature 1000 --seed 160"  # a draw with U+0080 to U+009F, two bytes of two tokens
        text, done = self.answer("Hi", hot)["text"], self.said("Hi", f"--quiet {hot}")
        self.assertRegex(text, r"[\x80-\x9f]")
        self.assertNotRegex(done.out, r"[\x80-\x9f]")

    def test_a_full_disk_is_one_line(self) -> None:
        """It ends with the first token."""
        done = run(["sh", "-c", f"exec {self.program} --model {TINY} --prompt Hi > /dev/full"])
        says = "transformer: standard output: cannot be written: No space left on device\n"
        self.assertEqual((done.status, done.err), (3, says))

    def test_an_answer_may_be_empty(self) -> None:
        """The token that ends it comes first, with the first seed that draws it."""
        empty = "--temperature 30 --seed 97"
        told = self.answer("Hi", f"--tokens 5 {empty}")
        found = (told["ended"], told["text"], told["tokens"], told["logit_rows"])
        self.assertEqual(found, (True, "", [], 1))
        for form in ("--quiet", "--verbose"):
            done = self.said("Hi", f"{empty} {form}")
            self.assertEqual(done.status, 0, done.err)
            self.assertIn("verified", done.out)


class RealModel(Transformer):
    def test_the_real_model_answers(self) -> None:
        model, tokens = real_model("TRANSFORMER_MODEL"), 80 if LONG else 14
        for prompt, begins in ASKED.items():
            told = self.answer(prompt, f"--tokens {tokens}", model=model, seconds=300)
            length = min(len(told["text"]), len(begins))
            self.assertGreater(length, 20)
            self.assertEqual(told["text"][:length], begins[:length], prompt)
            self.assertEqual(told["tokens"], self.double(prompt, tokens, model))
            self.assertFalse(told["tiny"])
            self.assertEqual(told["replaced_kernels_tokens"], 0, "that takes a while")
            self.assertNotIn("replaced_kernels_verified", told, "it was not run")
            self.assertEqual(told["weights_bytes"], 96576768)
        self.assertEqual(told["prompt_tokens"], 36)
