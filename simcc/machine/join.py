"""Joins the loads and stores of the machine code, loop by loop, to the requests of the source.

What belongs together is known by the line: the accesses of the source at one place (file and line), in one space and of
one kind, and the instructions at that place. Each place is a Part of the answer, with what the machine's requests cost,
or with the reason why that is not known. README.md, "Counts as the machine code", says what is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from machine.requests import Cost, Launch, Patterns, Request, Site, Touched, cost_of
from machine.segments import Segment, counts_of_run, runs_of


class NotJoined(Exception):
    """Why."""


@dataclass
class Part:
    """One place, space and kind of access of one launch."""

    place: str
    space: str
    op: str
    source: Cost
    machine: Cost | None = None
    how: str = ""  # or why not
    loops: list[int] = field(default_factory=list)  # that hold the instructions
    widths: dict[int, int] = field(default_factory=dict)  # bytes: instructions, in all loops


Key = tuple  # (place, space, op)
Word = tuple  # (pattern, offset)


def segments_of(records: list[dict]) -> dict[Key, list[Segment]]:
    """By place, space and kind: the instructions of a kernel."""
    found: dict[Key, dict[tuple, dict[int, int]]] = {}
    for record in records:
        for each in record["memory"]:
            at = (record["loop"], record["parent"], each["segment"])
            widths = found.setdefault((each["place"], each["space"], each["op"]), {}).setdefault(at, {})
            widths[each["bits"] // 8] = widths.get(each["bits"] // 8, 0) + each["count"]
    return {
        key: [Segment(*at, tuple(sorted(widths.items()))) for at, widths in places.items()]
        for key, places in found.items()
    }


class Join:
    """Of one launch. `segments` are those of its kernel; `parents` of its loops, by number."""

    def __init__(
        self, launch: Launch, segments: dict[Key, list[Segment]], parents: dict[int, int], patterns: Patterns
    ) -> None:
        self.segments, self.parents, self.table, self.patterns = segments, parents, patterns, patterns.all
        # (place, space, op): warp: site: requests
        self.streams: dict[Key, dict[tuple, dict[Site, list[Request]]]] = {}
        for warp, sites in launch.warps.items():
            for site, requests in sites.items():
                if site.space in ("shared", "global"):
                    key = (site.place, site.space, site.op)
                    self.streams.setdefault(key, {}).setdefault(warp, {})[site] = requests
        self.warps = list(launch.warps)
        self.known: dict[tuple, tuple[Cost, str]] = {}  # what iterations and runs cost that have been worked out
        self.trips: dict[int, dict[tuple, int] | None] = {}

    def parts(self) -> list[Part]:
        return [self._part(key) for key in sorted(self.streams)]

    def _part(self, key: Key) -> Part:
        found = self.segments.get(key, [])
        part = Part(*key, source=self._priced(key, lambda request: True))
        part.loops = sorted({segment.loop for segment in found})
        for width, count in (each for segment in found for each in segment.widths):
            part.widths[width] = part.widths.get(width, 0) + count
        try:
            part.machine, part.how = self._joined(key, found, part.source)
        except NotJoined as why:
            part.how = str(why)
        return part

    def _joined(self, key: Key, found: list[Segment], source: Cost) -> tuple[Cost, str]:
        if not key[0]:
            raise NotJoined("the source has no line")
        if (key[0], "generic", key[2]) in self.segments:
            raise NotJoined("an instruction of this line does not say in which memory it is")
        if not found:
            raise NotJoined("no instruction has this line: moved to another one, or left out")
        size, widths = self._size(key), {width for segment in found for width, _ in segment.widths}
        if min(widths) < size:
            raise NotJoined(f"{min(widths)} bytes at once where the source asks for {size}")
        if key[2] == "atomic":
            if widths != {size}:
                raise NotJoined("atomics of other widths than the source's")
            return source, "as the source"
        trips = self._trips(found[0].loop) if len(found) == 1 and found[0].always else None
        if trips is not None:
            return self._by_iteration(key, found[0], trips, size, source, "")
        if widths == {size}:
            return self._as_wide_as_the_source(key, found, source)
        if len(found) == 1:
            return self._by_iteration(key, found[0], self._own_trips(key, found[0]), size, source, ", by itself")
        return self._by_run(key, found, size)

    # ---- how often a loop goes round ----

    def _bytes(self, key: Key, warp: tuple) -> int:
        """That each lane asks for."""
        return sum(site.size * len(requests) for site, requests in self.streams[key].get(warp, {}).items())

    def _size(self, key: Key) -> int:
        sizes = {site.size for warp in self.streams[key].values() for site in warp}
        if len(sizes) > 1:
            raise NotJoined(f"accesses of {' and '.join(map(str, sorted(sizes)))} bytes in one line")
        return sizes.pop()

    def _ratio(self, key: Key, segment: Segment) -> dict[tuple, Fraction]:
        return {warp: Fraction(self._bytes(key, warp), segment.bytes) for warp in self.warps}

    def _trips(self, loop: int) -> dict[tuple, int] | None:
        """Iterations of each warp: 1 outside of loops. In a loop what its stores say, else what the loads of two lines
        agree on, all of words that no lane had touched; None where these say nothing."""
        if loop not in self.trips:
            self.trips[loop] = dict.fromkeys(self.warps, 1) if loop == 0 else self._voted_trips(loop)
        return self.trips[loop]

    def _voted_trips(self, loop: int) -> dict[tuple, int] | None:
        votes: list[dict[tuple, Fraction]] = []
        for key, found in self.segments.items():
            if key not in self.streams or len(found) != 1 or found[0].loop != loop or not found[0].always:
                continue
            ratio = self._ratio(key, found[0])
            if self._has_again(key) or any(each.denominator != 1 for each in ratio.values()):
                continue
            votes = [ratio, ratio, *votes] if key[2] == "store" else [*votes, ratio]
        agreed = next((ratio for ratio in votes if votes.count(ratio) > 1), None)
        return {warp: int(each) for warp, each in agreed.items()} if agreed else None

    def _own_trips(self, key: Key, segment: Segment) -> dict[tuple, int]:
        """By the bytes of this place only: where no lane touches a word twice, none can have been left out."""
        ratio = self._ratio(key, segment)
        if any(each.denominator != 1 for each in ratio.values()):
            raise NotJoined(f"loop {segment.loop} goes round an unknown number of times: {segment} do not fit evenly")
        trips = {warp: int(each) for warp, each in ratio.items()}
        if self._has_again(key):
            raise NotJoined(f"loop {segment.loop} goes round an unknown number of times, and reads words again")
        return trips

    def _has_again(self, key: Key) -> bool:
        streams = self.streams[key].values()
        return any(each.again for sites in streams for requests in sites.values() for each in requests)

    # ---- instructions as wide as the source's accesses ----

    def _as_wide_as_the_source(self, key: Key, found: list[Segment], source: Cost) -> tuple[Cost, str]:
        """How often is not known, but the instructions can differ from the source only by leaving something out: what a
        lane has in a register. What no lane had touched before has to be there."""
        needed = self._priced(key, lambda request: not request.again)
        if needed == source:
            return source, "as the source"
        if sum(count for segment in found for _, count in segment.widths) == 1 and not self._repeats(key):
            return source, "as the source"  # the one instruction there is, or none: and there is one
        most = self._most(key, found)
        if most == needed.requests:
            return needed, f"as the source, {source.requests - needed.requests} kept in registers"
        word = "store" if key[2] == "store" else "load"
        raise NotJoined(
            f"{source.requests - needed.requests} of {source.requests} requests {word} words again that their lanes "
            "have accessed before; how many of these nvcc left out is not known"
        )

    def _repeats(self, key: Key) -> bool:
        """Whether the line has several accesses, or a lane touches a word twice there without a barrier between."""
        if len({site.column for streams in self.streams[key].values() for site in streams}) > 1:
            return True
        for streams in self.streams[key].values():
            touched: dict[tuple, Touched] = {}
            for site, requests in streams.items():
                for request in requests:
                    there = touched.setdefault(
                        (site.tensor, request.interval * (key[1] == "shared")), Touched(self.table)
                    )
                    if there.holds("", ("",), request.pattern, request.offset):
                        return True
                    there.add("", "", request.pattern, request.offset)
        return False

    def _most(self, key: Key, found: list[Segment]) -> int | None:
        """Requests there can be at most: as many as those of another line in the same loops that is in each of their
        iterations and has nothing to leave out."""
        mine = _bytes_by_loop(found)
        for other, segments in self.segments.items():
            theirs = _bytes_by_loop(segments)
            if other == key or other not in self.streams or theirs.keys() != mine.keys():
                continue
            factors = {Fraction(mine[loop], theirs[loop]) for loop in mine}
            if len(factors) > 1 or not all(segment.always for segment in segments):
                continue
            whole = self._priced(other, lambda request: True)
            if whole == self._priced(other, lambda request: not request.again):
                return int(whole.requests * factors.pop())
        return None

    # ---- wider instructions, iteration by iteration ----

    def _by_iteration(
        self, key: Key, segment: Segment, trips: dict[tuple, int], size: int, source: Cost, note: str
    ) -> tuple[Cost, str]:
        is_plain = all(width == size for width, _ in segment.widths)
        if is_plain and all(self._bytes(key, warp) == trips[warp] * segment.bytes for warp in self.warps):
            return source, "as the source" + note
        total, hows = Cost(), set()
        for warp in self.warps:
            for words in self._iterations(key, warp, trips[warp]):
                near = _moved_to_zero(words)
                cost, how = self._once(
                    ("iteration", near, segment.widths, *key[1:]), self._dealt, near, segment, size, key
                )
                total = total.plus(cost)
                hows.add(how)
        return total, ", ".join(sorted(hows - {""})) + note

    def _iterations(self, key: Key, warp: tuple, trips: int) -> Iterable[list[Word]]:
        """The words at a place, cut into as many equal parts as there are iterations."""
        streams = self.streams[key].get(warp, {})
        for site, requests in streams.items():
            if trips == 0 or len(requests) % trips:
                raise NotJoined(f"{len(requests)} requests of column {site.column} in {trips} iterations")
        parts = [(requests, len(requests) // trips) for requests in streams.values()]
        for trip in range(trips):
            yield [each[:2] for requests, step in parts for each in requests[trip * step : (trip + 1) * step]]

    def _dealt(self, words: tuple[Word, ...], segment: Segment, size: int, key: Key) -> tuple[Cost, str]:
        """The words of one iteration, dealt out to its instructions, the widest first.

        Where there are more instructions than words for them, the rest reads words again; where there are fewer than
        could be, any will do. Both are taken only where it makes no difference to the count which words these are.
        """
        different = list(dict.fromkeys(words))
        wanted = segment.bytes // size
        if not words:
            return Cost(), ""
        if key[2] == "store" and wanted != len(words):
            raise NotJoined(f"{wanted} words are stored in an iteration, where the source stores {len(words)}")
        if wanted < len(different):
            raise NotJoined(f"{len(different)} different words in an iteration, and instructions for {wanted}")
        left, total = set(different), Cost()
        for width, count in reversed(segment.widths):
            groups = _groups(different, left, width // size, size)
            priced = [self._cost(group[0], width, key) for group in groups]
            if len(groups) != count:
                priced = self._any(_starts(different, width // size, size), width, count, len(groups), key)
            for cost in priced:
                total = total.plus(cost)
            for group in groups[:count]:
                left -= set(group)
        if left:
            raise NotJoined(f"{len(left)} of {len(different)} words of an iteration are in no instruction of this line")
        how = "merged" if any(width > size for width, _ in segment.widths) else "as the source"
        if len(words) > wanted:
            how += f", {len(words) - len(different)} of {len(words)} kept in registers"
        elif wanted > len(words):
            how += f", {wanted - len(different)} read again"
        return total, how

    def _any(self, starts: list[Word], width: int, count: int, possible: int, key: Key) -> list[Cost]:
        """What `count` instructions of a width cost, whichever of the groups that begin so they are."""
        costs = {self._cost(start, width, key) for start in starts}
        if not costs:
            raise NotJoined(f"no words of this line lie as an instruction of {width} bytes needs them")
        if len(costs) > 1:
            raise NotJoined(f"{count} instructions of {width} bytes, {possible} are possible, and it matters which")
        return list(costs) * count

    # ---- wider instructions in several segments ----

    def _by_run(self, key: Key, found: list[Segment], size: int) -> tuple[Cost, str]:
        """An unrolled loop and what nvcc put around it for the rest: how a run of iterations divides among them."""
        total = Cost()
        for streams in self.streams[key].values():
            if len(streams) > 1 and len({site.column for site in streams}) > 1:
                raise NotJoined("several loops of different widths, and several accesses in the line")
            for requests in streams.values():
                for run in runs_of(requests, found, size):
                    near = _moved_to_zero(run)
                    cost, _ = self._once(("run", near, *key), self._run_priced, near, found, size, key)
                    total = total.plus(cost)
        return total, "merged, in several loops"

    def _run_priced(self, run: tuple[Word, ...], found: list[Segment], size: int, key: Key) -> tuple[Cost, str]:
        ways = counts_of_run(len(run), found, self.parents, size)
        if len(ways) != 1:
            listed = "; ".join(f"loop {segment.loop}: {segment}" for segment in found)
            what = "more than one way" if ways else "no way"
            raise NotJoined(f"{what} to divide {len(run)} requests in a row among several loops ({listed})")
        words, total = list(dict.fromkeys(run)), Cost()
        for width, count in ways.pop():
            if count:
                starts = _starts(words, width // size, size)
                if len(starts) < count and len(words) == len(run):
                    raise NotJoined(f"{count} instructions of {width} bytes, and words for {len(starts)}")
                for cost in self._any(starts, width, count, len(starts), key):
                    total = total.plus(cost)
        return total, ""

    # ---- costs ----

    def _cost(self, word: Word, width: int, key: Key) -> Cost:
        return cost_of(self.patterns[word[0]], word[1], width, key[1], key[2])

    def _once(self, name: tuple, work_out: Callable, *arguments: object) -> tuple[Cost, str]:
        if name not in self.known:
            self.known[name] = work_out(*arguments)
        return self.known[name]

    def _priced(self, key: Key, is_made: Callable[[Request], bool]) -> Cost:
        """The source's requests that are made, as wide as in the source."""
        counted: dict[tuple, int] = {}
        for streams in self.streams[key].values():
            for site, requests in streams.items():
                for request in requests:
                    if is_made(request):
                        name = (request.pattern, request.offset % 128, site.size)
                        counted[name] = counted.get(name, 0) + 1
        total = Cost()
        for (pattern, offset, size), times in counted.items():
            total = total.plus(self._cost((pattern, offset), size, key), times)
        return total


def _bytes_by_loop(segments: list[Segment]) -> dict[int, int]:
    found: dict[int, int] = {}
    for segment in segments:
        found[segment.loop] = found.get(segment.loop, 0) + segment.bytes
    return found


def _moved_to_zero(words: Iterable[Word]) -> tuple[Word, ...]:
    """By whole 128 bytes, so that what costs the same looks the same."""
    listed = list(words)
    base = listed[0][1] & ~127 if listed else 0
    return tuple((pattern, offset - base) for pattern, offset in listed)


def _group(start: Word, span: int, size: int) -> list[Word]:
    return [(start[0], start[1] + i * size) for i in range(span)]


def _starts(words: list[Word], span: int, size: int) -> list[Word]:
    """Where aligned groups of `span` words begin."""
    there = set(words)
    return [each for each in words if each[1] % (span * size) == 0 and there.issuperset(_group(each, span, size))]


def _groups(words: list[Word], left: set[Word], span: int, size: int) -> list[list[Word]]:
    """Aligned groups of words that are left; aligned as they are, no two have a word in common."""
    return [_group(each, span, size) for each in _starts([word for word in words if word in left], span, size)]
