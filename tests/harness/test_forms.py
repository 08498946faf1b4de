"""What floors and limits are computed from, counted again: FLOP, exponentials, blocks, tiles and shared memory of each
kernel's closed forms (JSON's "forms"). A run compares the rest of them with what the device counts, or is not verified.

Pairs of a query and a key are counted here one by one, in the tiles that a kernel visits. Blocks, shared memory and,
where a kernel has no corrections, exponentials are those that the device has counted.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case import ROOT, Case


class Expected(NamedTuple):
    flop: float
    exponentials: float  # at least; all, where `exact`
    tile: tuple[int, int] = (0, 0)
    exact: bool = False


class Shape(NamedTuple):
    """Attention of one head; sees(i, j): is key j not masked from query i?"""

    N: int
    causal: bool
    window: int = 0
    past: int = 0  # tokens whose keys come first, and which have no query

    def sees(self, i: int, j: int) -> bool:
        i += self.past
        return (not self.causal or j <= i) and (not self.window or abs(i - j) < self.window)

    def seen(self) -> int:
        return sum(self.sees(i, j) for i in range(self.N) for j in range(self.N))

    def visited(self, Br: int, Bc: int) -> int:
        """Pairs in those tiles of Br queries and Bc keys that have one that is not masked."""
        pairs = 0
        for first_query in range(0, self.N, Br):
            for first_key in range(0, self.past + self.N, Bc):
                rows = range(first_query, min(first_query + Br, self.N))
                keys = range(first_key, min(first_key + Bc, self.past + self.N))
                if any(self.sees(i, j) for i in rows for j in keys):
                    pairs += len(rows) * len(keys)
        return pairs


ATTENTION = (  # N, d, causal
    (1, 1, False),
    (70, 8, False),
    (70, 8, True),
    (129, 40, True),
    (140, 80, True),
    (65, 128, False),
    (130, 128, True),
)


def heads(N: int) -> int:
    return 1 if N > 100 else 2


class Forms(Case):
    def check(self, program: str, options: str, expected: dict[str, Expected]) -> None:
        kernels = self.run_json(ROOT / program, options, SIM_CHECK="none")["kernels"]
        ran = {kernel["name"]: kernel for kernel in kernels}
        self.assertEqual(set(ran), set(expected), f"{program} {options}")
        for name, of in expected.items():
            self.check_kernel(f"{program} {options}: {name}", ran[name], of)

    def check_kernel(self, where: str, kernel: dict[str, Any], of: Expected) -> None:
        forms = kernel["forms"]
        counted = sum(launch["exp"] for launch in kernel["launches"])
        self.assertEqual(forms["flop"], of.flop, f"{where}: flop")
        self.assertEqual(forms["exponentials"], of.exponentials, f"{where}: exponentials")
        self.assertEqual((forms["tile_q"], forms["tile_k"]), of.tile, f"{where}: tile")
        self.assertEqual(forms["blocks"], kernel["blocks"], f"{where}: blocks")
        if of.exact:
            self.assertEqual(counted, of.exponentials, f"{where}: exponentials counted")
        else:
            self.assertGreaterEqual(counted, of.exponentials, f"{where}: exponentials counted")
        if forms["shared_bytes"] and kernel["name"] != "backward_naive":  # there they are the forward's
            self.assertEqual(forms["shared_bytes"], kernel["shared_bytes"], f"{where}: shared memory")


def sized(N: int, d: int, causal: bool) -> str:
    return f"--seq {N} --dim {d} --heads {heads(N)}{' --causal' if causal else ''}"


def streamed(shape: Shape, d: int, tile: tuple[int, int]) -> Expected:
    """Two products, each a multiplication and an addition per pair and column, and an exponential per pair."""
    pairs = heads(shape.N) * shape.visited(*tile)
    return Expected(4 * d * pairs, pairs, tile)


def compiled_tiles(d: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of a warp, and of four, as 05_fa2/README.md describes them."""
    rows, keys = 32 if d <= 64 else 16, 64 if d <= 96 else 32
    return (rows, keys), (4 * rows, keys)


