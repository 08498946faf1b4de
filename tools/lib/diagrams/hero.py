"""The README's moving picture: naive attention beside FlashAttention-2, on one clock of bytes.

Both panels show what the kernels of chapters 01 and 05 did in global memory, in the order of a real trace, at the same
bytes per second. Naive attention is charged what each of its three kernels touches, every byte once (its footprint: its
best case). FlashAttention is charged every byte that its blocks ask for (requested: its worst case). Motion is CSS: a
page that asks for reduced motion, and a program that draws without it, show how both end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from lib.diagrams.run import Access, traced
from lib.diagrams.svg import (
    Panel,
    Theme,
    arrange,
    base_style,
    document,
    element,
    kilobytes,
    number,
    rectangle,
    text,
    variants,
)

N, D, TILE = 64, 8, 16
BAND = 4  # rows of naive attention that are shown in one step
RUN, HOLD = 20.0, 4.0  # seconds: what naive attention takes, and how long the end is shown
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
    """What is shown at one time, and how many bytes had moved when it began and ended."""

    kernel: str
    block: tuple[int, int, int]  # the first of them
    start: int
    end: int
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
            accesses, start = list(group), moved
            for access in accesses:
                touched = seen.setdefault((access.tensor, access.op), set())
                before = len(touched)
                touched.update(byte for first, end in access.ranges for byte in range(first, end))
                moved += len(touched) - before
            events.append(event_of(accesses, start, moved))
    return events


def flash_events(trace: list[Access]) -> list[Event]:
    """A block between two barriers; every request counts."""
    events: list[Event] = []
    moved = 0
    for _, group in groupby(trace, lambda access: (access.block, access.interval)):
        accesses, start = list(group), moved
        moved += sum(access.requested for access in accesses)
        events.append(event_of(accesses, start, moved))
    return events


def event_of(accesses: list[Access], start: int, end: int) -> Event:
    return Event(
        accesses[0].kernel, accesses[0].block, start, end, rows_of(accesses, "load"), rows_of(accesses, "store")
    )


class Clock:
    """Keyframes of one endless loop: bytes are time."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.rules: list[str] = []

    def percent(self, moved: int) -> str:
        return number(100 * RUN / (RUN + HOLD) * moved / self.total) + "%"

    def rule(self, frames: Iterable[tuple[str, str]]) -> str:
        """A new animation's name."""
        name = f"k{len(self.rules)}"
        self.rules.append(f"@keyframes {name}{{" + "".join(f"{at}{{{what}}}" for at, what in frames) + "}")
        return name

    def appears(self, moved: int) -> str:
        return self.rule([("0%", "opacity:0"), (self.percent(moved), "opacity:1")])

    def shows(self, start: int, end: int) -> str:
        on, off = (self.percent(start), "opacity:1"), (self.percent(end), "opacity:0")
        return self.rule([on, off] if start == 0 else [("0%", "opacity:0"), on, off])

    def style(self, theme: Theme, wide: bool) -> str:
        return (
            base_style(theme, larger=not wide)
            + f".n{{font-size:20px;font-weight:bold}}.g{{fill:none;stroke:{theme.faint};stroke-dasharray:4 3}}"
            + ".c{opacity:0}"
            + f".a{{animation:{RUN + HOLD:g}s step-end infinite}}.b{{animation-timing-function:linear}}\n"
            + "\n".join(self.rules)
            + "\n@media (prefers-reduced-motion:reduce){.a{animation:none}}\n"
        )


