"""racecheck against an oracle: random kernels, and what races in them by the rules of ../README.md, worked out here.

A kernel is a straight line for each thread: plain and volatile accesses of 1 to 16 bytes, atomics, fences, barriers,
__syncwarp() of some lanes, flags that are set, looked at and waited for. Each operation prints its number, so that the
oracle knows the order of this run. It goes through it with the set of the accesses that each thread knows to be before,
that a fence of it covers, and that it has seen released. Everything that racecheck names must be a race of the oracle,
and racecheck must name every byte that the oracle has a race for, in every order.

Kills an engine in which: atomics are not held against reads; a fence of the block is one of the device; a fence or a
barrier acquires nothing; a meeting of lanes hands on no fences, or nothing that was seen; what follows a fence, or is
of its interval, is released; each volatile store is a flag; a flag is known by its first word only; a release of the
device is lost behind one of the block; a store of the same value hides what was before it; an access takes the place
of one of other bytes; block atomics of two blocks may meet; lanes know of each other what came with their last
meeting; and, without fences, only the last reader is looked at, or only the last lane of its warp, a plain read hides
behind a volatile one, and a _block atomic behind another. Of locks it knows little: a pair of two threads that have
both exchanged a word may be named. They are left to broken_kernels and to races.txt.

Programs without a fence take another path of the engine, which the broken kernels hardly see: those of a batch are one
program, and it has fences.
"""

from __future__ import annotations

import random
import re
import unittest
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Callable, NamedTuple

import golden
from reports import Record, read_report
from support import LONG, TESTS, Case, Program, inline, program

LANES = 3  # that do something, in each warp; the last warp has no others
# Of random kernels, these are enough for the faults above; LONG=1 has more.
CHOSEN = {
    True: [4, 5, 6, 12, 17, 33, 55, 63, 75, 142, 157, 195, 202, 218, 1061],
    False: [1, 3, 8, 13, 14, 21, 39, 51, 61, 338, 421, 525, 807, 1002, 1003, 1015, 1028, 1045],
}
AT_ONCE = 24  # in a program
ORDERS = ["forward", "reverse", "shuffle:1", "shuffle:2"]
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "uint4"}
LOAD, VOLATILE_LOAD, STORE, VOLATILE_STORE, FLAG, ATOMIC, BLOCK_ATOMIC = range(7)
STRONG = (VOLATILE_LOAD, FLAG, ATOMIC, BLOCK_ATOMIC)
TOUCHES = {"load": LOAD, "look": VOLATILE_LOAD, "wait": VOLATILE_LOAD, "store": STORE, "set": VOLATILE_STORE}
CODE = {
    "load": "k += *({type} *)({at});",
    "look": "k += *(volatile {type} *)({at});",
    "wait": "while (*(volatile {type} *)({at}) == 0) {{}}",
    "store": "*({type} *)({at}) = ({type}){value};",
    "set": "*(volatile {type} *)({at}) = ({type}){value};",
    "add": "k += atomicAdd{block}((unsigned *)({at}), 1u);",
    "exchange": "k += atomicExch{block}((unsigned *)({at}), {value}u);",
    "take": "while (atomicCAS{block}((unsigned *)({at}), 0u, 1u) != 0) {{}}",
    "leave": "atomicExch{block}((unsigned *)({at}), 0u);",
    "free": "*(volatile unsigned *)({at}) = 0u;",
    "copy": "__pipeline_memcpy_async(s + {offset}, g + {offset}, {size}, (t + {offset}) % {size}); "
    "__pipeline_commit(); __pipeline_wait_prior(0);",
    "fence": "__threadfence{block}();",
}
Thread = tuple[int, int]  # block, and number in it
Byte = tuple[str, int, int]  # space, block if it is shared memory, offset


@dataclass
class Operation:
    number: int
    kind: str
    space: str = ""
    offset: int = 0
    size: int = 4
    value: int = 1
    in_block: bool = False  # a fence or an atomic of block scope
    threads: tuple[Thread, ...] = ()  # of a __syncwarp()
    mask: int = 0

    def text(self) -> str:
        at, block = f"{self.space} + {self.offset}", "_block" * self.in_block
        value = "0x" + f"{self.value:02x}" * min(self.size, 8)
        if self.kind == "sync":
            return f"N({self.number}); __syncwarp({self.mask:#x});"
        if self.size == 16 and self.kind != "copy":
            words = ", ".join([f"{value[:10]}u"] * 4)
            code = "{{ uint4 x = *(uint4 *)({at}); k += x.x; }}"
            code = code if self.kind == "load" else "*(uint4 *)({at}) = make_uint4({value});"
            return code.format(at=at, value=words) + f" N({self.number});"
        numbers = {"offset": self.offset, "size": self.size}
        code = CODE[self.kind].format(type=TYPES[self.size], at=at, value=value, block=block, **numbers)
        return f"{code} N({self.number});"


