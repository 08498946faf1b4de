"""Instructions of one place that are executed equally often, and how a run of the source's iterations divides among
several of them: the body that nvcc unrolled, a smaller one for the rest, what it peeled off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Segment:
    loop: int
    parent: int  # of the loop
    number: int  # 0: once in each iteration of the loop
    widths: tuple[tuple[int, int], ...]  # bytes a lane: instructions

    @property
    def always(self) -> bool:
        return self.number == 0

    @property
    def bytes(self) -> int:
        return sum(width * count for width, count in self.widths)

    def __str__(self) -> str:
        return " and ".join(f"{count} of {width} bytes" for width, count in self.widths[::-1])


def period_of(segments: Iterable[Segment], size: int) -> int:
    """Accesses in an iteration of the source, as far as the segments tell."""
    return gcd(*(segment.bytes // size for segment in segments))


def runs_of(requests: list, segments: list[Segment], size: int) -> Iterator[list[tuple]]:
    """Words (pattern, offset) of one visit of the loops: iterations that are equal steps apart, without a barrier
    between them. A loop that is entered anew begins elsewhere."""
    period = period_of(segments, size)
    run: list = []
    step: list[int] | None = None
    for start in range(0, len(requests), period):
        part = requests[start : start + period]
        before = run[-period:]
        is_near = len(part) == len(before) and all(
            (one.pattern, one.interval) == (two.pattern, two.interval) for one, two in zip(before, part)
        )
        distance = [two.offset - one.offset for one, two in zip(before, part)]
        if run and is_near and step in (None, distance):
            step = distance
        elif run:
            yield [each[:2] for each in run]
            run, step = [], None
        run = run + part if len(run) < 2 * period else _extended(run, part)
    if run:
        yield [each[:2] for each in run]


def _extended(run: list, part: list) -> list:
    run.extend(part)
    return run


def counts_of_run(words: int, segments: list[Segment], parents: dict[int, int], size: int) -> set[tuple]:
    """All that the instructions of a run of so many words can be, each as ((width, count), ...); at most a few.

    Of a loop within the others' loop there are any number of iterations; of what stands around it, one.
    """
    widths = sorted({width for segment in segments for width, _ in segment.widths})
    found: set[tuple] = set()
    for family in _families(segments, parents):
        inner = [segment for segment in family if _is_inner(segment, family, parents)]
        found |= _ways(
            words, family if len(inner) == 0 else inner, [each for each in family if each not in inner], size
        )
    return {tuple((width, dict(way).get(width, 0)) for width in widths) for way in found}


def _ancestors(loop: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while loop:
        loop = parents[loop]
        found.add(loop)
    return found


def _is_inner(segment: Segment, family: list[Segment], parents: dict[int, int]) -> bool:
    loops = {each.loop for each in family}
    return bool(_ancestors(segment.loop, parents) & loops - {segment.loop})


def _families(segments: list[Segment], parents: dict[int, int]) -> list[list[Segment]]:
    """Of a function that was inlined in two places each its own."""
    loops = {segment.loop for segment in segments}
    made: dict[int, list[Segment]] = {}
    for segment in segments:
        around = [loop for loop in (segment.loop, *_ancestors(segment.loop, parents)) if loop in loops]
        top = next(loop for loop in around if not _ancestors(loop, parents) & loops)
        made.setdefault(parents[top] if top else 0, []).append(segment)
    return list(made.values())


MOST_WAYS = 4


def _ways(words: int, repeated: list[Segment], single: list[Segment], size: int) -> set[tuple]:
    """Sums of instructions that take up all words; never more than MOST_WAYS for a number of words."""
    reached: dict[int, set[tuple]] = {0: {()}}
    for segment in single:
        after = {at: set(ways) for at, ways in reached.items()}
        for at, ways in reached.items():
            _add(after, at + segment.bytes // size, ways, segment)
        reached = after
    for at in range(words + 1):
        for segment in repeated:
            _add(reached, at + segment.bytes // size, reached.get(at, set()), segment)
    return reached.get(words, set())


def _add(reached: dict[int, set[tuple]], at: int, ways: set[tuple], segment: Segment) -> None:
    there = reached.setdefault(at, set()) if ways else set()
    for way in ways:
        if len(there) < MOST_WAYS:
            sums = dict(way)
            for width, count in segment.widths:
                sums[width] = sums.get(width, 0) + count
            there.add(tuple(sorted(sums.items())))