@dataclass
class Side:
    """One of the two panels: where its tensors lie. SCALE pixels are an element of a tensor."""

    clock: Clock
    events: list[Event]
    places: dict[str, tuple[float, float]]
    body: list[str] = field(default_factory=list)

    WIDTH, HEIGHT, SCALE = 400.0, 496.0, 1.75

    def add(self, *elements: str) -> None:
        self.body.extend(elements)

    def extent(self, tensor: str) -> float:
        """Its width; LSE, one number per row, is drawn wider than it is."""
        return 4.0 if tensor == "LSE" else ROW_BYTES[tensor] / 4 * self.SCALE

    def rows(self, rows: Rows, **given: object) -> str:
        x, y = self.places[rows.tensor]
        height = (rows.end - rows.first) * self.SCALE
        return rectangle(x, y + rows.first * self.SCALE, self.extent(rows.tensor), height, **given)

    def frame(self) -> None:
        """The memory, and a frame for each tensor in it. Inputs are there from the beginning."""
        self.add(rectangle(1, 62, self.WIDTH - 2, 178, class_="f", rx=6))
        self.add(text(12, 82, "HBM: the memory of the GPU", class_="d"))
        self.add(rectangle(1, 252, self.WIDTH - 2, 170, class_="f", rx=6))
        self.add(text(12, 272, "on the chip: shared memory and registers", class_="d"))
        for tensor, (x, y) in self.places.items():
            width = self.extent(tensor)
            self.add(rectangle(x, y, width, N * self.SCALE, class_="i" if tensor in "QKV" else "f"))
            self.add(text(x + width / 2, y - 5, "L" if tensor == "LSE" else tensor, class_="d m"))

    def motion(self, colors: dict[str, str]) -> None:
        for event in self.events:
            for rows in event.writes:
                name = self.clock.appears(event.end)
                self.add(self.rows(rows, class_=f"a {colors[rows.tensor]}", style=f"animation-name:{name}"))
        for event in filter(lambda event: event.reads, self.events):
            name = self.clock.shows(event.start, event.end)
            for rows in event.reads:
                self.add(self.rows(rows, class_="a c r", style=f"animation-name:{name}"))

    def counter(self, what: str, total: int, done: str) -> None:
        """Bytes moved so far: a bar, on the scale of both panels, and a number for each event; `done` when it ends."""
        line = 26
        ends = [0, *(event.end for event in self.events)]
        width = self.WIDTH * ends[-1] / total
        frames = [(self.clock.percent(end), f"transform:translateY({-line * n}px)") for n, end in enumerate(ends)]
        numbers = [text(0, 20 + line * n, kilobytes(end), class_="n") for n, end in enumerate(ends)]
        full = "transform:scaleX(1)"
        grow = self.clock.rule([("0%", "transform:scaleX(0)"), (self.clock.percent(ends[-1]), full), ("100%", full)])
        self.add(
            rectangle(0, 432, self.WIDTH, 14, class_="f"),
            rectangle(0, 432, width, 14, class_="a b w", style=f"animation-name:{grow};transform-origin:0 0"),
            element(
                "svg",
                element(
                    "g",
                    "".join(numbers),
                    class_="a",
                    style=f"transform:translateY({-line * (len(ends) - 1)}px);animation-name:{self.clock.rule(frames)}",
                ),
                x=0,
                y=454,
                width=110,
                height=line,
            ),
            text(112, 474, what, class_="d"),
            text(self.WIDTH, 22, done, class_="a e", style=f"animation-name:{self.clock.appears(ends[-1])}"),
        )

    def panel(self) -> Panel:
        return Panel(self.WIDTH, self.HEIGHT, self.body)


def places(tensors: str, x: float = 14.0) -> Iterator[tuple[str, tuple[float, float]]]:
    for tensor in tensors:
        yield tensor, (x, 112.0)
        x += ROW_BYTES[tensor] / 4 * Side.SCALE + 13


def naive_side(clock: Clock, events: list[Event]) -> Side:
    side = Side(clock, events, dict(places("QKVOSP")))
    side.add(text(0, 22, "Naive attention", class_="t"))
    side.add(text(0, 46, "three kernels; S and P go to HBM and come back", class_="d"))
    side.frame()
    side.motion({"S": "w", "P": "w", "O": "o"})
    lines = {
        "scores": "scores: S = Q Kᵀ, a row at a time",
        "softmax_rows": "softmax: reads S, writes P",
        "weighted_sum": "weighted sum: reads P, writes O = P V",
    }
    for n, (kernel, of_kernel) in enumerate(groupby(events, lambda event: event.kernel)):
        of_it, at = list(of_kernel), 310.0 + 34 * n
        side.add(text(36, at, lines[kernel]), text(16, at, f"{n + 1}", class_="d"))
        name = clock.shows(of_it[0].start, of_it[-1].end)
        side.add(rectangle(8, at - 19, 300, 27, class_="a c f", rx=4, style=f"animation-name:{name};stroke-width:2"))
    x = 16.0
    for color, meaning in (("r", "read now"), ("w", "scores S, P"), ("o", "output")):
        side.add(rectangle(x, 401, 10, 10, class_=color), text(x + 15, 411, meaning, class_="d"))
        x += 35 + 8.4 * len(meaning)
    return side


