"""Counts worked out a second time, from the addresses alone, by the plainest code: for each (access of the source,
occurrence) the set of lanes' addresses, its distinct sectors, its conflicts bank by bank. Nothing here knows how the
engine groups or counts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, dataclass

from catalogue import RUN
from reports import Record, read_report
from support import Case

Addresses = dict[int, int]  # of the lanes that take part


@dataclass
class Count:
    """parts: sectors of global memory, wavefronts of shared memory; ideal and conflicts: of shared memory only."""

    bytes: int = 0
    requests: int = 0
    parts: int = 0
    ideal: int = 0
    conflicts: int = 0


class Warp:
    """What one warp did: at each access of the source the addresses of its lanes, at their k-th time there."""

    def __init__(self) -> None:
        self.times: dict[tuple[int, int], int] = defaultdict(int)
        self.requests: dict[tuple[int, int], Addresses] = defaultdict(dict)

    def log(self, site: int, lane: int, address: int) -> None:
        time = self.times[site, lane]
        self.times[site, lane] += 1
        self.requests[site, time][lane] = address

    def add_global(self, count: Count, size: int) -> None:
        for addresses in self.requests.values():
            count.bytes += len(addresses) * size
            count.requests += 1
            count.parts += len({address // 32 for address in addresses.values()})

    def add_atomic(self, count: Count, size: int) -> None:
        """Lanes with the same address go one after the other: the k-th of each address are a pass."""
        for addresses in self.requests.values():
            count.bytes += len(addresses) * size
            count.requests += 1
            passes: dict[int, list[int]] = defaultdict(list)  # the addresses of each
            for address in addresses.values():
                passes[sum(address in others for others in passes.values())].append(address)
            count.parts += sum(len({address // 32 for address in each}) for each in passes.values())

    def add_shared(self, count: Count, size: int, is_load: bool) -> None:
        for addresses in self.requests.values():
            count.bytes += len(addresses) * size
            count.requests += 1
            add_banks(count, addresses, size, is_load)


def words_of_fullest_bank(addresses: Addresses, lanes: range, size: int) -> int:
    """32 banks of 4 bytes; these lanes are served together: the bank with most distinct words decides."""
    words = {(addresses[lane] + byte) // 4 for lane in lanes if lane in addresses for byte in range(size)}
    banks: dict[int, int] = defaultdict(int)
    for word in words:
        banks[word % 32] += 1
    return max(banks.values(), default=0)


def all_partners_share(addresses: Addresses, distance: int) -> bool:
    """Every active lane finds the lane `distance` away at the same address, or inactive."""
    return all(addresses.get(lane ^ distance, address) == address for lane, address in addresses.items())


def add_banks(count: Count, addresses: Addresses, size: int, is_load: bool) -> None:
    lanes = 32 if size <= 4 else 128 // size
    merged = is_load and size > 4 and (all_partners_share(addresses, 1) or all_partners_share(addresses, 2))
    at_once = 2 * lanes if merged else lanes
    for first in range(0, 32, lanes):
        count.ideal += words_of_fullest_bank(addresses, range(first, first + lanes), size) > 0
    for first in range(0, 32, at_once):
        words = words_of_fullest_bank(addresses, range(first, first + at_once), size)
        count.parts += words
        count.conflicts += words - 1 if words else 0


# The plain code against a few worked out by hand: of a load of shared memory the bytes, the lanes that take part and
# the element of each; wavefronts, ideal ones, conflicts. 16 bytes: 8 groups of banks, 4 passes of 8 lanes, or 2 of 16
# where every active lane n finds lane n^1 at its own address or inactive, or every one lane n^2. 8 bytes: 16 groups,
# 2 passes of 16 or 1 of 32.
ALL, EVEN = range(32), range(0, 32, 2)
BY_HAND = [
    (16, ALL, lambda n: 5, 2, 4, 0),  # never is it one pass of 32
    (16, ALL, lambda n: n, 4, 4, 0),
    (16, ALL, lambda n: n // 2, 2, 4, 0),
    (16, ALL, lambda n: n // 4 * 2 + n % 2, 2, 4, 0),
    # One rule for the whole warp: n^1 in one half and n^2 in the other is neither.
    (16, ALL, lambda n: n // 2 if n < 16 else n // 4 * 2 + n % 2, 4, 4, 0),
    # One lane that strays parts all of them, unless its partner is inactive.
    (16, ALL, lambda n: 16 if n == 31 else n // 2, 4, 4, 0),
    (16, [*range(30), 31], lambda n: 23 if n == 31 else n // 2, 2, 4, 0),
    (16, EVEN, lambda n: n, 2 + 2, 4, 2),  # 8 of 16 lanes, twice in each group of banks
    (16, range(4), lambda n: n, 1, 1, 0),  # a pass in which nobody is active is none
    # Merged passes with conflicts: the reads of A and of B in a matrix product with 8 x 8 elements a thread, whose
    # 2-way conflicts Nsight Compute counts on an RTX 4090 (kapilsh.github.io, 2025-10-01): 2 and 4.
    (16, ALL, lambda n: n // 8 * 16, 2 + 2, 4, 2),
    (16, ALL, lambda n: n % 8 * 2, 4 * 2, 4, 4),
    (8, ALL, lambda n: n, 2, 2, 0),
    (8, ALL, lambda n: n // 2, 1, 2, 0),
    (8, EVEN, lambda n: n, 2, 2, 1),  # two elements in every second group
    (4, ALL, lambda n: n // 8 * 64, 4, 1, 3),  # one pass of 32 in any case
]


def global_count(launch: Record, op: str) -> Count:
    record = launch["global"][op]
    return Count(record["bytes"], record["requests"], record["sectors"])


def shared_count(launch: Record, op: str) -> Count:
    record = launch["shared"][op]
    keys = ("bytes", "requests", "wavefronts", "ideal_wavefronts", "conflicts")
    return Count(*[record[key] for key in keys])


# ---- the kernels of programs/oracle.cu, written down again as addresses ----

N, WIDE_ELEMENTS, ROUNDS = 4096, 128, 64
MASK = 0xFFFFFFFF


def mix(x: int) -> int:
    x &= MASK
    x = (x ^ 61) ^ (x >> 16)
    x = x * 9 & MASK
    x ^= x >> 4
    x = x * 0x27D4EB2D & MASK
    return x ^ x >> 15


def choose(turn: int, warp: int, lane: int) -> int | None:
    """oracle.cu's choose() and choose_own(): the element this lane takes, or None."""
    r = mix(977 * turn + 31 * warp)
    pair, crossed, stray = lane // 2, lane // 4 * 2 + lane % 2, lane == (r >> 16) % 32
    halves, further = pair if lane < 16 else crossed, lane // 8 * 4 + lane % 4
    groups = [pair, crossed, lane // 4, halves, pair, crossed, 5, further, lane % 16, lane % 31]
    group = 99 if r % 10 in (4, 5) and stray else groups[r % 10]
    idle = [
        False,
        mix(r + lane) % 8 == 0,
        lane % 2 != 0,
        lane & 2 != 0,
        mix(r + lane) % 3 != 0,
        lane < 16,
        lane & 8 != 0,
        lane // 4 != (r >> 12) % 8,
    ][(r >> 8) % 8]
    if idle:
        return None
    return group if (r >> 21) % 3 == 0 else mix(r + 64 * group) % WIDE_ELEMENTS


def choose_own(turn: int, warp: int, lane: int) -> int | None:
    r = mix(turn + 7 * warp)
    return None if r % 3 == 0 and lane % 2 else ((lane << (r >> 4) % 3) + (r >> 9)) % WIDE_ELEMENTS


PLACES = {"alloc3": 509, "alloc4": 65597, "early": 61, "late": 40}  # bytes of each


def choose_spot(turn: int, lane: int, size: int) -> tuple[int, int] | None:
    """oracle.cu's: the number of the allocation and the element in it."""
    r = mix(131 * turn + 5)
    first, other, thread = r >> 8 & 3, (r >> 11) % 32, lane
    if (turn % 2 == 0 or size == 4) and (r >> 22) % 8 < 3:
        lane = (0, lane // 2, lane % 31)[(r >> 22) % 8]
    place = [first, lane % 4, (first + (lane < other)) % 4, mix(r + lane) % 4, 3 - first if lane == other else first][
        r % 5
    ]
    elements = list(PLACES.values())[place] // size
    element = [elements - 1 - lane, elements // 2 - 16 + lane, (2 + (r >> 24) % 3) * lane][(r >> 16) % 3]
    idle = (r >> 20) % 2 and mix(r ^ thread) % 5 == 0
    return None if idle or not 0 <= element < elements else (place, element)


class Counts(Case):
    def launches(self) -> list[Record]:
        path = self.scratch / "report.json"
        outcome = RUN["oracle"](SIM_REPORT=str(path))
        self.assertEqual(outcome.status, 0, outcome.err)
        launches = read_report(path).launches
        self.assertEqual(len(launches), 16)
        return launches

    def expect_count(self, what: str, counted: Count, computed: Count) -> None:
        self.expect_equal(astuple(counted), astuple(computed), f"{what}: from the addresses")

    def test_the_rule_by_hand(self):
        for number, (size, lanes, element, *wanted) in enumerate(BY_HAND):
            count = Count()
            add_banks(count, {lane: size * element(lane) for lane in lanes}, size, is_load=True)
            self.expect_equal([count.parts, count.ideal, count.conflicts], wanted, f"row {number}")

    def test_random_gather(self):
        launch = self.launches()[0]
        load, touched = Count(), set()
        for block in range(3):
            for first in range(0, 100, 32):
                warp = Warp()
                for thread in range(first, min(first + 32, 100)):
                    i = 100 * block + thread
                    for k in range(mix(i) % 7):
                        r = mix(1000 * i + k)
                        index = (r % N, (r // 8 + i) % N, i)[r % 3]
                        warp.log(r % 3, thread % 32, 4 * index)
                        touched.add(index)
                warp.add_global(load, 4)
        self.expect_count("gather", global_count(launch, "load"), load)
        self.expect_equal(launch["footprint"]["read_bytes"], 4 * len(touched), "gather: footprint")
        self.expect(load.requests > 100 and load.parts > load.requests, "the oracle saw nothing")

    def test_unequal_loops(self):
        launch = self.launches()[1]
        load = Count()
        for first in range(0, 4 * 96, 32):
            warp = Warp()
            for i in range(first, first + 32):
                trips = 0 if i % 64 == 0 else mix(i) % (600 if i % 5 == 0 else 20)
                for k in range(trips):
                    warp.log(0, i % 32, 8 * ((mix(i + 7) + 3 * k) % N))
            warp.add_global(load, 8)
        self.expect_count("unequal", global_count(launch, "load"), load)
        self.expect(load.requests > 12 * 300, "the oracle saw no long loops")

    def test_random_shares(self):
        launches = self.launches()[2:10]
        for index, launch in enumerate(launches):
            self.check_wide(launch, 64 if index < 5 else 45, (1, 2, 4, 8, 16, 4, 8, 16)[index])

    def check_wide(self, launch: Record, threads: int, size: int) -> None:
        load, store, atomic = Count(), Count(), Count()
        size_of_count = 4 if size == 4 else 8
        for width in (size, size_of_count):  # before its rounds a kernel stores all elements, side by side
            for first in range(0, threads, 32):
                warp = Warp()
                for thread in range(first, min(first + 32, threads)):
                    for k in range(thread, WIDE_ELEMENTS, threads):
                        warp.log(0, thread % 32, width * k)
                warp.add_shared(store, width, is_load=False)
        for number, lanes in enumerate((32, threads - 32)):
            for turn in range(ROUNDS):
                for total, chosen, is_load in ((load, choose, True), (store, choose_own, False)):
                    warp = Warp()
                    for lane in range(lanes):
                        element = chosen(turn, number, lane)
                        if element is not None:
                            warp.log(0, lane, size * element)
                    warp.add_shared(total, size, is_load)
            loads, atomics = Warp(), Warp()  # once more: lanes at their k-th time there
            for turn in range(ROUNDS):
                for lane in range(lanes):
                    element = choose(turn, number, lane)
                    if element is not None:
                        loads.log(0, lane, size * element)
                        atomics.log(0, lane, size_of_count * element)
            loads.add_shared(load, size, is_load=True)
            atomics.add_shared(atomic, size_of_count, is_load=False)
        what = f"{size}-byte accesses, {threads} threads"
        self.expect_count(f"{what}: loads", shared_count(launch, "load"), load)
        self.expect_count(f"{what}: stores", shared_count(launch, "store"), store)
        self.expect_count(f"{what}: atomics", shared_count(launch, "atomic"), atomic)
        self.expect(size == 1 or load.conflicts > 0 and store.conflicts > 0, "the oracle saw no conflicts")
        self.expect_equal(store.conflicts, store.parts - store.ideal, "stores do not merge")
        if size > 4:  # fewer passes than the width has phases
            self.expect(load.parts - load.conflicts < load.ideal, "the oracle saw no merged load")

    def test_lanes_in_several_allocations(self):
        """Kills: an instruction whose lanes are all counted for the allocation of the first, or of the lowest address,
        sectors that are counted as if they were neighbors, and a footprint that ends with an allocation's last word."""
        launches = self.launches()[10:15]
        for launch, size, lanes in zip(launches, (1, 2, 4, 8, 16), (32, 32, 32, 27, 32)):
            self.check_scattered(launch, size, lanes)

    def check_scattered(self, launch: Record, size: int, lanes: int) -> None:
        what = f"{size}-byte accesses in several allocations"
        ops = ("load", "atomic" if size == 4 else "store")
        requested = {(name, op): 0 for name in PLACES for op in ops}
        touched: dict[tuple[str, str], set[int]] = {key: set() for key in requested}
        mixed = 0
        for op, first in zip(ops, (0, 1)):
            total = Count()
            for turn in range(first, 2 * ROUNDS, 2):
                warp, places = Warp(), set()
                for lane in range(lanes):
                    spot = choose_spot(turn, lane, size)
                    if spot is not None:
                        name = list(PLACES)[spot[0]]
                        places.add(name)
                        warp.log(0, lane, (spot[0] << 20) + size * spot[1])  # no two share a sector
                        requested[name, op] += size
                        touched[name, op].update(range(size * spot[1], size * (spot[1] + 1)))
                if op == "atomic":
                    warp.add_atomic(total, size)
                else:
                    warp.add_global(total, size)
                mixed += len(places) > 1
            self.expect_count(f"{what}: {op}", global_count(launch, op), total)
        self.expect(mixed > ROUNDS, "the oracle saw few instructions in several allocations")
        tensors = {tensor["name"]: tensor for tensor in launch["tensors"]}
        self.expect_equal(set(tensors), set(PLACES), f"{what}: tensors")
        for name, tensor in tensors.items():
            keys = ("read_bytes", "atomic_bytes" if size == 4 else "write_bytes")
            for op, key in zip(ops, keys):
                self.expect_equal(tensor["requested"].get(key, 0), requested[name, op], f"{what}: {name}, {op}")
            read, written = touched[name, "load"], touched[name, ops[1]]
            footprint = (len(read | written if size == 4 else read), len(written))
            counted = (tensor["footprint"]["read_bytes"], tensor["footprint"]["write_bytes"])
            self.expect_equal(counted, footprint, f"{what}: {name}, footprint")
