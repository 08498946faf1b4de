"""The requests that a simulated program's warps made (SIM_TRACE_REQUESTS), and what one costs.

A request is where its first active lane is in its tensor, and a pattern: which lanes are active and how they lie from
there. Requests of one pattern that are four bytes apart are the same lanes at neighboring words: what nvcc may load at
once.

The rules of wavefronts and sectors are those of the engine (count/instruction.c, README.md); widths.py compares the
sums for the source's widths with the engine's own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from machine.problem import Problem

BANKS, BANK_BYTES, SECTOR_BYTES, WARP = 32, 4, 32, 32


class Pattern(NamedTuple):
    lanes: tuple[int, ...]
    offsets: tuple[int, ...]  # of each, from the first: bytes


class Request(NamedTuple):
    pattern: int  # number of a Pattern
    offset: int  # bytes, in its tensor
    interval: int  # barriers that the block had passed
    again: bool  # each lane had touched its word already: loaded or stored, of a store stored


class Site(NamedTuple):
    place: str  # "row.cuh:61", the file without its folder; "" where it is not known
    column: int
    space: str
    op: str
    size: int  # bytes a lane
    tensor: str
    call: int  # which of the calls that led there, as far as one line of the trace tells them apart


class Cost(NamedTuple):
    """Of global memory there are sectors, of shared memory the four above; the others are 0."""

    requests: int = 0
    bytes: int = 0
    wavefronts: int = 0
    ideal: int = 0
    conflicts: int = 0
    excessive: int = 0  # wavefronts beyond the ideal
    sectors: int = 0

    def plus(self, other: Cost, times: int = 1) -> Cost:
        return Cost(*(a + times * b for a, b in zip(self, other)))


@dataclass
class Launch:
    number: int
    kernel: str
    template: str
    # (*block, warp): the requests at each site, in the warp's order.
    warps: dict[tuple, dict[Site, list[Request]]] = field(default_factory=dict)
    touched: dict[tuple, Touched] = field(default_factory=dict)  # of global memory, by each warp


class Patterns:
    """Each pattern once, by number."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], int] = {}
        self.all: list[Pattern] = []
        self.distances: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}

    def number(self, lanes: int, text: str) -> int:
        key = (lanes, text)
        if key not in self.numbers:
            active = tuple(lane for lane in range(WARP) if lanes >> lane & 1)
            if text[0] in "+-" and "," not in text:
                offsets = tuple(int(text) * (lane - active[0]) for lane in active)
            else:
                offsets = tuple(int(word) for word in text.split(","))
            self.numbers[key] = len(self.all)
            self.all.append(Pattern(active, offsets))
        return self.numbers[key]

    def between(self, pattern: int, other: int) -> tuple[tuple[int, int], ...]:
        """The distances at which lanes have the same address in both, each with these lanes as a mask."""
        if (pattern, other) not in self.distances:
            one, two = self.all[pattern], self.all[other]
            there = dict(zip(two.lanes, two.offsets))
            found: dict[int, int] = {}
            for lane, offset in zip(one.lanes, one.offsets):
                if lane in there:
                    found[offset - there[lane]] = found.get(offset - there[lane], 0) | 1 << lane
            self.distances[pattern, other] = tuple(found.items())
        return self.distances[pattern, other]


class Touched:
    """Which words the lanes of a warp have touched, so that a value may still be in a register."""

    MOST_PATTERNS = 64  # beyond, everything counts as touched: kept or not, nobody knows

    def __init__(self, patterns: Patterns) -> None:
        self.patterns = patterns
        self.offsets: dict[tuple, dict[int, set[int]]] = {}  # (tensor, op): pattern: offsets

    def holds(self, tensor: str, ops: tuple[str, ...], pattern: int, offset: int) -> bool:
        """Whether each active lane has: nvcc leaves nothing out that one of them lacks."""
        lacking = sum(1 << lane for lane in self.patterns.all[pattern].lanes)
        for op in ops:
            there = self.offsets.get((tensor, op), {})
            if len(there) > self.MOST_PATTERNS or offset in there.get(pattern, ()):
                return True
            for other, offsets in there.items():
                for distance, lanes in self.patterns.between(pattern, other):
                    if lanes & lacking and offset + distance in offsets:
                        lacking &= ~lanes
        return lacking == 0

    def add(self, tensor: str, op: str, pattern: int, offset: int) -> None:
        self.offsets.setdefault((tensor, op), {}).setdefault(pattern, set()).add(offset)


