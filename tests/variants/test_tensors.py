"""Chapter 09's program on tensors from files: sinks of any size, and lengths that are not the files'."""

from __future__ import annotations

import array
import math
from collections.abc import Sequence

from case import BUILD, Case
from npy import read_npy, write_npy

VARIANTS = BUILD / "chapters/variants"
H, G, N, DIM = 6, 2, 97, 59


class Tensors(Case):
    def files(self, sinks: Sequence[float]) -> str:
        """For --load."""
        for name, heads, step in (("q", H, 0.3), ("k", G, 0.7), ("v", G, 1.3)):
            values = [math.sin(step * (row * DIM + c)) for row in range(heads * N) for c in range(DIM)]
            write_npy(self.scratch / f"in/{name}.npy", (1, heads, N, DIM), values)
        write_npy(self.scratch / "in/sink.npy", (H,), sinks)
        return "--quiet --load in"

    def decoded(self, options: str) -> array.array[float]:
        """O, verified."""
        self.run_program(VARIANTS, f"--kernel decode --save saved {options}")
        return read_npy(self.scratch / "saved/o.npy")[1]

    def test_sinks_of_any_size(self) -> None:
        """Far below every score they are none; far above they take all the weight."""
        for at, sinks in enumerate(((-1e30, 0.0, 1e30, -50.0, 1e4, 88.0), (-3e38, -3e38, 3e38, 3e38, -1e4, -88.0))):
            cache = self.files(sinks)
            without = self.decoded(f"{cache} --splits 7")
            for options in ("--splits 7", "--splits 200", "--splits 9 --window 3"):
                O = self.decoded(f"{cache} --sink {options}")
                self.assertFalse(any(O[(2 + at) * DIM :][:DIM]), options)
                if options == "--splits 7":
                    self.assertEqual(O[:DIM], without[:DIM])
            self.run_program(VARIANTS, f"--kernel forward {cache} --sink")

    def test_lengths_that_are_not_the_files(self) -> None:
        done = self.run_program(VARIANTS, f"{self.files([0.0] * H)} --lengths 5,77,16", status=2)
        self.assertIn("expected 98 for N", done.err)
