"""What a kernel moves of each tensor, and what floors and limits are computed from, counted again: FLOP, exponentials,
blocks, tiles and shared memory of each kernel's closed forms (JSON's "forms").

Pairs of a query and a key are counted here one by one, in the tiles that a kernel visits. Blocks, shared memory and,
where a kernel has no corrections, exponentials are those that the device has counted.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from case import ROOT, Case, moved

LONG = bool(os.environ.get("LONG"))


class Expected(NamedTuple):
    flop: float
    exponentials: float  # at least; all, where `exact`
    tile: tuple[int, int] = (0, 0)
    exact: bool = False
    moved: Mapping[str, tuple[int, int]] | None = None  # elements that are read and written, of all tensors


class Shape(NamedTuple):
    """Attention; sees(i, j): is key j not masked from query i?"""

    N: int
    causal: bool
    window: int = 0
    past: int = 0  # tokens whose keys come first, and which have no query
    heads: int = 1  # of all batches

    def sees(self, i: int, j: int) -> bool:
        i += self.past
        return (not self.causal or j <= i) and (not self.window or abs(i - j) < self.window)

    def seen(self) -> int:
        return sum(self.sees(i, j) for i in range(self.N) for j in range(self.N))

    def tiles(self, Br: int, Bc: int) -> Iterator[tuple[int, int]]:
        """Queries and keys of each tile that has a pair which is not masked."""
        M = self.past + self.N
        for first_query in range(0, self.N, Br):
            queries = range(first_query, min(first_query + Br, self.N))
            for first_key in range(0, M, Bc):
                keys = range(first_key, min(first_key + Bc, M))
                if any(self.sees(i, j) for i in queries for j in keys):
                    yield len(queries), len(keys)

    def visited(self, Br: int, Bc: int) -> int:
        """Pairs in those tiles."""
        return sum(queries * keys for queries, keys in self.tiles(Br, Bc))

    def queries_streamed(self, Br: int, Bc: int) -> int:
        """Past blocks that own the keys of a tile."""
        return sum(queries for queries, _ in self.tiles(Br, Bc))

    def keys_streamed(self, Br: int, Bc: int) -> int:
        """Past blocks that own the queries of a tile."""
        return sum(keys for _, keys in self.tiles(Br, Bc))


ATTENTION = (  # N, d, causal
    (1, 1, False),
    (70, 8, False),
    (70, 8, True),
    (129, 40, True),
    (140, 80, True),
    (65, 128, False),
    (130, 128, True),
)


TILED = (  # B, H, N, d, Br, Bc, causal
    (1, 1, 1, 1, 16, 16, False),
    (1, 1, 1, 128, 1, 1, True),
    (1, 2, 2, 8, 32, 64, True),
    (2, 3, 33, 40, 16, 8, False),
    (2, 1, 33, 40, 16, 8, True),
    (1, 1, 97, 59, 100, 13, False),
    (1, 1, 97, 59, 13, 100, True),
    (1, 1, 128, 64, 64, 32, True),
    (1, 1, 200, 80, 48, 40, True),
    (1, 3, 65, 31, 7, 11, False),
    (1, 1, 257, 31, 11, 7, True),
    (1, 1, 130, 111, 17, 31, True),
    (1, 1, 70, 128, 64, 48, False),
    (1, 1, 300, 8, 256, 5, True),
)


TRANSFORMER = (  # N, M, H, G, d, Br, Bc (0: the default), causal
    (1, 1, 1, 1, 1, 0, 0, False),
    (1, 113, 9, 3, 8, 0, 0, True),
    (1, 200, 2, 1, 59, 0, 0, False),
    (2, 2, 4, 1, 8, 0, 0, True),
    (2, 97, 1, 1, 80, 0, 0, True),
    (9, 9, 4, 2, 5, 0, 0, True),
    (17, 150, 2, 2, 111, 0, 0, False),
    (31, 63, 4, 1, 20, 0, 0, False),
    (32, 33, 9, 3, 8, 0, 0, True),
    (63, 65, 2, 2, 8, 0, 0, True),
    (64, 128, 1, 1, 32, 0, 0, True),
    (31, 33, 1, 1, 128, 0, 0, False),
    (70, 150, 2, 2, 8, 0, 0, True),
    (130, 135, 2, 1, 20, 0, 0, True),
    (17, 128, 1, 1, 96, 0, 0, True),
    (50, 61, 3, 3, 37, 24, 20, False),
    (65, 90, 2, 1, 20, 16, 24, True),
    (29, 140, 2, 2, 16, 33, 16, True),
    (129, 129, 1, 1, 8, 31, 32, True),
    (17, 20, 2, 1, 33, 1, 1, True),
    (20, 140, 1, 1, 40, 256, 90, True),
)


DECODE = (  # N, H, G, d, splits, page; groups of 1, 3, 8 and 32, more splits than tokens or than a warp has lanes
    (1, 1, 1, 1, 1, 1),
    (1, 9, 3, 64, 44, 16),
    (2, 2, 1, 8, 70, 1),
    (31, 3, 3, 40, 33, 7),
    (33, 4, 4, 59, 5, 3),
    (97, 9, 3, 80, 7, 5),
    (113, 8, 1, 80, 13, 16),
    (65, 32, 1, 20, 3, 10),
    (128, 16, 2, 32, 4, 32),
    (200, 6, 2, 111, 9, 1),
    (257, 2, 2, 128, 64, 100),
    (63, 3, 1, 96, 2, 1000),
    (1024, 9, 3, 64, 44, 16),
)


VARIANTS = (  # lengths, packed, H, G, d, window, tile (0: the default), causal, sink, splits
    ((70,), False, 2, 2, 8, 20, 0, True, False, 7),
    ((100,), False, 1, 1, 64, 1, 0, False, False, 3),
    ((100,), False, 2, 2, 33, 40, 0, True, False, 5),
    ((97,), False, 2, 1, 40, 65, 0, False, False, 44),
    ((70,), False, 4, 2, 111, 33, 0, True, True, 7),
    ((70,), False, 3, 1, 128, 0, 0, True, True, 80),
    ((1,), False, 1, 1, 1, 1, 0, True, True, 1),
    ((97,), False, 2, 2, 16, 40, 32, True, False, 3),
    ((140,), False, 1, 1, 8, 64, 0, False, False, 13),
    ((3, 17, 70), True, 2, 1, 40, 0, 0, False, True, 5),
    ((32, 65, 1, 33), True, 2, 2, 80, 20, 0, True, False, 9),
    ((70,), True, 1, 1, 16, 0, 32, True, True, 2),
    ((3, 17, 70), True, 6, 2, 16, 0, 32, True, True, 5),
    ((9, 34), True, 32, 1, 20, 7, 64, False, True, 2),
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
        if of.moved:
            expected = {name: both for name, both in of.moved.items() if both != (0, 0)}
            self.assertEqual(moved(kernel), expected, where)


def sized(N: int, d: int, causal: bool) -> str:
    return f"--seq {N} --dim {d} --heads {heads(N)}{' --causal' if causal else ''}"


def attention_shapes() -> Iterator[tuple[Shape, int, tuple[int, int] | None, str]]:
    """Of chapters 04 and 05: a shape, d, the tile that is asked for, and the options."""
    for N, d, causal in ATTENTION:
        yield Shape(N, causal, heads=heads(N)), d, None, sized(N, d, causal)
    for B, H, N, d, Br, Bc, causal in TILED:
        options = f"--batch {B} --heads {H} --seq {N} --dim {d} --tile-q {Br} --tile-k {Bc}"
        yield Shape(N, causal, heads=B * H), d, (Br, Bc), options + " --causal" * causal


def streamed(shape: Shape, d: int, tile: tuple[int, int]) -> Expected:
    """Two products, each a multiplication and an addition per pair and column, and an exponential per pair. A tile of
    queries loads the tiles of keys of which it sees any."""
    H, Br, Bc = shape.heads, *tile
    pairs, Nd = H * shape.visited(Br, Bc), H * shape.N * d
    loaded = d * H * shape.keys_streamed(Br, Bc)
    moved = {"Q": (Nd, 0), "K": (loaded, 0), "V": (loaded, 0), "O": (0, Nd), "LSE": (0, H * shape.N)}
    return Expected(4 * d * pairs, pairs, tile, moved=moved)


def compiled_tiles(d: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of a warp, and of four, as 05_fa2/README.md describes them."""
    rows, keys = 32 if d <= 64 else 16, 64 if d <= 96 else 32
    return (rows, keys), (4 * rows, keys)


