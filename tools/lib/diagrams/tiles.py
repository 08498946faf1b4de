"""Chapter 03: what one block of each matrix product loads for its part of C, and how often it uses it."""

from __future__ import annotations

from pathlib import Path

from lib.diagrams.run import Access, Box, box, counted, traced
from lib.diagrams.svg import Panel, part, pictures, rectangle, text

N = 256  # of all three matrices
KERNELS = (
    ("matmul_coalesced", "no tiles: each thread reads", "a row of A and a column of B"),
    ("matmul_tiled", "tiles pass through", "shared memory"),
    ("matmul_registers", "larger tiles, and a thread's", "8 × 8 of C in registers"),
)
WIDTH, SIDE = 240.0, 104.0  # pixels: of a panel, of a matrix
KEY = f"{N} by {N}. Blue: read by one block, its first tiles full and those that follow faint; green: output."


def of_a_block(trace: list[Access]) -> dict[str, list[Box]]:
    """What the last block loads, a box for each time between two barriers, and what it stores."""
    block = trace[-1].block
    boxes: dict[str, list[Box]] = {}
    for access in trace:
        if access.block == block:
            boxes.setdefault(access.tensor, []).append(box(access, N))
    return boxes


def panel(name: str, words: tuple[str, str], boxes: dict[str, list[Box]], uses: float) -> Panel:
    places = {"B": (SIDE + 22, 34.0), "A": (8.0, SIDE + 48), "C": (SIDE + 22, SIDE + 48)}
    body = [text(0, 18, name, class_="t")]
    for matrix, (x, y) in places.items():
        body += [rectangle(x, y, SIDE, SIDE, class_="f")]
        for n, at in enumerate(boxes[matrix]):
            body.append(part(at, x, y, SIDE / N, "o" if matrix == "C" else "r" if n == 0 else "i"))
        body.append(text(x + 6, y + 16, matrix))
    bottom = 2 * SIDE + 74
    body += [text(0, bottom + n * 20, line, class_="d") for n, line in enumerate(words)]
    pairs = len(boxes["A"])
    body.append(text(0, bottom + 44, f"{pairs} pairs of tiles" if pairs > 1 else "no tile is kept"))
    body.append(text(0, bottom + 66, f"{uses:.3g} FMA per number loaded"))
    return Panel(WIDTH, bottom + 76, body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    program, size = root / "03_tiled_matmul/tiled_matmul", ["--m", str(N), "--n", str(N), "--k", str(N)]
    panels, all_uses = [], []
    for name, *words in KERNELS:
        options = ["--kernel", name, *size]
        loaded = counted(program, options)["hbm"]["requested"]["read_bytes"] / 4
        all_uses.append(N**3 / loaded)
        boxes = of_a_block(traced(program, options))
        panels.append(panel(name.removeprefix("matmul_"), tuple(words), boxes, all_uses[-1]))
    title = f"With register tiles there are {all_uses[-1]:.3g} multiplications per number loaded"
    description = (
        f"C = A B, {N} by {N}, three kernels. In each: the part of C that one block computes (green), and what the "
        "block loads of A and B for it: the first tiles full blue, those that follow faint."
    )
    return pictures(panels, title, description, KEY)
