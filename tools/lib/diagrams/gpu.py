"""Chapter 00: a launch, where its blocks run, and what one request of a warp brings, from runs of its kernels."""

from __future__ import annotations

from pathlib import Path

from lib import table
from lib.diagrams.run import Access, box, counted, traced
from lib.diagrams.svg import Panel, arrow, element, number, part, pictures, rectangle, text

SIDE = 128  # rows and columns of x
GPU = "h100"
TRANSPOSE = ["--kernel", "transpose", "--rows", str(SIDE), "--cols", str(SIDE), "--gpu", GPU]
COPIES = ("copy", "copy_strided")
BLOCK = (2, 1, 0)  # the one that is followed
WIDTH, HEIGHT = 240.0, 392.0
KEY = (
    "Blue: asked for; faint blue: read with it; green: output; gray: the block that is followed, its SM, its share of "
    "shared memory, one of its warps."
)
LANES, SECTOR = 32, 32  # of a warp; bytes
CLASSES = (
    ".s{{font-size:12px}}.z{{fill:none;stroke:{0.faint};stroke-dasharray:3 3}}.b{{fill:{0.faint}}}.k{{fill:{0.dim}}}"
)


def size(count: float, units: str = "B KB MB GB") -> str:
    """As data sheets say it: 1 KB is 1024 bytes."""
    names = units.split()
    while count >= 1024 and len(names) > 1:
        count /= 1024
        names.pop(0)
    return f"{count:g} {names[0]}"


def lines(*ends: tuple[float, float, float, float]) -> str:
    """From a small thing to the same one, larger."""
    path = "".join(f"M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}" for x, y, to_x, to_y in ends)
    return element("path", d=path, class_="z")


def cells(x: float, y: float, side: float, columns: int, rows: int, marked: int = -1) -> list[str]:
    """A grid of squares, one of them marked."""
    made = []
    for n in range(columns * rows):
        at_x, at_y = x + n % columns * side, y + n // columns * side
        made.append(rectangle(at_x, at_y, side - 1, side - 1, class_="k" if n == marked else "f"))
    return made


def launch(run: dict[str, object]) -> Panel:
    """Grid, block, warp: each a part of the one before, larger."""
    record = run["launches"][0]
    (columns, rows, _), (wide, high, _) = record["grid"], record["block"]
    warps = wide * high // LANES
    call = f"transpose<<<({columns}, {rows}), ({wide}, {high})>>>"
    body = [text(0, 18, "The launch", class_="t"), text(0, 42, call, class_="d")]
    left, top, side = 0.0, 84.0, 26.0
    marked = BLOCK[1] * columns + BLOCK[0]
    body += [text(left, top - 10, f"grid: {columns * rows} blocks"), *cells(left, top, side, columns, rows, marked)]
    x, y = left + BLOCK[0] * side, top + BLOCK[1] * side
    block_x, block_y, thread = 136.0, 84.0, 3.0
    body.append(lines((x + side, y, block_x, block_y), (x + side, y + side, block_x, block_y + warps * thread)))
    body.append(text(block_x, block_y - 10, f"a block: {warps} warps"))
    warp = 20  # any of them
    for n in range(warps):
        body.append(rectangle(block_x, block_y + n * thread, 104, 2, class_="b"))
    y = block_y + warp * thread
    body.append(rectangle(block_x, y - 1, 104, 4, class_="k"))
    lane, lane_top = 7.5, 262.0
    body.append(lines((block_x, y + 2, 0, lane_top - 4), (block_x + 104, y + 2, LANES * lane, lane_top - 4)))
    body += [text(0, lane_top + 40, f"a warp: {LANES} lanes")]
    body += [rectangle(n * lane, lane_top, lane - 1, 20, class_="k") for n in range(LANES)]
    body += [
        text(0, 328, "One instruction moves all 32 lanes.", class_="d"),
        text(0, 348, "A lane is a thread; it has registers", class_="d"),
        text(0, 366, "of its own.", class_="d"),
    ]
    return Panel(WIDTH, HEIGHT, body)


