"""Chapter 08's kernels beside chapter 05's."""

from __future__ import annotations

import json
import math
import os
import re
import unittest

from case import BUILD, Case, run
from npy import read_npy, write_npy

DECODE = BUILD / "chapters/decode"


class Steps(Case):
    def test_one_step_is_the_last_row_of_chapter_05(self) -> None:
        """Of the same numbers: heads of tokens [1, H, N, d] there, rows of heads [N, H, d] here, the last row of Q."""
        H, N, d = 3, 97, 80
        for name, step in (("q", 0.3), ("k", 0.7), ("v", 1.3)):
            rows = [[[math.sin(step * ((h * N + n) * d + c)) for c in range(d)] for h in range(H)] for n in range(N)]
            heads = [value for h in range(H) for n in range(N) for value in rows[n][h]]
            write_npy(self.scratch / f"heads/{name}.npy", (1, H, N, d), heads)
            kept, shape = (rows[-1:], (H, d)) if name == "q" else (rows, (N, H, d))
            write_npy(self.scratch / f"rows/{name}.npy", shape, [x for row in kept for head in row for x in head])
        self.run_program(BUILD / "chapters/fa2", "--kernel fa2_row --causal --load heads --save fa2")
        _, whole = read_npy(self.scratch / "fa2/o.npy")
        last = [value for h in range(H) for value in whole[(h * N + N - 1) * d :][:d]]
        for kernel in ("decode_naive", "decode_grouped", "decode_split", "decode_paged"):
            self.run_program(DECODE, f"--kernel {kernel} --load rows --splits 7 --page 5 --save step")
            shape, step = read_npy(self.scratch / "step/o.npy")
            self.assertEqual(shape, (H, d))
            self.assertLess(max(abs(a - b) for a, b in zip(step, last)), 1e-6, kernel)

    @unittest.skipUnless(os.environ.get("LONG"), "LONG=1 (make test-all) only")
    def test_pages_filled_before_the_run_are_in_no_floor(self) -> None:
        """Kills: a floor above the time that an H200 took. Pages hold the bytes of K and V, and no L2 holds them."""
        options = "--seq 2700 --heads 32 --kv-heads 32 --dim 128 --splits 4 --gpu a100 --quiet --json -".split()
        ran = [run([DECODE, "--kernel", name, *options], SIM_CHECK="none") for name in ("decode_split", "decode_paged")]
        split, paged = (json.loads(done.out)["kernels"][0]["floor"] for done in ran)
        self.assertEqual(split, paged)


class Sweeps(Case):
    def test_the_sizes_of_chapters_07_and_08(self) -> None:
        """Kills: a step that is left out, is another's, or is not verified."""
        splits = [(256 << 2 * level, S) for level in range(3) for S in (1, 4, 16, 44, 88, 176)]
        for chapter, options, columns, steps in (
            ("decode", "--kernel decode_split", ("seq", "splits"), splits),
            ("transformer", "--kernel strided", ("seq", "keys"), [(1, 64 << step) for step in range(6)]),
        ):
            options = f"--sweep {options} --heads 1 --kv-heads 1 --dim 1"
            done = self.run_program(BUILD / "chapters" / chapter, options, SIM_CHECK="none")
            head, *rows = [line.split("\t") for line in re.sub("# (?!seq).*\n", "", done.out).splitlines()]
            records = [dict(zip(("seq", *head[1:]), row)) for row in rows]
            told = [(*(int(record[name]) for name in columns), record["verified"]) for record in records]
            self.assertEqual(told, [(*step, "yes") for step in steps])