def flash_side(clock: Clock, events: list[Event]) -> Side:
    side = Side(clock, events, {**dict(places("QKVO")), "LSE": (122.0, 112.0)})
    side.add(text(0, 22, "FlashAttention-2", class_="t"))
    side.add(text(0, 46, "one kernel; a tile of S is used where it is made", class_="d"))
    side.frame()
    side.motion({"O": "o", "LSE": "o"})
    side.add(text(146, 126, "no S, no P: nothing is N × N"))
    side.add(text(146, 156, "L: one number per row, the log", class_="d"))
    side.add(text(146, 174, "of its sum of exponentials;", class_="d"))
    side.add(text(146, 192, "the gradients will need it", class_="d"))
    extent, (left, top) = N * Side.SCALE, (36.0, 300.0)
    side.add(rectangle(left, top, extent, extent, class_="g"))
    side.add(text(166, 312, "a tile of Q, of K, of S"), text(166, 340, "Tiles of K and V pass by.", class_="d"))
    side.add(
        text(166, 358, "Each tile of S updates O", class_="d"),
        text(166, 376, "and is gone: no S to store.", class_="d"),
    )
    tile = TILE * Side.SCALE
    for _, of_block in groupby(events, lambda event: event.block):
        block = list(of_block)
        queries = next(rows for event in block for rows in event.reads if rows.tensor == "Q")
        row = top + queries.first * Side.SCALE
        kept = {"style": f"animation-name:{clock.shows(block[0].start, block[-1].end)}"}
        last = block[-1] is events[-1]
        side.add(rectangle(left - 18, row, 14, tile, class_="a r" if last else "a c r", **kept))
        side.add(side.rows(queries, class_="a c r", **kept))
        loads = [(event, rows) for event in block for rows in event.reads if rows.tensor == "K"]
        for n, (event, keys) in enumerate(loads):
            end = loads[n + 1][0].start if n + 1 < len(loads) else block[-1].end
            shown = {"style": f"animation-name:{clock.shows(event.start, end)}"}
            at_the_end = "" if last and n + 1 == len(loads) else "c "
            column = left + keys.first * Side.SCALE
            side.add(rectangle(column, top - 18, tile, 14, class_=f"a {at_the_end}r", **shown))
            side.add(rectangle(column, row, tile, tile, class_=f"a {at_the_end}w", **shown))
    return side


def picture(theme: Theme, wide: bool, naive: list[Event], flash: list[Event]) -> str:
    total = naive[-1].end
    clock = Clock(total)
    left, right = naive_side(clock, naive), flash_side(clock, flash)
    ratio = total / flash[-1].end
    left.counter("moved at least (once per kernel)", total, "done")
    right.counter("moved at most (all that is asked)", total, f"done: {ratio:.1f} times less")
    width, height, body = arrange([left.panel(), right.panel()], wide, theme)
    title = (
        f"Naive attention moves {kilobytes(total)}, FlashAttention-2 {kilobytes(flash[-1].end)}: {ratio:.1f} times less"
    )
    description = (
        f"Two panels on one clock, N = {N}, d = {D}, from traces of the kernels. Left: three kernels fill S and P, "
        "each N by N, in the GPU's memory and read them back. Right: one kernel; tiles of K and V pass by, a tile of S "
        "exists on the chip only, and O is written once."
    )
    return document(width, height, title, description, clock.style(theme, wide), body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    naive = naive_events(traced(root / "01_naive/naive", NAIVE))
    flash = flash_events(traced(root / "05_fa2/fa2", FLASH))
    return variants(lambda theme, wide: picture(theme, wide, naive, flash))
