"""Chapter 09's kernels on tensors of our own: what packing, a window, a sink and dropout must not change."""

from __future__ import annotations

import array
import math
from collections.abc import Sequence

from case import BUILD, Case, moved
from npy import read_npy, write_npy

VARIANTS = BUILD / "chapters/variants"
H, G, TOKENS, DIM = 6, 2, 150, 59
LENGTHS = {0: 5, 5: 130, 135: 15}  # first token: how many
SINKS = (0.5, -1.0, 2.0, 0.0, -3.0, 1.0)


class Tensors(Case):
    def tokens(self, first: int, count: int, sinks: Sequence[float] = SINKS) -> str:
        """Some of the tokens, for --load."""
        directory = self.scratch / f"of_{first}_{count}"
        for name, heads, step in (("q", H, 0.3), ("k", G, 0.7), ("v", G, 1.3)):
            rows = ((head * TOKENS + token) * DIM for head in range(heads) for token in range(first, first + count))
            values = [math.sin(step * (row + c)) for row in rows for c in range(DIM)]
            write_npy(directory / f"{name}.npy", (1, heads, count, DIM), values)
        write_npy(directory / "sink.npy", (H,), sinks)
        return f"--load {directory}"

    def output(self, kernel: str, options: str, **environment: str) -> tuple[tuple[int, ...], array.array[float]]:
        """O, verified."""
        self.run_program(VARIANTS, f"--kernel {kernel} --quiet --save saved {options}", **environment)
        return read_npy(self.scratch / "saved/o.npy")

    def test_packed_sequences_are_each_as_alone(self) -> None:
        """No padding is read, and no other sequence's keys: as many bytes of K."""
        for more in ("", "--causal --window 20 --alibi"):
            _, packed = self.output("forward", f"--lengths 5,130,15 {self.tokens(0, TOKENS)} {more}")
            for first, count in LENGTHS.items():
                _, alone = self.output("forward", f"{self.tokens(first, count)} {more}")
                rows = [packed[(h * TOKENS + first) * DIM :][: count * DIM] for h in range(H)]
                self.assertEqual(sum(rows, array.array("f")), alone, f"{more}: {first}")
        keys = []
        for sizes in ("--lengths 5,130,15", *(f"--seq {count}" for count in LENGTHS.values())):
            result = self.run_json(VARIANTS, f"--kernel forward --causal --window 20 {sizes}", SIM_CHECK="none")
            keys.append(moved(result["kernels"][0])["K"][0])
        self.assertEqual(keys[0], sum(keys[1:]))

    def test_packed_sequences_decode_each_as_alone(self) -> None:
        for more in (
            "--splits 7",
            "--splits 30 --window 20",
            "--splits 1 --sink --alibi",
            "--splits 7 --softcap 5 --alibi --sink --window 50",
        ):
            options = f"--lengths 5,130,15 {self.tokens(0, TOKENS)} {more}"
            shape, packed = self.output("decode", options, SIM_ORDER="shuffle:1")
            self.assertEqual(shape, (3, H, DIM))
            for at, (first, count) in enumerate(LENGTHS.items()):
                _, alone = self.output("decode", f"{self.tokens(first, count)} {more}")
                self.assertEqual(packed[at * H * DIM :][: H * DIM], alone, f"{more}: {first}")
        done = self.run_program(VARIANTS, f"{self.tokens(0, TOKENS)} --lengths 5,130,16", status=2)
        self.assertIn("expected 151 for N", done.err)

    def test_a_window_is_a_shorter_cache(self) -> None:
        """The keys before it might as well not be there; also when most splits have none."""
        whole = self.tokens(0, 97)
        for window in (1, 20, 64, 97):
            for options in ("--splits 1", "--splits 30", "--splits 7 --alibi --sink"):
                _, own = self.output("decode", f"{self.tokens(97 - window, window)} {options}")
                _, seen = self.output("decode", f"{whole} {options} --window {window}", SIM_ORDER="shuffle:1")
                self.assertEqual(own, seen, f"{window}: {options}")

    def test_sinks_of_any_size(self) -> None:
        """Far below every score they are none; far above they take all the weight."""
        for at, sinks in enumerate(((-1e30, 0.0, 1e30, -50.0, 1e4, 88.0), (-3e38, -3e38, 3e38, 3e38, -1e4, -88.0))):
            cache = self.tokens(0, 97, sinks)
            _, without = self.output("decode", f"{cache} --splits 7")
            for options in ("--splits 7", "--splits 200", "--splits 9 --window 3"):
                _, O = self.output("decode", f"{cache} --sink {options}")
                self.assertFalse(any(O[(2 + at) * DIM :][:DIM]), options)
                if options == "--splits 7":
                    self.assertEqual(O[:DIM], without[:DIM])
            self.output("forward", f"{cache} --sink")

    def test_dropout_depends_on_the_seed(self) -> None:
        """O does. A first packed sequence has the mask that it has alone."""
        alone, options = self.tokens(0, 5), "--dropout 0.4 --seed"
        _, one = self.output("forward", f"{alone} {options} 1")
        self.assertEqual(one, self.output("forward", f"{alone} {options} 1")[1])
        self.assertNotEqual(one, self.output("forward", f"{alone} {options} 2")[1])
        _, packed = self.output("forward", f"{self.tokens(0, TOKENS)} --lengths 5,130,15 {options} 1")
        self.assertEqual(packed[: 5 * DIM], one[: 5 * DIM])

    def test_dropout_costs_no_byte(self) -> None:
        """The mask is computed."""
        shape = "--kernel forward --heads 2 --seq 140 --dim 40 --causal"
        counts = []
        for options in (shape, f"{shape} --dropout 0.4"):
            (kernel,) = self.run_json(VARIANTS, options, SIM_CHECK="none")["kernels"]
            counts.append((kernel["hbm"]["requested"], kernel["launches"][0]["shared"]))
        self.assertEqual(counts[0], counts[1])
