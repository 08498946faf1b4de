"""The loops: in which order blocks come to the tiles of S, and what moves. Chapters 04 and 05, and 06.

The order is that of a trace: what a block loads first, queries or keys, waits for tiles of the other. Bytes are those
that the blocks ask for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from lib.diagrams.run import Access, traced
from lib.diagrams.svg import Panel, arrow, kilobytes, pictures, rectangle, text

D, TILES = 8, 4  # head dimension; S is TILES x TILES tiles
WIDTH, SIDE, SQUARE = 280.0, 120.0, 30.0  # pixels: of a panel, of S, of a tile where a product is drawn
CLASSES = {"loaded": "r", "stored": "w", "output": "o"}  # of bytes
OF_A_ROW = {"l": "l, m", "m": "l, m", "LSE": "L", "D": "D"}  # how the table of bytes calls what has a number per row


def options(kernel: str, tile: int, tiles_given: bool = True) -> list[str]:
    """S of one head, in TILES x TILES tiles."""
    given = ["--tile-q", str(tile), "--tile-k", str(tile)] if tiles_given else []
    return ["--kernel", kernel, "--heads", "1", "--seq", str(TILES * tile), "--dim", str(D), *given]


TILE, BACKWARD_TILE = 16, 64  # queries, and keys; the backward kernels' are compiled in
FA1, FA2 = options("fa1_paper", TILE), options("fa2_row", TILE)
BACKWARD = options("backward_split", BACKWARD_TILE, tiles_given=False)

# The products of each tile.
FORWARD = ["S = Q Kᵀ", "O += P V"]
RECOMPUTED = "P = exp(S − L), dS = P ∘ (dP − D)"
DKDV, DQ = ["S = Q Kᵀ", "dP = dO Vᵀ", "dV += Pᵀ dO", "dK += dSᵀ Q"], ["S = Q Kᵀ", "dP = dO Vᵀ", "dQ += dS K"]


@dataclass(frozen=True)
class Step:
    """Tiles of S that a block computes between two of its barriers: first tile, one behind the last."""

    block: int
    queries: tuple[int, int]
    keys: tuple[int, int]


def tiles_of(access: Access, rows: int) -> tuple[int, int]:
    row = 4 * D
    return access.ranges[0][0] // row // rows, -(-access.ranges[-1][1] // row // rows)


def steps(trace: list[Access]) -> list[Step]:
    """Of one kernel."""
    rows = max(access.ranges[-1][1] for access in trace if access.tensor == "K") // (4 * D) // TILES
    found: list[Step] = []
    for block, of_block in groupby(trace, lambda access: access.block[0]):
        now: dict[str, tuple[int, int]] = {}
        waits = None
        for access in of_block:
            if access.op != "load" or access.tensor not in ("K", "Q"):
                continue
            waits = waits or access.tensor
            now[access.tensor] = tiles_of(access, rows)
            if access.tensor != waits:
                found.append(Step(block, now["Q"], now["K"]))
    return found


def moved(trace: list[Access]) -> dict[str, Counter[str]]:
    """Bytes asked for: of each tensor, loaded and stored; l and m together, and last what has a number per row."""
    bytes_of: dict[str, Counter[str]] = {name: Counter() for name in "QKV"}
    for access in trace:
        bytes_of.setdefault(OF_A_ROW.get(access.tensor, access.tensor), Counter())[access.op] += access.requested
    return dict(sorted(bytes_of.items(), key=lambda item: item[0] in OF_A_ROW.values()))


def grid(trace: list[Access], left: float, top: float) -> list[str]:
    """S in tiles; a box for each step, with its number in its block's order; the blocks beside what they own."""
    tile = SIDE / TILES
    body = [
        rectangle(left + i * tile, top + j * tile, tile, tile, class_="f") for i in range(TILES) for j in range(TILES)
    ]
    order: dict[int, list[Step]] = {}
    for step in steps(trace):
        order.setdefault(step.block, []).append(step)
        x, y = left + step.keys[0] * tile, top + step.queries[0] * tile
        height = (step.queries[1] - step.queries[0]) * tile
        body.append(rectangle(x + 3, y + 3, tile - 6, height - 6, class_="n", rx=3))
        body.append(text(x + tile / 2, y + tile / 2 + 5, str(len(order[step.block])), class_="m"))
        if height > tile:
            body.append(arrow(x + tile / 2, y + tile / 2 + 12, x + tile / 2, y + height - 10))
    for block, of_block in order.items():
        if {step.keys for step in of_block} != {of_block[0].keys}:  # a row of tiles, or all
            middle = min(step.queries[0] for step in of_block) + max(step.queries[1] for step in of_block)
            body.append(text(left - 8, top + middle / 2 * tile + 5, f"block {block}", class_="e"))
        else:
            body.append(text(left + (of_block[0].keys[0] + 0.5) * tile, top + SIDE + 18, f"{block}", class_="m"))
    if "block" not in "".join(body):
        body.append(text(left - 8, top + SIDE + 18, "block", class_="e"))
    body.append(text(left + SIDE / 2, top - 10, "keys: tiles of K and V", class_="d m"))
    for n, line in enumerate(("queries:", "tiles of Q", "numbers:", "the order in", "one block")):
        body.append(text(left + SIDE + 10, top + 14 + 17 * n + 12 * (n > 1), line, class_="d"))
    return body


def kinds(count: Counter[str]) -> dict[str, int]:
    """A tensor's bytes by kind: what is stored and never loaded is output."""
    stored = "stored" if count["load"] else "output"
    return {kind: count[op] for op, kind in (("load", "loaded"), ("store", stored)) if count[op]}