def sectors(first: int, end: int) -> int:
    """Of the floats first ... end - 1 of a tensor that begins at a sector."""
    return (end - 1) // 8 - first // 8 + 1


def along_rows(R: int, C: int) -> tuple[int, int]:
    """Requests and sectors of runs of 32 that do not cross the end of a row."""
    runs = [(row * C + c, row * C + min(c + 32, C)) for row in range(R) for c in range(0, C, 32)]
    return len(runs), sum(sectors(*run) for run in runs)


def down_columns(R: int, C: int) -> tuple[int, int]:
    """Of the warps of a grid that is counted down the columns."""
    places = [row * C + column for column in range(C) for row in range(R)]
    warps = [places[first : first + 32] for first in range(0, R * C, 32)]
    return len(warps), sum(len({place // 8 for place in warp}) for warp in warps)


class Gpu(Case):
    """Chapter 00: every count of every kernel, worked out here once more."""

    def asked(self, R: int, C: int) -> dict[str, tuple[tuple[int, int], ...]]:
        """Global loads and stores, requests and sectors; shared ones, requests and wavefronts; barriers."""
        RC, quarters, rest, none = R * C, R * C // 4, R * C % 4, (0, 0)
        whole = (-(-RC // 32), -(-RC // 8))
        wide = (-(-quarters // 32) + rest, -(-quarters // 2) + rest)
        rows, columns = R * -(-C // 32), C * -(-R // 32)
        tiles, across = -(-R // 32) * -(-C // 32), (along_rows(R, C), along_rows(C, R))
        # of sum, the warps of eight levels: 4 2 1 1 1 1 1 1, two loads and a store each; before them 8 stores
        return {
            "who_am_i": (none, (5 * whole[0], 5 * whole[1]), none, none, (0, 0)),
            "copy": (whole, whole, none, none, (0, 0)),
            "copy_strided": (down_columns(R, C), down_columns(R, C), none, none, (0, 0)),
            "copy_float4": (wide, wide, none, none, (0, 0)),
            "transpose": (*across, (columns, RC), (rows, rows), (tiles, 0)),
            "transpose_padded": (*across, (columns, columns), (rows, rows), (tiles, 0)),
            "sum": (across[0], (R, R), (25 * R, 25 * R), (20 * R, 20 * R), (8 * R, 0)),
            "sum_shuffle": (across[0], (R, R), (7 * R, 7 * R), (8 * R, 8 * R), (R, 0)),
        }

    def test_every_count(self) -> None:
        extents = (1, 2, 3, 7, 8, 17, 29, 31, 32, 33, 63, 64, 65, 97, 113, 128, 255, 256, 257)
        every = enumerate(itertools.product(extents, extents))
        for R, C in (shape for at, shape in every if LONG or at % 7 == 3):
            result = self.run_json(ROOT / "00_gpu/gpu", f"--rows {R} --cols {C}", SIM_CHECK="none")
            kernels = {kernel["name"]: kernel for kernel in result["kernels"]}
            for name, expected in self.asked(R, C).items():
                where, (launch,) = f"{R} x {C}: {name}", kernels[name]["launches"]
                memories = [launch["global"][op] for op in ("load", "store")]
                memories += [launch["shared"][op] for op in ("load", "store")]
                counted = [(each["requests"], each.get("sectors", each.get("wavefronts"))) for each in memories]
                self.assertEqual((*counted, (launch["barriers"], 0)), expected, where)
                written = {"y": (0, R if name.startswith("sum") else R * C), "x": (R * C, 0)}
                if name == "who_am_i":
                    written = dict.fromkeys(("grid", "block", "thread", "warp", "lane"), (0, R * C))
                self.assertEqual(moved(kernels[name]), written, where)
                footprint = kernels[name]["hbm"]["footprint"]
                elements = sum(map(sum, written.values()))
                self.assertEqual(footprint["read_bytes"] + footprint["write_bytes"], 4 * elements, where)
                self.assertEqual(kernels[name]["model"]["elements"], elements, where)


class Chapters(Forms):
    def test_naive(self) -> None:
        for N, d, causal in ATTENTION:
            pairs = heads(N) * N * N  # all of them, and each exponential twice: for the sum, and for P
            self.check("01_naive/naive", sized(N, d, causal), {"naive": Expected(4 * d * pairs, 2 * pairs, exact=True)})

    def test_online_softmax(self) -> None:
        """What a score costs is counted in the kernels' text; softmax_dot has d columns of V besides."""
        for rows, cols, d in itertools.product((1, 3, 17, 65), (1, 2, 31, 33, 100, 257), (8, 59)):
            scores, statistics = rows * cols, {"m": (0, rows), "l": (0, rows)}
            online = {"x": (2 * scores, 0), "y": (0, scores)}
            dot = {"x": (scores, 0), "V": (scores * d, 0), "y": (0, rows * d)}
            self.check(
                "02_online_softmax/online_softmax",
                f"--rows {rows} --cols {cols} --dim {d} --block 100",
                {
                    "softmax_three_pass": Expected(
                        5 * scores, 2 * scores, exact=True, moved={**online, "x": (3 * scores, 0), **statistics}
                    ),
                    "softmax_online": Expected(8 * scores, 3 * scores, moved=online | statistics),
                    "softmax_dot": Expected((7 + 2 * d) * scores, 3 * scores, moved=dot | statistics),
                },
            )

    def test_matmul(self) -> None:
        """A is read for each tile of columns, B for each tile of rows; without tiles for each element of C."""
        of_tile = {"naive": 1, "coalesced": 1, "tiled": 32, "padded": 32, "column": 32, "square": 128, "registers": 128}
        for m, n, k in itertools.product((1, 33, 130), (17, 64, 129), (1, 65)):
            expected = {}
            for name, tile in of_tile.items():
                a, b = m * k * -(-n // tile), k * n * -(-m // tile)
                moved = {"A": (a, 0), "B": (b, 0), "C": (0, m * n)}
                expected[f"matmul_{name}"] = Expected(2 * m * n * k, 0, moved=moved)
            self.check("03_tiled_matmul/tiled_matmul", f"--m {m} --n {n} --k {k}", expected)

    def test_fa1(self) -> None:
        """No kernel of it skips a tile."""
        for shape, d, tiles, options in attention_shapes():
            pairs, Nd, rows = shape.heads * shape.N**2, shape.heads * shape.N * d, shape.heads * shape.N
            fits = (48 * 1024 // 4) // (2 * d + 64)
            paper = tiles or (64, min(fits if fits < 16 else fits // 16 * 16, 128))
            row = tiles or (128, 64 if d <= 96 else 32)
            Tc, Tr = -(-shape.N // paper[1]), -(-shape.N // row[0])
            # Algorithm 1: Q, O, l and m with each tile of keys; the first visit only writes
            statistics = ((Tc - 1) * rows, Tc * rows)
            by_paper = {"Q": (Tc * Nd, 0), "K": (Nd, 0), "V": (Nd, 0), "O": ((Tc - 1) * Nd, Tc * Nd)}
            by_paper |= {"l": statistics, "m": statistics}
            by_row = {"Q": (Nd, 0), "K": (Tr * Nd, 0), "V": (Tr * Nd, 0), "O": (0, Nd), "LSE": (0, rows)}
            expected = {
                "fa1_paper": Expected(4 * d * pairs, pairs, paper, moved=by_paper),
                "fa1_row": Expected(4 * d * pairs, pairs, row, moved=by_row),
            }
            self.check("04_fa1/fa1", options, expected)

    def test_fa2(self) -> None:
        for shape, d, tiles, options in attention_shapes():
            warp, four = compiled_tiles(d)
            row = tiles or (128, 64 if d <= 96 else 32)
            of = {"fa2_row": row, "fa2_tile": warp, "fa2_slab": warp, "fa2_split_q": four}
            expected = {name: streamed(shape, d, tile) for name, tile in of.items()}
            self.check("05_fa2/fa2", options, expected)

    def test_backward(self) -> None:
        for N, d, causal in (*ATTENTION[:4], ATTENTION[5]):
            for given in (0, 32) if N == 129 else (0,):
                tile = given or (64 if d <= 64 else 32)
                options = f"{sized(N, d, causal)} --tile-q {given}" if given else sized(N, d, causal)
                self.check("06_backward/backward", options, self.backward(Shape(N, causal), d, tile))

    @staticmethod
    def backward(shape: Shape, d: int, tile: int) -> dict[str, Expected]:
        """Five products, and D = rowsum(dO * O); in two passes S and dP twice. A block owns a tile of keys and streams
        R queries past it, or a tile of queries and streams K keys."""
        H, N, square = heads(shape.N), shape.N, (tile, tile)
        pairs, seen, Nd = H * shape.visited(*square), H * shape.seen(), H * N * d
        of_D, NN, NNd = 2 * Nd, H * N * N, H * N * N * d
        K, R = H * shape.keys_streamed(*square), H * shape.queries_streamed(*square)
        out = {"dQ": (0, Nd), "dK": (0, Nd), "dV": (0, Nd)}
        naive = {"Q": (2 * NNd, 0), "K": (2 * NNd, 0), "V": (NNd, 0), "dO": (2 * NNd, 0), "LSE": (NN, 0)}
        naive |= {"P": (NNd + 2 * NN, NN), "dP": (2 * NN, NN), "dS": (2 * NNd, NN), **out}
        split = {"Q": (R * d + Nd, 0), "K": (Nd + K * d, 0), "V": (Nd + K * d, 0), "dO": (2 * Nd + R * d, 0)}
        split |= {"O": (Nd, 0), "LSE": (R + H * N, 0), "D": (R + H * N, H * N), **out}
        atomic = {"Q": (R * d, 0), "K": (Nd, 0), "V": (Nd, 0), "dO": (Nd + R * d, 0), "O": (Nd, 0)}
        atomic |= {"LSE": (R, 0), "D": (R, H * N), **out, "dQ": (R * d, R * d)}
        return {
            "backward_naive": Expected(10 * d * NN, seen, exact=True, moved=naive),
            "backward_split": Expected(14 * d * pairs + of_D, 2 * seen, square, exact=True, moved=split),
            "backward_atomic": Expected(10 * d * pairs + of_D, seen, square, exact=True, moved=atomic),
        }

    def test_transformer(self) -> None:
        """Queries are the last of the tokens; what an element costs is counted in the kernels' text."""
        for N, M, H, G, d, Br, Bc, causal in TRANSFORMER:
            tile = (Br or 128, Bc or (64 if d <= 96 else 32))
            shape = Shape(N, causal, past=M - N, heads=H)
            pairs, elements, past = H * shape.visited(*tile), N * H * d, M * G * d
            one = {name: (elements, 0) for name in ("x", "weight", "angles", "W", "residual", "gate", "up", "Q")}
            written = {name: (0, elements) for name in ("normed", "rotated", "projected", "gated", "O")}
            both = {"Q of heads": (elements, elements), "O of heads": (elements, elements)}
            strided = streamed(shape, d, tile).moved
            loaded = strided["K"][0]
            copies = {"K": (past, 0), "V": (past, 0), "K of heads": (loaded, past), "V of heads": (loaded, past)}
            blocks = -(-H * d // (32 if N * -(-H * d // 32) >= 132 else 4))  # of one token: for all SMs of an H100
            turned = N * H * (d // 2 * 2)  # an odd d's last column is copied
            moved = {
                "rms_norm": {"x": (2 * elements, 0), "weight": one["weight"], "normed": written["normed"]},
                "rope": {"x": one["x"], "angles": (turned, 0), "rotated": written["rotated"]},
                "project": {
                    "x": (blocks * elements, 0),
                    "W": (elements * H * d, 0),
                    "residual": one["residual"],
                    "projected": written["projected"],
                },
                "swiglu": {"gate": one["gate"], "up": one["up"], "gated": written["gated"]},
                "permuted": {"Q": one["Q"], "O": written["O"], **both, **copies},
                "strided": {name: strided[name] for name in "QKVO"},
            }
            attention = Expected((4 * d + 4) * pairs, pairs, tile)
            expected = {
                "rms_norm": Expected(4 * elements, 0),
                "rope": Expected(3 * turned, 0),
                "project": Expected(2 * elements * H * d, 0),
                "swiglu": Expected(5 * elements, elements, exact=True),
                "permuted": attention,
                "strided": attention,
            }
            expected = {name: of._replace(moved=moved[name]) for name, of in expected.items()}
            options = f"--seq {N} --keys {M} --heads {H} --kv-heads {G} --dim {d}" + " --causal" * causal
            tiles = f" --tile-q {Br} --tile-k {Bc}" if Br else ""
            self.check("07_transformer/transformer", options + tiles, expected)

    def test_decode(self) -> None:
        """A query of each head sees all keys: two products, and a score's share of m, l and the weights. A split reads
        a word of the table for its first key and for each page that it begins."""
        for N, H, G, d, S, page in DECODE:
            Hd, cache, partial = H * d, N * G * d, (S * H, S * H)
            splits = [range(split * N // S, (split + 1) * N // S) for split in range(S)]
            words = sum(key == keys[0] or key % page == 0 for keys in splits for key in keys)
            once = {"Q": (Hd, 0), "K": (cache, 0), "V": (cache, 0), "O": (0, Hd)}
            split = {"Q": (S * Hd, 0), "O of splits": (S * Hd, S * Hd), "O": (0, Hd)}
            split |= {"m of splits": partial, "l of splits": partial}
            moved = {
                "naive": {**once, "K": (N * Hd, 0), "V": (N * Hd, 0)},
                "grouped": once,
                "split": {**split, "K": (cache, 0), "V": (cache, 0)},
                "paged": {**split, "K pages": (cache, 0), "V pages": (cache, 0), "table": (G * words, 0)},
            }
            of = Expected(H * N * (4 * d + 4), H * N)
            options = f"--seq {N} --heads {H} --kv-heads {G} --dim {d} --splits {S} --page {page}"
            expected = {f"decode_{name}": of._replace(moved=tensors) for name, tensors in moved.items()}
            self.check("08_decode/decode", options, expected)

    def test_variants(self) -> None:
        """Two products in forward, four in dkdv, three in dq; the query of decode sees a window of keys. Each tile
        reads its sink, and each thread of a packed problem where its sequence starts."""
        for lengths, packed, H, G, d, W, tile, causal, sink, S in VARIANTS:
            tile = tile or (64 if d <= 64 else 32)
            square, shapes = (tile, tile), [Shape(N, causal, W) for N in lengths]
            pairs = H * sum(shape.visited(*square) for shape in shapes)
            seen, last = H * sum(shape.seen() for shape in shapes), sum(min(N, W or N) for N in lengths)
            N, z, tiles = sum(lengths), len(lengths), sum(-(-N // tile) for N in lengths)
            blocks, threads = z * -(-max(lengths) // tile), 2 * tile
            K = sum(shape.keys_streamed(*square) for shape in shapes)
            R = sum(shape.queries_streamed(*square) for shape in shapes)
            own, other, rows = (H * N * d, 0), (H * K * d, 0), H * N
            forward = {"Q": own, "K": other, "V": other, "O": own[::-1], "LSE": (0, rows)}
            forward |= {"sink": (threads * H * tiles * sink, 0), "starts": (2 * threads * H * blocks * packed, 0)}
            stream, keys = (H * R * d, 0), (G * N * d, 0)
            dkdv = {"Q": stream, "dO": stream, "LSE": (H * R, 0), "D": (H * R, 0), "K": keys, "V": keys}
            dkdv |= {"dK": keys[::-1], "dV": keys[::-1], "starts": (2 * threads * G * blocks * packed, 0)}
            dq = {"Q": own, "dO": own, "K": other, "V": other, "dQ": own[::-1], "LSE": (rows * (1 + sink), 0)}
            dq |= {"D": dq["LSE"], "sink": (32 * H * sink, 0), "dsink": (0, H * sink)}
            dq |= {"starts": forward["starts"]}
            cache, partial, Hd = (last * G * d, 0), (S * z * H, S * z * H), z * H * d
            decode = {"Q": (S * Hd, 0), "K": cache, "V": cache, "O of splits": (S * Hd, S * Hd), "O": (0, Hd)}
            decode |= {"m of splits": partial, "l of splits": partial, "sink": (32 * z * H * sink, 0)}
            decode |= {"starts": (2 * 32 * z * H * S * packed, 0)}
            expected = {
                "forward": Expected(4 * d * pairs, pairs, square, moved=forward),
                "dkdv": Expected(8 * d * pairs, seen, square, moved=dkdv),
                "dq": Expected(6 * d * pairs, seen, square, moved=dq),
                "decode": Expected((4 * d + 4) * H * last, H * last, moved=decode),
            }
            for name in ("dkdv", "dq"):
                expected[name] = expected[name]._replace(exact=not sink)
            sizes = f"--lengths {','.join(map(str, lengths))}" if packed else f"--seq {N}"
            options = f"{sizes} --heads {H} --kv-heads {G} --dim {d} --splits {S} --tile-q {tile}"
            options += f" --window {W}" * bool(W) + " --causal" * causal + " --sink" * sink
            self.check("09_variants/variants", options, expected)
