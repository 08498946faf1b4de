"""The README's moving picture: the N × N scores of naive attention, and the one tile of FlashAttention-2.

Below lies the GPU's memory, above it the chip; dots are bytes on their way, in both halves at the same bytes a second
and in the order of a real trace. Naive attention is charged what each of its three kernels touches, every byte once
(its footprint: its best case), FlashAttention every byte that its blocks ask for (requested: its worst case). The first
frame is the last one: what is left, and how much was moved. Motion is CSS: a page that asks for reduced motion, and a
program that draws without it, show that frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from lib.diagrams.run import Access, traced
from lib.diagrams.svg import Theme, base_style, document, element, kilobytes, number, rectangle, text, variants

N, D, TILE = 80, 8, 16
BAND = 4  # rows of naive attention that are one step
DOT = 512  # bytes
LOOP, STILL, RUN = 9.0, 1.6, 6.8  # seconds: of all, of the frame that it begins with, of naive attention
NAIVE = ["--seq", str(N), "--dim", str(D)]
FLASH = [*NAIVE, "--heads", "1", "--kernel", "fa2_row", "--tile-q", str(TILE), "--tile-k", str(TILE)]
ROW_BYTES = {"Q": 4 * D, "K": 4 * D, "V": 4 * D, "O": 4 * D, "S": 4 * N, "P": 4 * N, "LSE": 4}


@dataclass
class Rows:
    """Some rows of a tensor."""

    tensor: str
    first: int
    end: int


@dataclass
class Event:
    """What is shown at one time, and how many bytes had moved when it began and ended; `read` of them were loaded."""

    kernel: str
    block: tuple[int, int, int]  # the first of them
    start: int
    end: int
    read: int
    reads: list[Rows] = field(default_factory=list)
    writes: list[Rows] = field(default_factory=list)


def rows_of(accesses: Iterable[Access], op: str) -> list[Rows]:
    """The rows of each tensor, from its first touched byte to its last."""
    edges: dict[str, tuple[int, int]] = {}
    for access in accesses:
        if access.op == op:
            first, end = edges.get(access.tensor, access.ranges[0])
            edges[access.tensor] = min(first, access.ranges[0][0]), max(end, access.ranges[-1][1])
    return [
        Rows(tensor, first // ROW_BYTES[tensor], -(-end // ROW_BYTES[tensor])) for tensor, (first, end) in edges.items()
    ]


def naive_events(trace: list[Access]) -> list[Event]:
    """A few blocks, each a row, in one event; a byte counts when a launch touches it for the first time."""
    events: list[Event] = []
    moved = 0
    for _, of_launch in groupby(trace, lambda access: access.launch):
        seen: dict[tuple[str, str], set[int]] = {}
        for _, group in groupby(of_launch, lambda access: access.block[0] // BAND):
            accesses, start, read = list(group), moved, 0
            for access in accesses:
                touched = seen.setdefault((access.tensor, access.op), set())
                before = len(touched)
                touched.update(byte for first, end in access.ranges for byte in range(first, end))
                moved += len(touched) - before
                read += (len(touched) - before) * (access.op == "load")
            events.append(event_of(accesses, start, moved, read))
    return events


def flash_events(trace: list[Access]) -> list[Event]:
    """A block between two barriers; every request counts."""
    events: list[Event] = []
    moved = 0
    for _, group in groupby(trace, lambda access: (access.block, access.interval)):
        accesses, start = list(group), moved
        moved += sum(access.requested for access in accesses)
        read = sum(access.requested for access in accesses if access.op == "load")
        events.append(event_of(accesses, start, moved, read))
    return events


def event_of(accesses: list[Access], start: int, end: int, read: int) -> Event:
    rows = rows_of(accesses, "load"), rows_of(accesses, "store")
    return Event(accesses[0].kernel, accesses[0].block, start, end, read, *rows)


class Clock:
    """Keyframes of one endless loop: bytes are time."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.rules: list[str] = []

    def seconds(self, moved: float) -> float:
        return STILL + RUN * moved / self.total

    def percent(self, moved: float) -> str:
        return number(100 * self.seconds(moved) / LOOP) + "%"

    def rule(self, still: str, *frames: tuple[float, str]) -> str:
        """A new animation, by its name: `still`, then from the first frame, given by bytes moved, to the last, and
        `still` again."""
        name = f"k{len(self.rules)}"
        first = number(100 * STILL / LOOP - 0.01) + "%"
        last = number(100 * self.seconds(frames[-1][0]) / LOOP + 0.01) + "%"
        steps = [f"0%,{first},{last},100%{{{still}}}", *(f"{self.percent(at)}{{{what}}}" for at, what in frames)]
        self.rules.append(f"@keyframes {name}{{{''.join(steps)}}}")
        return name

    def style(self, theme: Theme, layout: Layout) -> str:
        gap = layout.shelf - layout.bench
        return (
            base_style(theme)
            + f"text{{font-size:{layout.small}px}}.d{{font-size:{layout.small}px}}.t{{font-size:{layout.title}px}}"
            + f".h{{font-size:{layout.headline}px;font-weight:bold}}"
            + f".g{{fill:none;stroke:{theme.faint};stroke-dasharray:3 3}}.q{{shape-rendering:auto}}"
            + f".s{{stroke:{theme.vermilion};stroke-width:9;stroke-opacity:.3;paint-order:stroke}}"
            + f".u,.v{{fill:{theme.blue};opacity:0;animation:u {LOOP:g}s linear infinite}}"
            + f".v{{fill:{theme.vermilion};animation-name:v}}"
            + f".a{{animation:{LOOP:g}s linear infinite}}.j{{animation-timing-function:step-end}}\n"
            + f"@keyframes u{{0%{{opacity:1}}4%{{opacity:1;transform:translateY({-gap}px)}}4.1%,100%{{opacity:0}}}}\n"
            + f"@keyframes v{{0%{{opacity:1}}4%{{opacity:1;transform:translateY({gap}px)}}4.1%,100%{{opacity:0}}}}\n"
            + "\n".join(self.rules)
            + "\n@media (prefers-reduced-motion:reduce){.a,.u,.v{animation:none}}\n"
        )


