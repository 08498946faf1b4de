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
    groups = [pair, crossed, lane // 4, pair if lane < 16 else crossed, pair, crossed, lane]
    group = 99 if r % 7 in (4, 5) and stray else groups[r % 7]
    idle = [
        False,
        mix(r + lane) % 8 == 0,
        lane % 2 != 0,
        lane & 2 != 0,
        mix(r + lane) % 3 != 0,
    ][(r >> 8) % 5]
    if idle:
        return None
    return group if (r >> 21) % 3 == 0 else mix(r + 64 * group) % WIDE_ELEMENTS


def choose_own(turn: int, warp: int, lane: int) -> int | None:
    r = mix(turn + 7 * warp)
    return None if r % 3 == 0 and lane % 2 else ((lane << (r >> 4) % 3) + (r >> 9)) % WIDE_ELEMENTS


class Counts(Case):
    def launches(self, name: str, count: int) -> list[Record]:
        path = self.scratch / "report.json"
        outcome = RUN[name](SIM_REPORT=str(path))
        self.assertEqual(outcome.status, 0, outcome.err)
        launches = read_report(path).launches
        self.assertEqual(len(launches), count)
        return launches

    def expect_count(self, what: str, counted: Count, computed: Count) -> None:
        self.expect_equal(astuple(counted), astuple(computed), f"{what}: from the addresses")

    # ---- strides ----

    def test_strides(self):
        launches = self.launches("strides", 256 + 5 * 33)
        for offset in range(4):
            for stride in range(1, 65):
                self.check_global_stride(launches[64 * offset + stride - 1], offset, stride)
        for power in range(5):
            for stride in range(1, 34):
                self.check_shared_stride(launches[256 + 33 * power + stride - 1], 1 << power, stride)

    def check_global_stride(self, launch: Record, offset: int, stride: int) -> None:
        warp, load = Warp(), Count()
        for lane in range(32):
            warp.log(0, lane, 4 * (offset + stride * lane))
        warp.add_global(load, 4)
        counted = global_count(launch, "load")
        self.expect_count(f"stride {stride}, offset {offset}", counted, load)
        if offset == 0:
            self.expect_equal(counted.parts, min(32, 4 * stride), f"stride {stride}: sectors")

    def check_shared_stride(self, launch: Record, size: int, stride: int) -> None:
        warp, load, store = Warp(), Count(), Count()
        for lane in range(32):
            warp.log(0, lane, size * stride * lane)
        warp.add_shared(load, size, is_load=True)
        warp.add_shared(store, size, is_load=False)
        counted = shared_count(launch, "load")
        self.expect_count(f"{size}-byte load, stride {stride}", counted, load)
        self.expect_count(f"{size}-byte store, stride {stride}", shared_count(launch, "store"), store)
        # the rule everybody knows: gcd(k, 32) lanes want the same bank
        if size == 4 and stride & (stride - 1) == 0:
            self.expect_equal(counted.parts, stride, f"stride {stride}: wavefronts")
        if size == 4 and stride % 2 == 1:
            self.expect_equal(counted.parts, 1, f"odd stride {stride}: wavefronts")
        if stride == 1:
            phases = max(1, size // 4)
            self.expect_equal((counted.ideal, counted.parts), (phases, phases), f"{size} bytes: not by phases")

    # ---- oracle.cu ----

    def test_random_gather(self):
        launch = self.launches("oracle", 9)[0]
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

    def test_random_shared(self):
        launch = self.launches("oracle", 9)[1]
        load, store = Count(), Count()
        for block in range(2):
            for first in range(0, 128, 32):
                loads, stores = Warp(), Warp()
                for thread in range(first, first + 32):
                    for k in range(thread, 1024, 128):
                        stores.log(0, thread % 32, 4 * k)
                    for k in range(8):
                        loads.log(0, thread % 32, 4 * (mix(thread * 8 + k + block) % 1024))
                stores.add_shared(store, 4, is_load=False)
                loads.add_shared(load, 4, is_load=True)
        self.expect_count("shared_random, stores", shared_count(launch, "store"), store)
        self.expect_count("shared_random, loads", shared_count(launch, "load"), load)
        self.expect(load.parts > 2 * load.requests, "the oracle saw no conflicts")

    def test_unequal_loops(self):
        launch = self.launches("oracle", 9)[2]
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
        launches = self.launches("oracle", 9)[3:]
        for index, launch in enumerate(launches):
            self.check_wide(launch, 64 if index < 3 else 45, 4 << index % 3)

    def check_wide(self, launch: Record, threads: int, size: int) -> None:
        load, store = Count(), Count()
        for first in range(0, threads, 32):  # before its rounds a kernel stores all elements, side by side
            warp = Warp()
            for thread in range(first, min(first + 32, threads)):
                for k in range(thread, WIDE_ELEMENTS, threads):
                    warp.log(0, thread % 32, size * k)
            warp.add_shared(store, size, is_load=False)
        for number, lanes in enumerate((32, threads - 32)):
            for turn in range(ROUNDS):
                for total, chosen, is_load in ((load, choose, True), (store, choose_own, False)):
                    warp = Warp()
                    for lane in range(lanes):
                        element = chosen(turn, number, lane)
                        if element is not None:
                            warp.log(0, lane, size * element)
                    warp.add_shared(total, size, is_load)
        what = f"{size}-byte accesses, {threads} threads"
        self.expect_count(f"{what}: loads", shared_count(launch, "load"), load)
        self.expect_count(f"{what}: stores", shared_count(launch, "store"), store)
        self.expect(load.conflicts > 0 and store.conflicts > 0, "the oracle saw no conflicts")
        self.expect_equal(store.conflicts, store.parts - store.ideal, "stores do not merge")
        if size > 4:  # fewer passes than the width has phases
            self.expect(load.parts - load.conflicts < load.ideal, "the oracle saw no merged load")