def _base(place: str) -> str:
    return place.rpartition("/")[2]


def read_trace(path: str, patterns: Patterns) -> Iterator[Launch]:
    """Launch by launch."""
    launch: Launch | None = None
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            record = json.loads(line)
            if record.get("type") == "truncated":
                raise Problem(3, f"the trace is longer than {record['limit_bytes'] >> 20} MB: run a smaller problem")
            if record.get("type") == "launch":
                if launch:
                    yield launch
                launch = Launch(record["launch"], record["kernel"], record["template"])
            elif "requests" in record and launch:
                _add_warp(launch, record, patterns)
    if launch:
        yield launch


def _add_warp(launch: Launch, record: dict, patterns: Patterns) -> None:
    """What a warp did between two barriers. What was read from shared memory before a barrier is read again behind it;
    global memory may be declared not to change, which nobody says here."""
    name = (*record["block"], record["warp"])
    warp = launch.warps.setdefault(name, {})
    touched = {"shared": Touched(patterns), "global": launch.touched.setdefault(name, Touched(patterns))}
    sites, lists = [], []
    seen: dict[tuple, int] = {}
    for place, *rest in record["sites"]:
        head = (_base(place), *rest)
        seen[head] = seen.get(head, -1) + 1
        sites.append(Site(*head, seen[head]))
        lists.append(warp.setdefault(sites[-1], []))
    interval = record["interval"]
    for number, lanes, offset, text in record["requests"]:
        site, pattern = sites[number], patterns.number(lanes, text)
        known, again = touched.get(site.space), False
        if known:
            again = known.holds(site.tensor, ("store",) if site.op == "store" else ("load", "store"), pattern, offset)
            known.add(site.tensor, site.op, pattern, offset)
        lists[number].append(Request(pattern, offset, interval, again))


# ---- costs ----


def _most_in_a_bank(units: set[int], banks: int) -> int:
    count: dict[int, int] = {}
    for unit in units:
        count[unit % banks] = count.get(unit % banks, 0) + 1
    return max(count.values())


def _has_partners(at: dict[int, int], distance: int) -> bool:
    return all(at.get(lane ^ distance, address) == address for lane, address in at.items())


@cache
def shared_cost(pattern: Pattern, offset: int, width: int, op: str) -> Cost:
    """Of one request, each lane `width` bytes; `offset` modulo 128 is enough."""
    at = {lane: offset + rest for lane, rest in zip(pattern.lanes, pattern.offsets)}
    unit = max(width, BANK_BYTES)
    banks = BANKS * BANK_BYTES // unit
    lanes = banks  # of a pass
    if unit > BANK_BYTES and op == "load" and (_has_partners(at, 1) or _has_partners(at, 2)):
        lanes = 2 * banks
    passes = [{at[lane] // unit for lane in at if lane // lanes == turn} for turn in range(WARP // lanes)]
    busy = [units for units in passes if units]
    wavefronts = sum(_most_in_a_bank(units, banks) for units in busy)
    ideal = len({lane // banks for lane in at})
    return Cost(1, width * len(at), wavefronts, ideal, wavefronts - len(busy), max(wavefronts - ideal, 0))


@cache
def global_cost(pattern: Pattern, offset: int, width: int) -> Cost:
    """`offset` modulo a sector is enough: allocations begin at whole ones."""
    sectors = {
        sector
        for rest in pattern.offsets
        for sector in range((offset + rest) // SECTOR_BYTES, (offset + rest + width - 1) // SECTOR_BYTES + 1)
    }
    return Cost(1, width * len(pattern.lanes), sectors=len(sectors))


@cache
def atomic_cost(pattern: Pattern, offset: int, width: int) -> Cost:
    """Lanes with the same address go one after the other: the k-th of each address are one pass."""
    passes: list[list[int]] = []
    for rest, lanes in Counter(pattern.offsets).items():
        passes += [[] for _ in range(len(passes), lanes)]
        for at in range(lanes):
            passes[at].append(rest)
    sectors = [global_cost(Pattern((), tuple(each)), offset, width).sectors for each in passes]
    return Cost(1, width * len(pattern.lanes), sectors=sum(sectors))


def cost_of(pattern: Pattern, offset: int, width: int, space: str, op: str) -> Cost:
    if space == "shared":
        return shared_cost(pattern, offset % (BANKS * BANK_BYTES), width, op)
    return (atomic_cost if op == "atomic" else global_cost)(pattern, offset % SECTOR_BYTES, width)