@dataclass(frozen=True)
class Layout:
    """Pixels: of a half; of S on the chip and in memory; where the bench ends and the shelf begins; of words."""

    half: float
    grid: float
    kept: float
    bench: float
    shelf: float
    small: float
    title: float
    headline: float
    x: float = 0.0  # of the half

    @property
    def left(self) -> float:
        return self.x + (self.half - self.grid) / 2

    @property
    def bottom(self) -> float:
        return self.shelf + self.kept + 58


WIDE = Layout(380, 190, 76, 262, 322, 14, 18, 40)
NARROW = Layout(170, 116, 46, 190, 234, 14, 16.5, 24)
TOP = 52.0  # of S on the chip


def dots(clock: Clock, layout: Layout, events: list[Event]) -> list[str]:
    """One for every DOT bytes: up what is loaded, down what is stored."""
    found = []
    for event in events:
        for count in range(-(-event.start // DOT), -(-event.end // DOT)):
            is_load = count * DOT - event.start < event.read
            x = layout.left + 6 + (layout.grid - 12) * (count * 37 % 101) / 100
            y, kind = (layout.shelf, "u") if is_load else (layout.bench, "v")
            delay = clock.seconds(count * DOT) - LOOP
            found.append(
                element(
                    "circle", cx=number(x), cy=number(y), r="2.5", class_=kind, style=f"animation-delay:{delay:.2f}s"
                )
            )
    return found


def slots(layout: Layout, widths: dict[str, float]) -> dict[str, float]:
    """Where on the shelf a tensor lies."""
    x = layout.x + (layout.half - sum(widths.values()) - 7 * (len(widths) - 1)) / 2
    found = {}
    for tensor, width in widths.items():
        found[tensor] = x
        x += width + 7
    return found


def kept(clock: Clock, layout: Layout, widths: dict[str, float], written: dict[str, float]) -> list[str]:
    """What lies on the shelf; `written`: after how many bytes."""
    found = []
    for tensor, x in slots(layout, widths).items():
        kind, moving = "w" if tensor in "SP" else "o" if tensor in "OL" else "i", {}
        if end := written.get(tensor):
            rule = clock.rule("opacity:1", (0, "opacity:.12"), (end * 0.97, "opacity:.12"), (end, "opacity:1"))
            kind, moving = f"a {kind}", {"style": f"animation-name:{rule}"}
        found.append(rectangle(x, layout.shelf + 22, widths[tensor], layout.kept, class_=kind, **moving))
        found.append(text(x + widths[tensor] / 2, layout.shelf + 17, tensor, class_="d m"))
    return found


def half(clock: Clock, layout: Layout, title: str, events: list[Event], total: int, what: str) -> list[str]:
    """The bench, the shelf, the bytes on their way and how many there were."""
    middle, y = layout.x + layout.half / 2, layout.bottom
    end = events[-1].end
    grow = clock.rule("transform:none", (0, "transform:scaleX(0)"), (end, "transform:none"))
    bar = rectangle(
        layout.x,
        y,
        layout.half * end / total,
        12,
        class_="a w",
        style=f"animation-name:{grow};transform-origin:{layout.x}px 0",
    )
    return [
        text(middle, 18, title, class_="t m"),
        rectangle(layout.x + 1, 28, layout.half - 2, layout.bench - 28, class_="f", rx=6),
        text(layout.x + 8, layout.bench - 7, "chip", class_="d"),
        rectangle(layout.x + 1, layout.shelf, layout.half - 2, layout.kept + 48, class_="f", rx=6),
        text(layout.x + 8, layout.shelf + layout.kept + 41, "GPU memory", class_="d"),
        text(layout.left, TOP - 7, "S, N × N", class_="d"),
        *dots(clock, layout, events),
        rectangle(layout.x, y, layout.half, 12, class_="f"),
        bar,
        text(layout.x, y + 30, what),
        rectangle(layout.left, TOP, layout.grid, layout.grid, class_="g"),
    ]


def naive_half(clock: Clock, layout: Layout, events: list[Event], total: int) -> list[str]:
    """A sheet of N² scores slides down, comes back, goes down as P and comes back again."""
    ends = [list(of)[-1].end for _, of in groupby(events, lambda event: event.kernel)]
    bar = layout.kept * D / N
    widths = {**dict.fromkeys("QKV", bar), "S": layout.kept, "P": layout.kept, "O": bar}
    places, down = slots(layout, widths), layout.shelf + 22 - TOP

    def at(tensor: str) -> str:
        to = f"translate({number(places[tensor] - layout.left)}px,{number(down)}px)"
        return f"opacity:1;transform:{to} scale({layout.kept / layout.grid:.3f})"

    up = "opacity:1;transform:none"
    frames = [(0, up), (ends[0], at("S")), ((ends[0] + ends[1]) / 2, up), (ends[1], at("P")), (ends[2], up)]
    origin = f"transform-origin:{number(layout.left)}px {number(TOP)}px"
    return [
        *half(clock, layout, "Naive attention", events, total, f"{kilobytes(total)} at least"),
        *kept(clock, layout, widths, dict(zip("SPO", ends))),
        element(
            "g",
            cells(layout),
            class_="a",
            style=f"opacity:0;{origin};animation-name:{clock.rule('opacity:0', *frames)}",
        ),
    ]


def cells(layout: Layout) -> str:
    """S as a sheet: a cell for each 8 × 8 scores."""
    count = N // 8
    side = layout.grid / count
    return "".join(
        rectangle(layout.left + side * (at % count), TOP + side * (at // count), side - 1.2, side - 1.2, class_="w q")
        for at in range(count * count)
    )


def flash_half(clock: Clock, layout: Layout, events: list[Event], total: int) -> list[str]:
    """One tile of S after another, in the order of the trace, and nothing of them is left."""
    side = layout.grid * TILE / N
    frames: list[tuple[float, str]] = []
    for _, of_block in groupby(events, lambda event: event.block):
        block = list(of_block)
        row = next(rows.first for event in block for rows in event.reads if rows.tensor == "Q")
        for event in block:
            for keys in (rows for rows in event.reads if rows.tensor == "K"):
                x, y = (layout.grid * at / N for at in (keys.first, row))
                frames.append((event.start, f"transform:translate({number(x)}px,{number(y)}px)"))
    last = frames[-1][1]
    sweep = clock.rule(last, *frames, (events[-1].end, last))
    end, bar = events[-1].end, layout.kept * D / N
    widths = {**dict.fromkeys("QKVO", bar), "L": 3.0}
    return [
        *half(clock, layout, "FlashAttention", events, total, f"{kilobytes(end)} at most"),
        *kept(clock, layout, widths, dict.fromkeys("OL", end)),
        rectangle(layout.left, TOP, side, side, class_="a j w s", style=f"{last};animation-name:{sweep}"),
    ]


def picture(theme: Theme, wide: bool, naive: list[Event], flash: list[Event]) -> str:
    total = naive[-1].end
    clock, layout = Clock(total), WIDE if wide else NARROW
    margin, between = 10.0, 20.0 if wide else 10.0
    left = replace(layout, x=margin)
    right = replace(layout, x=margin + layout.half + between)
    ratio = int(10 * total / flash[-1].end) / 10  # at least so many
    width, y = 2 * layout.half + between + 2 * margin, layout.bottom + 40
    words = [f"at least {ratio}× fewer bytes", "memory: N, not N²"]
    body = [
        *naive_half(clock, left, naive, total),
        *flash_half(clock, right, flash, total),
        text(width / 2, y + layout.headline, words[0], class_="h m"),
        text(width / 2, y + layout.headline + 1.6 * layout.title, words[1], class_="t m"),
    ]
    height = y + layout.headline + 1.6 * layout.title + 12
    title = f"FlashAttention-2 moves {kilobytes(flash[-1].end)}, naive attention {kilobytes(total)}: {' '.join(words)}"
    description = (
        f"Two halves on one clock of bytes, N = {N}, d = {D}, from traces of the kernels. Left: a sheet of N by N "
        "scores slides from the chip into the GPU's memory and comes back, twice. Right: one tile of the scores sweeps "
        "over the grid, and nothing of it is stored."
    )
    back = rectangle(0, 0, width, height, fill=theme.background)
    return document(width, height, title, description, clock.style(theme, layout), [back, *body])


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    naive = naive_events(traced(root / "01_naive/naive", NAIVE))
    flash = flash_events(traced(root / "05_fa2/fa2", FLASH))
    return variants(lambda theme, wide: picture(theme, wide, naive, flash))
