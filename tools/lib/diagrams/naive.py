"""Chapter 01: what the three kernels take from HBM and put back, to scale, from the footprints of a run."""

from __future__ import annotations

from pathlib import Path

from lib.diagrams.run import counted
from lib.diagrams.svg import Panel, arrow, pictures, rectangle, text

N, D = 256, 64
PIXELS = 80.0 / N  # of an element
WIDTH, HEIGHT = 240.0, 236.0
KEY = f"N = {N}, d = {D}. Blue: read; orange: stored for the next kernel; green: output."
WORDS = {
    "scores": ("scores", f"S = Q Kᵀ / √d; N = {N}, d = {D}"),
    "softmax_rows": ("softmax_rows", "P = softmax S, by rows"),
    "weighted_sum": ("weighted_sum", "O = P V"),
}


def megabytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1000:.0f} kB"


def matrix(tensor: dict[str, object], x: float, top: float, class_: str) -> tuple[list[str], float]:
    """Its rectangle with name and bytes, and its width."""
    bytes_of = max(tensor["footprint"].values())
    width = bytes_of / 4 / N * PIXELS
    middle = x + width / 2
    return [
        rectangle(x, top, width, N * PIXELS, class_=class_),
        text(middle, top - 6, tensor["name"], class_="m"),
    ], width


def panel(launch: dict[str, object]) -> Panel:
    name, formula = WORDS[launch["kernel"]]
    read = [tensor for tensor in launch["tensors"] if tensor["footprint"]["read_bytes"]]
    written = [tensor for tensor in launch["tensors"] if tensor["footprint"]["write_bytes"]]
    body = [rectangle(0, 0, WIDTH, 124, class_="f", rx=6), text(10, 18, "HBM", class_="d")]
    x = 38.0
    stored = "o" if written[0]["name"] == "O" else "w"
    for tensors, kind, class_ in ((read, "read_bytes", "r"), (written, "write_bytes", stored)):
        first = x
        for tensor in tensors:
            shapes, width = matrix(tensor, x, 30, class_)
            body += shapes
            x += width + 14
        middle = (first + x - 14) / 2
        count = sum(tensor["footprint"][kind] for tensor in tensors)
        down = kind == "read_bytes"
        side = -8 if down and middle > 70 else 8  # of the arrow: words stand on the outer one
        body.append(arrow(middle, 130, middle, 174) if down else arrow(middle, 174, middle, 130))
        body.append(text(middle + side, 157, megabytes(count), class_="d" if side > 0 else "d e"))
        x += 16
    body += [
        rectangle(0, 180, WIDTH, 56, class_="f", rx=6),
        text(10, 202, name, class_="t"),
        text(10, 224, formula),
    ]
    return Panel(WIDTH, HEIGHT, body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    run = counted(root / "01_naive/naive", ["--seq", str(N), "--dim", str(D)])
    tensors = [tensor for launch in run["launches"] for tensor in launch["tensors"]]
    moved = sum(sum(tensor["footprint"].values()) for tensor in tensors)
    between = sum(sum(tensor["footprint"].values()) for tensor in tensors if tensor["name"] in "SP")
    title = f"{100 * between / moved:.0f} % of what the three kernels move is S and P, which only they see"
    description = (
        f"One head, N = {N}, d = {D}. Each kernel with the matrices that it reads (blue), stores for "
        f"the next one (orange) and puts out (green), drawn to scale: the distinct bytes that a launch touches, "
        f"{megabytes(moved)} in all."
    )
    return pictures([panel(launch) for launch in run["launches"]], title, description, KEY)