@dataclass
class Kernel:
    name: str
    blocks: int
    warps: int
    operations: list[Operation] = field(default_factory=list)
    phases: list[dict[tuple[Thread, ...], list[Operation]]] = field(default_factory=list)  # between barriers

    @property
    def threads(self) -> int:
        return 32 * (self.warps - 1) + LANES

    def add(self, **what) -> Operation:
        self.operations.append(Operation(len(self.operations), **what))
        return self.operations[-1]

    def lines(self) -> list[str]:
        """Each operation ends its line with its mark."""
        lines = [f"__global__ void {self.name}(unsigned char *g)", "{"]
        lines += ["__shared__ __align__(16) unsigned char s[512];", "int t = threadIdx.x, b = blockIdx.x;"]
        lines += ["unsigned k = 0;", "for (int i = t; i < 512; i += blockDim.x)", "s[i] = 0;"]
        for phase in self.phases:
            lines.append("N(-1); __syncthreads();")
            for threads, operations in phase.items():
                lines.append("if (" + " || ".join(f"(b == {b} && t == {t})" for b, t in threads) + ") {")
                lines += [f"{operation.text()} // {self.name}.{operation.number}" for operation in operations]
                lines.append("}")
            lines += self.others(phase)
        return [*lines, "(void)k;", "}"]

    def others(self, phase: dict[tuple[Thread, ...], list[Operation]]) -> list[str]:
        """The lanes that do nothing come to each __syncwarp() of the whole warp."""
        busy = {thread for threads in phase for thread in threads}
        lines = []
        for b, w in {(b, t // 32) for b, t in busy}:
            one = next(list_ for threads, list_ in phase.items() if (b, w) == (threads[0][0], threads[0][1] // 32))
            idle = "".join(f" && t != {t}" for c, t in sorted(busy) if (c, t // 32) == (b, w))
            count = sum(operation.mask == 0xFFFFFFFF for operation in one)
            lines += [f"if (b == {b} && t / 32 == {w}{idle}) {{", *["__syncwarp();"] * count, "}"]
        return lines


def turn(kernel: Kernel, chance: random.Random, space: str) -> list[Operation]:
    """Of locks, one in the other, mostly with fences."""
    does: list[Operation] = []

    def add(kind: str, often: float = 1, **what) -> None:
        if chance.random() < often:
            does.append(kernel.add(kind=kind, **what))

    def touch() -> None:
        for _ in range(chance.choice([0, 1, 1, 2])):
            add(chance.choice(["load", "store"]), space=chance.choice("g" + space), offset=chance.choice([0, 4]))

    locks = sorted(chance.sample(range(6), chance.choice([1, 1, 1, 2, 2, 3, 6])))
    for lock in locks:
        add("take", space=space, offset=32 + 4 * lock, in_block=chance.random() < 0.1)
        add("fence", 0.7, in_block=chance.random() < 0.3)
        touch()
    for lock in locks[:: chance.choice([1, -1, -1])]:
        touch()
        add("fence", 0.7, in_block=chance.random() < 0.3)
        add(chance.choice(["leave", "leave", "free"]), space=space, offset=32 + 4 * lock)
    return does


def random_kernel(name: str, chance: random.Random, fences: bool, more: bool = False) -> Kernel:
    """Flags are waited for after they are set, in one order of all operations: so nobody waits for ever. `more`: than
    the oracle knows, as locks, copies and long histories."""
    kernel = Kernel(name, chance.choice([1, 1, 2, 2, 3]), chance.choice([1, 2, 2, 3]))
    fences = fences and chance.random() < 0.85
    spaces = "g" if kernel.blocks > 1 and chance.random() < 0.6 else "gs"
    sizes = chance.choice([[4], [4], [4, 4, 1], [4, 2, 1], [4, 8], [4, 8, 16]])
    values = chance.choice([[1], [1, 2, 3], list(range(1, 250))]) if fences else list(range(1, 250))
    words = chance.sample(range(4), 2)
    next_flag = defaultdict(lambda: 64)
    flags: list[tuple[str, int, int]] = []  # space, offset, block
    for _ in range(chance.choice([1, 2, 2, 3])):
        phase: dict[tuple[Thread, ...], list[Operation]] = {}
        for b in range(kernel.blocks):
            for w in range(kernel.warps):
                lanes = [(b, 32 * w + lane) for lane in range(LANES)]
                together = chance.random() < 0.3  # or each lane by itself, or not at all
                groups = [tuple(lanes)] if together else [(lane,) for lane in lanes if chance.random() < 0.75]
                phase.update({group: [] for group in groups})
        for _ in range(len(phase) * chance.choice([2, 3, 4]) * (chance.choice([1, 1, 5]) if more else 1)):
            group = chance.choice(list(phase))
            (b, t), does, what = group[0], phase[group], chance.random()
            space, size = chance.choice(spaces), chance.choice(sizes)
            offset = chance.choice(words) * 4
            offset = offset // size * size if size >= 4 else offset + chance.randrange(4 // size) * size
            if more and fences and chance.random() < 0.3:
                does.extend(turn(kernel, chance, space))
            elif more and chance.random() < 0.1:
                size = chance.choice([4, 8, 16])
                does.append(kernel.add(kind="copy", offset=offset // size * size, size=size))
            elif what < 0.1:
                mates = [other for other in phase if (other[0][0], other[0][1] // 32) == (b, t // 32)]
                whole = chance.random() < 0.4
                mates = [other for other in mates if whole or other == group or chance.random() < 0.6]
                threads = tuple(thread for other in mates for thread in other)
                mask = 0xFFFFFFFF if whole else sum(1 << each % 32 for _, each in threads)
                meeting = kernel.add(kind="sync", threads=threads, mask=mask)
                for other in mates:
                    phase[other].append(meeting)
            elif fences and what < 0.4:
                if chance.random() < 0.7:
                    does.append(kernel.add(kind="fence", in_block=chance.random() < 0.3))
                near = [flag for flag in flags if flag[0] == "g" or flag[2] == b]
                key = b if space == "s" else -1
                if (what < 0.25 and next_flag[key] < 512) or not near:
                    flag = (space, next_flag[key], b)
                    next_flag[key] += 4
                    flags.append(flag)
                    kind = chance.choice(["set", "exchange", "add"])
                    in_block = kind != "set" and chance.random() < 0.3
                    does.append(kernel.add(kind=kind, space=space, offset=flag[1], in_block=in_block))
                    if in_block:
                        does.append(kernel.add(kind="add", space=space, offset=flag[1]))
                else:
                    flag = chance.choice(near)
                    kind = "wait" if flag[2] == b and chance.random() < 0.5 else chance.choice(["look", "add", "load"])
                    does.append(kernel.add(kind=kind, space=flag[0], offset=flag[1]))
                    if chance.random() < 0.8:
                        does.append(kernel.add(kind="fence", in_block=chance.random() < 0.3))
            else:
                kind = chance.choice(["load", "store"] * 3 + ["look", "set", "add", "exchange"])
                atomic = kind in ("add", "exchange")
                if atomic or (size == 16 and kind in ("look", "set")):
                    size, offset = 4, offset // 4 * 4
                in_block = atomic and chance.random() < 0.25
                value = chance.choice(values)
                does.append(
                    kernel.add(kind=kind, space=space, offset=offset, size=size, value=value, in_block=in_block)
                )
        kernel.phases.append(phase)
    return kernel


# ---- the oracle ----


class Access(NamedTuple):
    thread: Thread
    operation: Operation
    touches: tuple[int, ...]  # two where a volatile store may pass for a flag or not
    bytes: frozenset[Byte]
    known: int  # the accesses before it, a bit for each
    stands: int  # the first of its thread's releases to the same place with no fence between: racecheck knows that one
    exchanged: frozenset[tuple]  # where its thread may have taken a lock
    interval: int  # barriers that its thread has passed


@dataclass
class State:
    """What a thread knows, what its fences cover, and what it has seen released: by scope, block and device."""

    known: int = 0
    acquired: int = 0  # of what it knows
    covered: list[int] = field(default_factory=lambda: [0, 0])
    fenced: list[bool] = field(default_factory=lambda: [False, False])
    seen: list[int] = field(default_factory=lambda: [0, 0])
    flags: bool = False  # a volatile store is a flag: no plain store since its fence,
    may_flag: bool = False  # or that of another thread that it has met


def meet(states: list[State], is_barrier: bool) -> None:
    """After a barrier, what one has seen is known."""
    covered = tuple(_union(state.covered[scope] for state in states) for scope in (0, 1))
    seen = tuple(_union(state.seen[scope] for state in states) for scope in (0, 1))
    acquired = _union(state.acquired for state in states) | (seen[1] if is_barrier else 0)
    known = _union(state.known for state in states) | acquired
    fenced = [any(state.fenced[scope] for state in states) for scope in (0, 1)]
    may_flag = any(state.may_flag for state in states)
    for state in states:
        state.known, state.acquired, state.covered, state.fenced, state.may_flag = (
            known,
            acquired,
            list(covered),
            list(fenced),
            may_flag,
        )
        state.seen = [0, 0] if is_barrier else list(seen)


def _union(sets) -> int:
    result = 0
    for each in sets:
        result |= each
    return result


def accesses_of(kernel: Kernel, trace: list[tuple[int, int, int]]) -> list[Access]:
    states: dict[Thread, State] = defaultdict(State)
    released: dict[tuple, int] = defaultdict(int)  # by address and block, or -1: by the device
    own: dict[tuple, int] = defaultdict(int)  # flags and atomics there, by thread and address
    first: dict[Thread, dict[tuple, int]] = defaultdict(dict)  # of its releases since its last fence, by address
    exchanged: dict[Thread, frozenset[tuple]] = defaultdict(frozenset)
    waiting: dict[tuple[int, int], list[State]] = defaultdict(list)
    has_flagged: dict[int, bool] = defaultdict(bool)  # by block
    interval: dict[Thread, int] = defaultdict(int)
    accesses: list[Access] = []
    for b, t, number in trace:
        thread, state = (b, t), states[b, t]
        operation = kernel.operations[number] if number >= 0 else Operation(-1, "barrier")
        if operation.kind in ("barrier", "sync"):
            first[thread].clear()
            interval[thread] += operation.kind == "barrier"
            come = waiting[b, number]
            come.append(state)
            if len(come) == (kernel.threads if number < 0 else len(operation.threads)):
                meet(come, number < 0)
                if number < 0:
                    has_flagged[b] |= state.may_flag
                    for each in come:
                        each.may_flag = has_flagged[b]
                come.clear()
            continue
        if operation.kind == "fence":
            first[thread].clear()
            state.acquired |= state.seen[0] if operation.in_block else state.seen[0] | state.seen[1]
            state.known |= state.acquired
            state.flags = state.may_flag = True
            for scope in (0,) if operation.in_block else (0, 1):
                state.seen[scope] = 0
                state.covered[scope] |= state.known
                state.fenced[scope] = True
            continue
        touch = TOUCHES.get(operation.kind, BLOCK_ATOMIC if operation.in_block else ATOMIC)
        touches = (touch,)
        if touch == VOLATILE_STORE:
            touches = (FLAG,) if state.flags else (FLAG, touch) if state.may_flag else (touch,)
        elif touch == STORE:
            state.flags = state.may_flag = False
        space, place = operation.space, (operation.space, b if operation.space == "s" else -1, operation.offset)
        bytes_ = frozenset((*place[:2], operation.offset + i) for i in range(operation.size))
        bit = 1 << len(accesses)
        stands = first[thread].setdefault(place, len(accesses)) if touch >= VOLATILE_STORE else len(accesses)
        exchanged[thread] |= {place} if operation.kind == "exchange" else set()
        order = (state.known, stands, exchanged[thread], interval[thread])
        accesses.append(Access(thread, operation, touches, bytes_, *order))
        if touch in (VOLATILE_LOAD, ATOMIC, BLOCK_ATOMIC):
            for scope in (0, 1):
                state.seen[scope] |= released[place, b]
            state.seen[1] |= 0 if operation.in_block else released[place, -1]
        state.known |= bit
        if touch in (VOLATILE_STORE, ATOMIC, BLOCK_ATOMIC) and state.fenced[0]:
            own[thread, place] |= bit if touches != (VOLATILE_STORE,) else 0
            released[place, b] |= state.covered[0] | state.acquired | own[thread, place]
            if state.fenced[1] and not operation.in_block and space == "g":
                released[place, -1] |= state.covered[1] | state.acquired | own[thread, place]
    return accesses


def may_meet(one: int, other: int, same_block: bool) -> bool:
    if max(one, other) <= VOLATILE_LOAD:
        return True
    return (
        one in STRONG
        and other in STRONG
        and (one, other) != (FLAG, FLAG)
        and (same_block or BLOCK_ATOMIC not in (one, other))
    )


def races(accesses: list[Access]) -> tuple[set[frozenset[int]], set[Byte], set[Byte]]:
    """The pairs of operations that may be named; the bytes for which one must be; and for which one must be an error,
    because more than lanes of one warp race for them."""
    pairs: set[frozenset[int]] = set()
    bytes_: set[Byte] = set()
    errors: set[Byte] = set()
    spared: set[Byte] = set()  # an atomic that a store was not held against is not remembered behind it
    looks = [each for each in accesses if each.touches[0] in (VOLATILE_LOAD, ATOMIC, BLOCK_ATOMIC)]

    def is_looked_at(flag: Access, reader: Access) -> bool:
        """A volatile store is checked late: what its readers' block did before it saw it may count as ordered, too."""
        return FLAG in flag.touches and any(
            look.thread[0] == reader.thread[0] and look.bytes & flag.bytes for look in looks
        )

    def comes_to_atomic(reader: Access) -> bool:
        """A read that an atomic of its thread follows, with no barrier between, is above suspicion, wherever that place
        is executed."""
        return reader.touches == (LOAD,) and any(
            one.operation is reader.operation
            and (one.thread, one.interval) == (atomic.thread, atomic.interval)
            and one.bytes & atomic.bytes
            for at, one in enumerate(accesses)
            for atomic in accesses[at + 1 :]
            if atomic.touches[0] >= ATOMIC
        )

    for later, now in enumerate(accesses):
        for earlier, before in enumerate(accesses[:later]):
            shared = now.bytes & before.bytes
            same_block = now.thread[0] == before.thread[0]
            if not shared or now.thread == before.thread:
                continue
            if now.known >> earlier & 1:
                if now.exchanged & before.exchanged:  # locks, perhaps: the other could have come first
                    pairs.add(frozenset((now.operation.number, before.operation.number)))
                continue
            meets = [may_meet(one, other, same_block) for one in now.touches for other in before.touches]
            stores = all(STORE <= access.touches[0] <= FLAG for access in (now, before))
            same = stores and now.operation.value == before.operation.value
            if all(meets) or (same and now.operation.size == before.operation.size):
                continue
            pairs.add(frozenset((now.operation.number, before.operation.number)))
            sides = ((now, before), (before, now))
            # A store is held against the last atomic alone.
            store_beside_atomic = any(STORE <= a.touches[0] <= FLAG and c.touches[0] >= ATOMIC for a, c in sides)
            spared |= shared if store_beside_atomic else set()
            explained = any(c.touches[0] >= ATOMIC and comes_to_atomic(a) for a, c in sides)
            known = now.known >> before.stands & 1 or any(is_looked_at(*side) for side in sides)
            if not any(meets) and not same and not store_beside_atomic and not explained and not known:
                bytes_ |= shared
                warps = {(each.thread[0], each.thread[1] // 32) for each in (now, before)}
                errors |= shared if len(warps) == 2 else set()
    return pairs, bytes_, errors - spared


# ---- the programs ----


class Generated(NamedTuple):
    kernels: list[Kernel]
    program: Program
    places: dict[int, tuple[str, int]]  # kernel and operation, by line


def generate(seeds: list[int], fences: bool, more: bool = False) -> Generated:
    kernels = [random_kernel(f"k{seed}", random.Random(seed), fences, more) for seed in seeds]
    lines = [
        "#include <cstdio>",
        "#include <cuda_pipeline.h>" * more,
        '#define N(i) printf("%d %d %d\\n", (int)blockIdx.x, (int)threadIdx.x, i)',
    ]
    lines += [line for kernel in kernels for line in kernel.lines()]
    lines += ["int main()", "{", "unsigned char *g;", "cudaMalloc(&g, 4096);"]
    for kernel in kernels:
        lines.append(f'cudaMemset(g, 0, 4096); printf("{kernel.name}\\n");')
        lines.append(f"{kernel.name}<<<{kernel.blocks}, {kernel.threads}>>>(g);")
    lines += ["return cudaDeviceSynchronize();", "}", ""]
    places = {}
    for number, line in enumerate(lines, 1):
        mark = re.search(r"// (k\d+)\.(\d+)$", line)
        if mark:
            places[number] = (mark[1], int(mark[2]))
    name = f"races.{seeds[0]}{'.fences' * fences}{'.more' * more}"
    return Generated(kernels, inline(name, "\n".join(lines), "-w"), places)


def all_programs(fences: bool) -> list[Generated]:
    seeds = list(range(1, 481)) if LONG else CHOSEN[fences]
    return [generate(seeds[first : first + AT_ONCE], fences) for first in range(0, len(seeds), AT_ONCE)]


POLLED = program("broken_kernels/correct/polled_count", "-w")
# Each of these is a race in every order but compare_again, left_twice and tell_often, which are right; the last three
# run alone.
HIDDEN = """#include <cstdio>
struct mallinfo { int before[7], uordblks, after[2]; };
extern "C" struct mallinfo mallinfo() __attribute__((weak)); // of the C library, if it has it
__global__ void last_thread_writes(int *x, int *y)
{
	y[threadIdx.x] = *x;
	if (threadIdx.x == blockDim.x - 1)
		*x = 0;
}
__global__ void read_and_guard(int *x, int *y)
{
	if (blockIdx.x == 0)
		y[0] = *x;
	if (blockIdx.x == 1 || *x < 5)
		atomicMax(x, 5 + 2 * blockIdx.x);
}
__global__ void read_beside_guard(int *x, int *y)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		y[0] = *x;
	if (blockIdx.x == 1 || (threadIdx.x == 1 && *x < 5))
		atomicMax(x, 5 + 2 * blockIdx.x);
}
__global__ void read_once_a_guard(int *x, int *y, bool all)
{
	if (all || blockIdx.x == 0)
		y[blockIdx.x] = *x;
	if (all || blockIdx.x == 1)
		atomicMax(x, 5 + blockIdx.x);
}
__global__ void added_in_its_block(int *x, int *)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		atomicAdd_block(x, 1);
	else if (blockIdx.x == 1 ? threadIdx.x == 0 : threadIdx.x % 32 == 0)
		atomicAdd(x, 1);
}
__global__ void read_before_looks(int *x, int *y)
{
	if (blockIdx.x == 0)
		y[0] = *x;
	else if (blockIdx.x < 3)
		y[blockIdx.x] = *(volatile int *)x;
	else
		atomicAdd(x, 1);
}
__global__ void read_in_the_interval(int *x, int *y)
{
	y[threadIdx.x] = *x;
	__syncthreads();
	if (threadIdx.x == 0) {
		y[0] = *x;
		*x = 7;
	}
	if (threadIdx.x == 64)
		*x = 7;
}
__global__ void pairs_read(int *, int *y)
{
	__shared__ int half[16];
	if (threadIdx.x < 16)
		half[threadIdx.x] = 0;
	__syncwarp();
	int v = half[threadIdx.x / 2];
	if (threadIdx.x % 2)
		half[threadIdx.x / 2] = v + 1;
	y[threadIdx.x] = v;
}
__global__ void lanes_beside_a_warp(int *, int *y)
{
	__shared__ int once;
	int v = 0;
	if (threadIdx.x == 32)
		v = once;
	if (threadIdx.x < 2)
		v = once;
	if (threadIdx.x == 0)
		v += once;
	__syncwarp();
	if (threadIdx.x == 0)
		once = 7;
	y[threadIdx.x] = v;
}
__global__ void lane_beside_lane(int *, int *y)
{
	__shared__ int once;
	int v = 0;
	if (threadIdx.x < 2)
		v = once;
	if (threadIdx.x == 0) {
		v += once;
		once = 7;
	}
	y[threadIdx.x] = v;
}
__global__ void last_words(int last, int *y)
{
	extern __shared__ int all[];
	if (threadIdx.x == 0)
		all[last] = 1;
	if (threadIdx.x == 32)
		((char *)all)[4 * last + 3] = 2;
	y[threadIdx.x] = all[last - 1 - threadIdx.x] = threadIdx.x;
}
__global__ void adder_reads(int *, int *y)
{
	__shared__ int added[32], written[32];
	if (threadIdx.x >= 4) { // all lanes at once, the lowest of which has changed what they read
		atomicExch(&added[threadIdx.x], 1);
		written[threadIdx.x] = 1;
		y[threadIdx.x] = added[4] + written[4];
	}
}
__global__ void adders_of_a_warp(int *x, int *y)
{
	__shared__ int once;
	if (threadIdx.x == 0)
		atomicExch(&once, 1), atomicAdd(x, 1);
	if (threadIdx.x == 0 || threadIdx.x == 3)
		__syncwarp(9);
	for (int i = 0; i < 2 && threadIdx.x == 1; i++)
		atomicExch(&once, 1), atomicAdd(x, 1);
	if (threadIdx.x == 1 || threadIdx.x == 2)
		__syncwarp(6);
	if (threadIdx.x == 2)
		y[0] = once + *x;
}
__global__ void same_words(int *, int *y)
{
	__shared__ int4 wide;
	__shared__ int word;
	if (threadIdx.x == 0) {
		wide = make_int4(9, 8, 7, 6);
		*(int4 *)y = make_int4(9, 8, 7, 6);
		word = 0x04030201;
	}
	if (threadIdx.x >= 32) {
		((int *)&wide)[threadIdx.x - 32] = 41 - threadIdx.x;
		y[threadIdx.x - 32] = 41 - threadIdx.x;
		((char *)&word)[threadIdx.x - 32] = threadIdx.x - 31;
	}
}
__global__ void one_of_equals(int *x, int *y)
{
	volatile int *flag = y;
	if (blockIdx.x < 2) {
		if (threadIdx.x == 32 * blockIdx.x || threadIdx.x == 32)
			*x = 1; // all but thread 32 of block 0 tell block 2
		if (threadIdx.x == 32 * blockIdx.x) {
			FENCE;
			flag[blockIdx.x] = 1;
		}
	} else if (threadIdx.x == 0) {
		int seen = flag[0] + flag[1];
		FENCE;
		*x = 2 + seen;
	}
}
__global__ void compare_again(int *x, int *)
{
	int v = threadIdx.x + 128 * blockIdx.x, seen = -1; // so that the last thread always comes round again
	while (seen < v) {
		if (atomicCAS(x, seen, v) == seen)
			break;
		seen = *x;
	}
}
__global__ void left_twice(int *, int *y)
{
	volatile int *mine = y + 2 * blockIdx.x;
	atomicExch((int *)mine, 1);
	y[2 * blockIdx.x + 1] = 5;
	FENCE;
	*mine = 0;
	*mine = 2;
}
__global__ void tell_often(int *, int *y)
{
	FENCE;
	__syncthreads();
	atomicAdd(&y[threadIdx.x], 1);
	FENCE;
	atomicAdd(&y[128 + threadIdx.x], 1);
}
__global__ void too_much_to_know(int *x, int *y)
{
	for (int i = 0; threadIdx.x == 0 && blockIdx.x == 0 && i <= 1 << 16; i++) { // each is known to block and device
		FENCE;
		atomicAdd(x, 1);
	}
	if (threadIdx.x == 32)
		FENCE;
	__syncthreads();
	if (threadIdx.x == 1 || threadIdx.x == 64)
		FENCE;
	if (threadIdx.x % 32 == 0)
		y[threadIdx.x / 32] = blockIdx.x + 1;
	if (threadIdx.x == 96)
		y[0] = y[1] = y[2] = 3;
}
__global__ void lock_through_a_barrier(int *x, int *y)
{
	if (threadIdx.x == 33 * (blockIdx.x % 2))
		while (atomicCAS(x, 0, 1) != 0) {
		}
	__syncthreads(); // a fence for who holds a lock, too
	if (threadIdx.x == 33 * (blockIdx.x % 2)) {
		*y += 1;
		FENCE;
		atomicExch(x, 0);
	}
}
__global__ void many_barriers(int *, int *y)
{
	int *mine = y + 4 * blockIdx.x;
	if (threadIdx.x == 0)
		mine[0] = y[8 + blockIdx.x] = 1;
	for (int i = 0; i < 17000; i++) {
		if (threadIdx.x == 0 && (i == 617 || i == 16900)) // the number of the last one, and another beside it
			mine[i == 617 ? 2 : 3] = 1;
		if (threadIdx.x % 32 == 0 && i == 16383)
			y[12 + blockIdx.x] = threadIdx.x;
		__syncthreads();
	}
	if (threadIdx.x == 32)
		mine[0] = mine[1] = mine[2] = mine[3] = y[9 - blockIdx.x] = y[10] = 2 + blockIdx.x;
	if (threadIdx.x == 0)
		mine[1] = 4;
}
int main(int argc, char **)
{
	int *x, *y, bytes, held = 0;
	cudaMalloc(&x, 4);
	cudaMalloc(&y, 1024);
	for (int i = 0; argc == 2 && i < 60; i++) {
		tell_often<<<2, 128>>>(x, y), left_twice<<<64, 1>>>(x, y), one_of_equals<<<3, 64>>>(x, y);
		cudaDeviceSynchronize();
		held = mallinfo && i == 20 ? mallinfo().uordblks : held;
	}
	if (argc == 2)
		return printf("%d", mallinfo ? mallinfo().uordblks - held : 0), 0;
	if (argc == 3) {
		cudaMemset(x, 0, 4), lock_through_a_barrier<<<3, 64>>>(x, y);
		return too_much_to_know<<<2, 128>>>(x, y), cudaDeviceSynchronize();
	}
	if (argc == 4)
		return many_barriers<<<2, 64>>>(x, y), cudaDeviceSynchronize();
	cudaMemset(x, 0, 4), last_thread_writes<<<1, 256>>>(x, y);
	cudaMemset(x, 0, 4), read_and_guard<<<2, 1>>>(x, y);
	cudaMemset(x, 0, 4), read_beside_guard<<<2, 2>>>(x, y);
	cudaMemset(x, 0, 4), read_once_a_guard<<<2, 1>>>(x, y, true), read_once_a_guard<<<2, 1>>>(x, y, false);
	cudaMemset(x, 0, 4), added_in_its_block<<<2, 96>>>(x, y);
	cudaMemset(x, 0, 4), read_before_looks<<<4, 1>>>(x, y);
	cudaMemset(x, 0, 4), read_in_the_interval<<<1, 96>>>(x, y);
	pairs_read<<<1, 32>>>(x, y);
	lanes_beside_a_warp<<<1, 64>>>(x, y);
	lane_beside_lane<<<1, 32>>>(x, y);
	cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
	cudaFuncSetAttribute(last_words, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	last_words<<<1, 64, bytes>>>(bytes / 4 - 1, y);
	adder_reads<<<1, 32>>>(x, y);
	cudaMemset(x, 0, 4), adders_of_a_warp<<<1, 32>>>(x, y);
	same_words<<<1, 36>>>(x, y);
	cudaMemset(y, 0, 1024), one_of_equals<<<3, 64>>>(x, y);
	cudaMemset(x, 0, 4), compare_again<<<4, 128>>>(x, y);
	cudaMemset(y, 0, 1024), left_twice<<<64, 1>>>(x, y);
	tell_often<<<2, 128>>>(x, y);
	return cudaDeviceSynchronize();
}
"""
RACING = ["last_thread_writes", "read_and_guard", "read_beside_guard", "read_before_looks", "read_in_the_interval"]
RACING += ["lanes_beside_a_warp", "last_words", "read_once_a_guard", "one_of_equals", "added_in_its_block"]
IN_A_WARP = ["pairs_read", "lane_beside_lane", "adder_reads", "adders_of_a_warp"]  # told as warnings
HIDDEN_PROGRAMS = [
    inline("races.hidden", HIDDEN.replace("FENCE", ""), "-w"),
    inline("races.hidden.fences", HIDDEN.replace("FENCE", "__threadfence()"), "-w"),
]
PROGRAMS = {fences: all_programs(fences) for fences in (True, False)}
BEYOND = [generate(list(range(1, AT_ONCE + 1)), fences, more=True) for fences in (True, False)]  # the oracle


def compare(
    kernel: Kernel, trace: list[tuple[int, int, int]], named: dict[frozenset[int], bool], fences: bool
) -> tuple[list[list[int]], list[Byte], list[Byte], bool]:
    """Pairs that were named and do not race; bytes for which none was, or only as a warning; is there a race?
    `named`: is it an error?"""
    accesses = accesses_of(kernel, trace)
    pairs, must, errors = races(accesses)
    bytes_of: dict[int, set[Byte]] = defaultdict(set)
    for access in accesses:
        bytes_of[access.operation.number] |= access.bytes

    def shared(pair: frozenset[int]) -> set[Byte]:
        return set.intersection(*(bytes_of[number] for number in pair))

    # Without fences a cell has one place of the source for what the lanes of a warp have read.
    could = set().union(*map(shared, pairs)) if not fences else set()
    wrong = [sorted(pair) for pair in named if pair not in pairs and not shared(pair) & could]
    missed = sorted(must.difference(*map(shared, named)))
    return (
        wrong,
        missed,
        sorted(errors.difference(missed, *(shared(pair) for pair in named if named[pair]))),
        bool(must),
    )


def told(hazard: Record, name_of: Callable[[int], str]) -> str:
    """A race in one line. `name_of`: what stands in a line of the source."""
    sides = []
    for side in (hazard, hazard["other"]):
        who = [",".join(map(str, side[key])) for key in ("block", "thread") if key in side]
        sides.append(f"{name_of(side['line'])} by {' '.join(who)}")
    where = [hazard["array"], hazard["index"], hazard["bytes"], hazard["count"]]
    return " ".join(map(str, [hazard["kernel"].split("(")[0], hazard["kind"], hazard["severity"], *where, *sides]))


class Races(Case):
    def traces(self, out: str) -> list[list[tuple[int, int, int]]]:
        parts = re.split(r"^k\d+\n", out, flags=re.MULTILINE)[1:]
        return [[tuple(map(int, line.split())) for line in part.splitlines()] for part in parts]  # type: ignore

    def check(self, made: Generated, order: str, fences: bool) -> int:
        path = self.scratch / "report.json"
        path.unlink(missing_ok=True)
        settings = {"SIM_ORDER": order, "SIM_THREADS": "1", "SIM_CHECK": "racecheck"}
        outcome = made.program.run(SIM_REPORT=str(path), **settings)
        named: dict[str, dict[frozenset[int], bool]] = defaultdict(dict)
        for hazard in read_report(path).hazards:
            if hazard["severity"] != "info":
                here, there = made.places[hazard["line"]], made.places[hazard["other"]["line"]]
                of_kernel, pair = named[hazard["kernel"].split("(")[0]], frozenset((here[1], there[1]))
                of_kernel[pair] = of_kernel.get(pair, False) or hazard["severity"] == "error"
        traces = self.traces(outcome.out)
        self.assertEqual(len(traces), len(made.kernels), f"status {outcome.status}\n{outcome.err[-2000:]}")
        racing = 0
        for kernel, trace in zip(made.kernels, traces):
            wrong, missed, warned, races_there = compare(kernel, trace, named[kernel.name], fences)
            what = f"{made.program.name}, {kernel.name}, {order}"
            self.expect(not wrong, f"{what}: no races: {wrong}")
            self.expect(not missed, f"{what}: not reported: {missed}")
            self.expect(not warned, f"{what}: only a warning: {warned}")
            racing += races_there
        return racing

    @unittest.skipIf(LONG, "of the kernels chosen")
    def test_reports_to_the_word(self):
        """Of a program of kernels chosen, or with locks, the number of races and a sum over what is said of them; of
        those below, which mean something to who reads it, what is said: with fences where that is something else.
        Kills: of several accesses that race another is named; a warning in place of an error, or the other way round,
        where the oracle takes both; a race told twice, or of another thread; a count of bytes that is off; other
        advice; an order that passes for any, a check that passes for complete; a lock that is kept, left, nested or
        fenced in another way than it was."""
        path = self.scratch / "report.json"

        def said(made: Program, name_of: Callable[[int], str]) -> list[list]:
            """Of each launch: its kernel, its races, what is told of the check."""
            path.unlink(missing_ok=True)
            made.run(SIM_REPORT=str(path), SIM_ORDER="forward", SIM_THREADS="1", SIM_CHECK="racecheck")
            report, launches = read_report(path), []
            for i, launch in enumerate(report.launches):
                races = [each for each in report.hazards if each["launch"] == i]
                races = [[told(each, name_of), each.get("advice"), each["other"].get("passed")] for each in races]
                launches.append([launch["kernel"].split("(")[0], races, *launch.get("racecheck", {}).values()])
            return launches

        lines = []
        for made in [*PROGRAMS[False], *PROGRAMS[True], *BEYOND]:
            launches = said(made.program, lambda line, places=made.places: str(places[line][1]))
            races, digest = sum(len(launch[1]) for launch in launches), zlib.crc32(str(launches).encode())
            lines.append(f"{made.program.name}: {races} races, {digest:08x}")
        before: list[str] = []
        for program_ in HIDDEN_PROGRAMS:
            launches = said(program_, lambda line: HIDDEN.splitlines()[line - 1].strip())
            words = [" ".join(map(str, [*race, *limits])) for _, races, *limits in launches for race in races]
            numbers = ["/".join(map(str, [len(races), *limits])) for _, races, *limits in launches]
            lines += [f"$ {program_.name}: {' '.join(numbers)}", *(line for line in words if line not in before)]
            before = words
        self.assertEqual(golden.changes(TESTS / "races.txt", lines), "")

    def test_programs_with_fences(self):
        self.check_all(True)

    def test_programs_without_fences(self):
        self.check_all(False)

    def test_a_volatile_read_beside_a_plain_one(self):
        """In a program without fences, as the batch of the broken kernels is none."""
        for order in ORDERS:
            outcome = POLLED.run(SIM_ORDER=order)
            self.expect_equal((outcome.status, outcome.err), (0, ""), order)

    def test_what_one_access_hides_of_another(self):
        """Kills an engine in which: a warning about lanes is told in place of the race with another warp; a read that
        is allowed, or a volatile one, takes the place of one that is not; of what a store stands for, an access of an
        earlier interval is kept in place of one of this; a read that was a guard in an earlier launch stays one; of
        equal stores the one goes that nothing orders; of the lanes that read a word only the last is known, or a lane's
        read takes the place of another warp's; the end of shared memory has no marks; a read that atomicCAS compares
        with is a result; a lock that a thread has left is left again; a lane that has added is taken for one that only
        reads; of lanes that add, one that another has met since is kept, or the same twice; bytes of a word, or words
        of four, are compared with another one's value; a _block atomic is gone behind two others of its block."""
        path = self.scratch / "report.json"
        for made in HIDDEN_PROGRAMS:
            for order, threads in [(order, "1") for order in ORDERS] + [("forward", "2")]:
                path.unlink(missing_ok=True)
                settings = {"SIM_ORDER": order, "SIM_THREADS": threads, "SIM_TIMEOUT": "5"}
                outcome = made.run(SIM_REPORT=str(path), SIM_CHECK="racecheck", **settings)
                told = defaultdict(set)
                for hazard in read_report(path).hazards:
                    told[hazard["severity"]].add(hazard["kernel"].split("(")[0])
                errors = told["error"]
                # With fences a thread's last read stands for all of them, and may be one that is allowed.
                racing = set(RACING) - ({"read_and_guard"} - errors if "fences" in made.name else set())
                what = f"{made.name}, {order}, {threads} threads: {outcome.err}"
                self.expect_equal((errors, told["warning"] - errors), (racing, set(IN_A_WARP)), what)

    def test_nothing_is_kept_of_a_launch(self):
        """Kills: what is known of flags and locks, or their hash tables, not given back at its end, or words of shared
        memory not at a barrier: 40 launches, of which each would keep some hundred bytes."""
        for made in HIDDEN_PROGRAMS:
            outcome = made.run("often", SIM_ORDER="forward", SIM_THREADS="1", SIM_CHECK="racecheck")
            self.expect(abs(int(outcome.out)) < 2000, f"{made.name}: {outcome.out} bytes more\n{outcome.err}")

    def test_what_passes_for_ordered_where_there_is_too_much_to_know(self):
        """All of another block, and of a warp that has executed a fence since the last barrier, as warps 0 and 2; not
        that of warp 1. Kills: a limit that is not noticed or not said; another warp, or an earlier interval. And,
        in the launch before, a barrier that is no fence for who holds a lock."""
        path = self.scratch / "report.json"
        settings = {"SIM_REPORT": str(path), "SIM_ORDER": "forward", "SIM_THREADS": "1", "SIM_CHECK": "racecheck"}
        HIDDEN_PROGRAMS[1].run("too", "much", **settings)
        report = read_report(path)
        races = [(hazard["severity"], hazard["index"], hazard["count"]) for hazard in report.hazards]
        limits = [launch["racecheck"] for launch in report.launches]
        self.assertEqual(
            (races, limits), ([("error", 1, 8)], [{"order": "this", "complete": all_} for all_ in (True, False)])
        )

    def test_more_barriers_than_a_cell_has_numbers_for(self):
        """Kills: what another block did before passes for this block's, or what a block did then for another's."""
        path = self.scratch / "report.json"
        for made in HIDDEN_PROGRAMS:
            settings = {"SIM_ORDER": "forward", "SIM_THREADS": "1", "SIM_CHECK": "racecheck"}
            made.run("more", "than", "numbers", SIM_REPORT=str(path), **settings)
            races = sorted((race["severity"], race["index"], race["count"]) for race in read_report(path).hazards)
            self.expect_equal(
                races, [("error", i, n) for i, n in ((1, 8), (8, 4), (9, 4), (10, 4), (12, 8))], made.name
            )

    def check_all(self, fences: bool) -> None:
        for made in PROGRAMS[fences]:
            racing = [self.check(made, order, fences) for order in ORDERS]
            self.expect(min(racing) > len(made.kernels) // 3, f"{made.program.name}: only {racing} kernels race")