def machine(run: dict[str, object], trace: list[Access], gpu: dict[str, str]) -> Panel:
    """SMs, L2, HBM, with sizes; the tile that the block reads and the one that it writes."""
    sms, per_row, side = int(gpu["sms"]), 12, 7.75
    body = [text(0, 18, "Where it runs", class_="t"), text(0, 42, f"{gpu['title']}: {sms} SMs")]
    top, marked = 58.0, 41
    body += cells(0, top, side, per_row, -(-sms // per_row), marked)[:sms]
    sm_x, sm_y = 108.0, 58.0
    x, y = marked % per_row * side + side, top + marked // per_row * side
    body.append(lines((x, y, sm_x, sm_y), (x, y + side, sm_x, sm_y + 99)))
    body += [
        rectangle(sm_x, sm_y, 132, 99, class_="f", rx=4),
        text(sm_x + 8, sm_y + 18, "an SM: runs blocks", class_="s"),
    ]
    kept = (("registers", 4 * float(gpu["registers_per_sm"])), ("shared memory", float(gpu["shared_per_sm"])))
    for n, (name, count) in enumerate(kept):
        at = sm_y + 28 + 34 * n
        body += [rectangle(sm_x + 8, at, 116, 30, class_="f"), text(sm_x + 14, at + 13, name, class_="s")]
        body.append(text(sm_x + 118, at + 26, size(count), class_="s e"))
    shared = run["shared_bytes"]
    body.append(rectangle(sm_x + 8, sm_y + 62, 116 * shared / float(gpu["shared_per_sm"]), 30, class_="k"))
    body += [arrow(174, 206, 174, 160), arrow(60, 160, 60, 206)]
    body += [text(182, 188, "loads", class_="d"), text(68, 188, "stores", class_="d")]
    body += [
        rectangle(0, 210, WIDTH, 26, class_="f", rx=4),
        text(10, 228, f"L2 cache, for all SMs: {size(float(gpu['l2_bytes']))}"),
    ]
    body += [arrow(174, 264, 174, 238), arrow(60, 238, 60, 264)]
    bandwidth = float(gpu["hbm_bytes_per_s"]) / 1e12
    words = f"HBM: {size(float(gpu['memory_bytes']))}, {bandwidth:.3g} TB/s"
    body += [rectangle(0, 268, WIDTH, 124, class_="f", rx=4), text(10, 286, words)]
    of_block = {access.tensor: access for access in trace if access.block == BLOCK}
    for name, x, class_ in (("y", 20.0, "o"), ("x", 134.0, "r")):
        body += [rectangle(x, 300, 80, 80, class_="f"), part(box(of_block[name], SIDE), x, 300, 80 / SIDE, class_)]
        body.append(text(x + 88, 344, name))
    return Panel(WIDTH, HEIGHT, body)


def request(runs: dict[str, dict[str, object]]) -> Panel:
    """The sectors that a warp's load touches, and how much of them it asked for."""
    body = [text(0, 18, "What a request brings", class_="t"), text(0, 42, "32 lanes load a float each")]
    top = 78.0
    for name, run in runs.items():
        load = run["launches"][0]["global"]["load"]
        sectors, asked = load["sectors"] // load["requests"], load["bytes"] // load["requests"]
        used = asked // 4 // sectors  # floats of a sector
        body.append(text(0, top - 10, f"{name}: {sectors} sectors"))
        columns, cell = 4, 6.75
        for n in range(sectors):
            x, y = n % columns * (8 * cell + 6), top + n // columns * 15
            body.append(rectangle(x, y, 8 * cell, 11, class_="i"))
            body.append(rectangle(x, y, used * cell, 11, class_="r"))
        bottom = top + -(-sectors // columns) * 15
        body.append(text(0, bottom + 14, f"{asked} bytes asked for, {sectors * SECTOR:,} brought", class_="d"))
        top = bottom + 66
    body += [
        rectangle(0, top - 26, 12, 11, class_="r"),
        text(18, top - 16, "asked for", class_="d"),
        rectangle(100, top - 26, 12, 11, class_="i"),
        text(118, top - 16, "brought with it", class_="d"),
        text(0, top + 10, "A sector is 32 bytes, 8 floats:", class_="d"),
        text(0, top + 28, "memory brings no less.", class_="d"),
    ]
    return Panel(WIDTH, HEIGHT, body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    program = root / "00_gpu/gpu"
    run, trace = counted(program, TRANSPOSE), traced(program, TRANSPOSE)
    copies = {name: counted(program, ["--kernel", name, "--gpu", GPU]) for name in COPIES}
    gpu = next(record for record in table.read(root / "plots/data/roofs.tsv").records() if record["kernel"] == GPU)
    title = f"A launch is a grid of blocks of warps; a block runs on one of {gpu['sms']} SMs; memory brings sectors"
    description = (
        f"Left, the launch of transpose on a matrix of {SIDE} by {SIDE}: grid, block, warp. Middle, the "
        f"{gpu['title']}: registers and shared memory in each SM, the L2 cache, HBM with the tile that one "
        "block loads of x (blue) and the one that it stores of y (green). Right, the sectors that one "
        "request of copy and of copy_strided touches."
    )
    return pictures([launch(run), machine(run, trace, gpu), request(copies)], title, description, KEY, CLASSES)