def has(trace: list[Access]) -> list[str]:
    """The kinds of bytes that a trace has."""
    found = {kind for count in moved(trace).values() for kind in kinds(count)}
    return [kind for kind in CLASSES if kind in found]


def bars(trace: list[Access], top: float, most: int) -> list[str]:
    """Bytes by tensor, kind behind kind."""
    body, room = [], WIDTH - 104
    for n, (tensor, count) in enumerate(moved(trace).items()):
        x, y = 42.0, top + 24 * n
        body.append(text(34, y + 13, tensor, class_="e"))
        for kind, of_kind in kinds(count).items():
            body.append(rectangle(x, y + 1, room * of_kind / most, 15, class_=CLASSES[kind]))
            x += room * of_kind / most
        body.append(text(x + 6, y + 13, kilobytes(sum(count.values())), class_="d"))
    return body


def shape(name: str) -> tuple[float, float, str]:
    """Width, height and class of a matrix: a tile of S, P, dS or dP, or rows of d numbers, maybe transposed."""
    matrix = name.removesuffix("ᵀ")
    if matrix in ("S", "P", "dS", "dP"):
        return SQUARE, SQUARE, "f"
    high = (SQUARE / 3, SQUARE)
    return *(high if matrix == name else high[::-1]), "i"


def product(formula: str, left: float, top: float) -> list[str]:
    """C = A B, in words and in shapes: inputs blue, sums green, squares what stays on the chip."""
    result, sign, first, second = formula.split()
    body, x, middle = [text(left, top, formula)], left, top + 14 + SQUARE / 2
    for name, after_sign in ((result, False), (first, True), (second, False)):
        width, height, class_ = shape(name)
        if after_sign:
            room = 14.0 + 6 * len(sign)
            body.append(text(x + room / 2 - 2, middle + 5, sign, class_="m"))
            x += room
        drawn = "o" if name == result and sign == "+=" else class_
        body.append(rectangle(x, middle - height / 2, width, height, class_=drawn))
        x += width + 5
    return body


def panel(title: str, subtitle: str, products: list[str], trace: list[Access], most: int) -> Panel:
    body = [text(0, 18, title, class_="t"), text(0, 42, subtitle, class_="d"), *grid(trace, 66, 82)]
    body.append(text(0, 242, "Per tile; the squares stay on the chip:", class_="d"))
    for n, formula in enumerate(products):
        body += product(formula, WIDTH / 2 * (n % 2), 266 + 66 * (n // 2))
    top = 266 + 66 * -(-len(products) // 2)
    if "D" in moved(trace):
        body += [text(0, top, RECOMPUTED), text(0, top + 20, "L: log-sum-exp of a row; D: dO · O of a row", class_="d")]
        top += 54
    body.append(text(0, top, f"asked of global memory: {kilobytes(asked(trace))}"))
    for n, kind in enumerate(has(trace)):
        body += [
            rectangle(80 * n, top + 12, 12, 12, class_=CLASSES[kind]),
            text(80 * n + 18, top + 23, kind, class_="d"),
        ]
    return Panel(WIDTH, top + 36 + 24 * len(moved(trace)), body + bars(trace, top + 36, most))


def picture(title: str, tile: int, sides: list[tuple[str, str, list[str], list[Access]]]) -> dict[str, str]:
    """A panel for each side: its title, its subtitle, what is computed of a tile, its trace. `tile`: its queries."""
    most = max(sum(count.values()) for *_, trace in sides for count in moved(trace).values())
    description = (
        f"S of one head in {TILES} by {TILES} tiles, d = {D}. Numbers say in which order a block comes to its tiles. "
        "Bars: the bytes that the blocks ask of global memory, by tensor."
    )
    again = " orange: stored and loaded again;" if any("stored" in has(trace) for *_, trace in sides) else ""
    key = (
        f"One head, N = {TILES * tile}, d = {D}. Blue: loaded, faint in a product;{again} green: output; "
        "gray: a tile of S. Bars and headline: all tensors, with those of a number per row."
    )
    return pictures([panel(*side, most) for side in sides], title, description, key)


def asked(trace: list[Access]) -> int:
    return sum(access.requested for access in trace)


def draw_forward(root: Path) -> dict[str, str]:
    """Chapters 04 and 05. Raises RunError."""
    fa1, fa2 = traced(root / "04_fa1/fa1", FA1), traced(root / "05_fa2/fa2", FA2)
    less = 100 * (1 - asked(fa2) / asked(fa1))
    return picture(
        f"Down the queries or along the keys: FlashAttention-2 swaps the loops and asks for {less:.0f} % fewer bytes",
        TILE,
        [
            ("FlashAttention-1", "outer loop: keys; O, l and m come and go", FORWARD, fa1),
            ("FlashAttention-2", "outer loop: the grid; O, l and m stay", FORWARD, fa2),
        ],
    )


def draw_backward(root: Path) -> dict[str, str]:
    """Chapter 06: the two kernels that recompute P. Raises RunError."""
    trace = traced(root / "06_backward/backward", BACKWARD)
    dkdv, dq = ([access for access in trace if access.kernel == name] for name in ("backward_dkdv", "backward_dq"))
    return picture(
        "Two kernels recompute P: down the queries for dK and dV, along the keys for dQ, "
        f"{kilobytes(asked(dkdv) + asked(dq))} in all",
        BACKWARD_TILE,
        [
            ("dK and dV", "a block owns a tile of keys; P is recomputed", DKDV, dkdv),
            ("dQ", "a block owns a tile of queries; P again", DQ, dq),
        ],
    )