class Chapters(Forms):
    def test_naive(self) -> None:
        for N, d, causal in ATTENTION:
            pairs = heads(N) * N * N  # all of them, and each exponential twice: for the sum, and for P
            self.check("01_naive/naive", sized(N, d, causal), {"naive": Expected(4 * d * pairs, 2 * pairs, exact=True)})

    def test_online_softmax(self) -> None:
        """What a score costs is counted in the kernels' text; softmax_dot has d columns of V besides."""
        for rows, cols, d in ((1, 1, 1), (5, 100, 8), (3, 257, 20)):
            scores = rows * cols
            self.check(
                "02_online_softmax/online_softmax",
                f"--rows {rows} --cols {cols} --dim {d}",
                {
                    "softmax_three_pass": Expected(5 * scores, 2 * scores, exact=True),
                    "softmax_online": Expected(8 * scores, 3 * scores),
                    "softmax_dot": Expected((7 + 2 * d) * scores, 3 * scores),
                },
            )

    def test_matmul(self) -> None:
        names = "naive coalesced tiled padded column square registers"
        for m, n, k in ((1, 1, 1), (9, 33, 7), (130, 31, 65), (64, 129, 1), (33, 257, 40), (200, 3, 129)):
            of = Expected(2 * m * n * k, 0)
            options = f"--m {m} --n {n} --k {k}"
            self.check("03_tiled_matmul/tiled_matmul", options, {f"matmul_{name}": of for name in names.split()})

    def test_fa1(self) -> None:
        """No kernel of it skips a tile."""
        for N, d, causal in ATTENTION:
            pairs = heads(N) * N * N
            fits = (48 * 1024 // 4) // (2 * d + 64)
            paper = (64, min(fits if fits < 16 else fits // 16 * 16, 128))
            row = (128, 64 if d <= 96 else 32)
            of = {"fa1_paper": paper, "fa1_row": row}
            expected = {name: Expected(4 * d * pairs, pairs, tile) for name, tile in of.items()}
            self.check("04_fa1/fa1", sized(N, d, causal), expected)

    def test_fa2(self) -> None:
        for N, d, causal in ATTENTION:
            self.check("05_fa2/fa2", sized(N, d, causal), self.fa2(Shape(N, causal), d, (128, 64 if d <= 96 else 32)))
        tiles = f"{sized(140, 16, True)} --tile-q 33 --tile-k 16"
        self.check("05_fa2/fa2", tiles, self.fa2(Shape(140, True), 16, (33, 16)))

    @staticmethod
    def fa2(shape: Shape, d: int, row: tuple[int, int]) -> dict[str, Expected]:
        warp, four = compiled_tiles(d)
        tiles = {"fa2_row": row, "fa2_tile": warp, "fa2_slab": warp, "fa2_split_q": four}
        return {name: streamed(shape, d, tile) for name, tile in tiles.items()}

    def test_backward(self) -> None:
        for N, d, causal in (*ATTENTION[:4], ATTENTION[5]):
            for given in (0, 32) if N == 129 else (0,):
                tile = given or (64 if d <= 64 else 32)
                options = f"{sized(N, d, causal)} --tile-q {given}" if given else sized(N, d, causal)
                self.check("06_backward/backward", options, self.backward(Shape(N, causal), d, tile))

    @staticmethod
    def backward(shape: Shape, d: int, tile: int) -> dict[str, Expected]:
        """Five products, and D = rowsum(dO * O); in two passes S and dP twice."""
        H, square = heads(shape.N), (tile, tile)
        pairs, seen, of_D = H * shape.visited(*square), H * shape.seen(), 2 * H * shape.N * d
        return {
            "backward_naive": Expected(10 * d * H * shape.N**2, seen, exact=True),
            "backward_split": Expected(14 * d * pairs + of_D, 2 * seen, square, exact=True),
            "backward_atomic": Expected(10 * d * pairs + of_D, seen, square, exact=True),
        }

    def test_transformer(self) -> None:
        """Queries are the last of the tokens; what an element costs is counted in the kernels' text."""
        for N, past, H, G, d, causal in (
            (1, 0, 1, 1, 1, False),
            (9, 0, 4, 2, 5, True),
            (33, 32, 4, 1, 40, True),
            (70, 80, 2, 2, 8, True),
            (17, 133, 2, 2, 111, False),
            (130, 5, 2, 1, 20, True),
        ):
            tile = (128, 64 if d <= 96 else 32)
            pairs, elements = H * Shape(N, causal, past=past).visited(*tile), N * H * d
            attention = Expected((4 * d + 4) * pairs, pairs, tile)
            expected = {
                "rms_norm": Expected(4 * elements, 0),
                "rope": Expected(3 * N * H * (d // 2 * 2), 0),  # an odd d's last column is copied
                "project": Expected(2 * elements * H * d, 0),
                "swiglu": Expected(5 * elements, elements, exact=True),
                "permuted": attention,
                "strided": attention,
            }
            options = f"--seq {N} --keys {past + N} --heads {H} --kv-heads {G} --dim {d}"
            self.check("07_transformer/transformer", f"{options} --causal" if causal else options, expected)

    def test_decode(self) -> None:
        """A query of each head sees all keys: two products, and a score's share of m, l and the weights."""
        for N, H, G, d, splits, page in (
            (1, 1, 1, 1, 1, 1),
            (5, 3, 3, 59, 9, 1),
            (113, 9, 3, 80, 7, 5),
            (200, 8, 1, 111, 13, 16),
            (65, 16, 2, 32, 2, 100),
            (97, 4, 2, 128, 3, 33),
        ):
            of = Expected(H * N * (4 * d + 4), H * N)
            options = f"--seq {N} --heads {H} --kv-heads {G} --dim {d} --splits {splits} --page {page}"
            names = "naive grouped split paged".split()
            self.check("08_decode/decode", options, {f"decode_{name}": of for name in names})

    def test_variants(self) -> None:
        """Two products in forward, four in dkdv, three in dq; the query of decode sees a window of keys."""
        for N, d, causal, window in ((70, 8, True, 20), (140, 40, False, 33), (100, 80, True, 64), (33, 128, False, 1)):
            shape, H, tile = Shape(N, causal, window), heads(N), 64 if d <= 64 else 32
            pairs, seen, last = H * shape.visited(tile, tile), H * shape.seen(), H * min(N, window)
            expected = {
                "forward": Expected(4 * d * pairs, pairs, (tile, tile)),
                "dkdv": Expected(8 * d * pairs, seen, (tile, tile), exact=True),
                "dq": Expected(6 * d * pairs, seen, (tile, tile), exact=True),
                "decode": Expected((4 * d + 4) * last, last),
            }
            self.check("09_variants/variants", f"{sized(N, d, causal)} --window {window}", expected)


if __name__ == "__main__":
    unittest.main()
