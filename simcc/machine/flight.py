"""How many bytes of loads from global memory a thread waits for at once, read off the machine code.

A load into registers is in flight until an instruction names one of them. A copy into shared memory (LDGSTS, what
cp.async is) is in flight until DEPBAR waits for its group. Nothing says how long a load takes: this is what would be in
flight if none ended before it is waited for. Where ways through the code meet, the one with more bytes goes on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from machine.disassembly import Instruction, Section
    from machine.loops import Graph, Loop

REGISTER = re.compile(r"\bR(\d+)\b")
LOADS = ("LDG", "LD")
STORES = ("STS", "STG", "ST")


@dataclass(frozen=True)
class Load:
    bytes: int
    registers: frozenset[int] = frozenset()
    group: int | None = None  # of copies; None: none yet


def _registers(instruction: Instruction) -> set[int]:
    """Those that it names; of a wide store's data, and of a pair that is cleared, all."""
    named = [int(number) for number in REGISTER.findall(instruction.operands)]
    more: range | tuple[int, ...] = ()
    if named and instruction.name in STORES:
        more = range(named[-1], named[-1] + max(instruction.bits // 32, 1))
    elif named and instruction.name == "CS2R" and ".32" not in instruction.opcode:
        more = (named[0] + 1,)
    return {*named, *more}


def _after(state: tuple[Load, ...], instruction: Instruction) -> tuple[Load, ...]:
    named = _registers(instruction)
    state = tuple(load for load in state if not load.registers & named)
    if instruction.name in LOADS:
        first = REGISTER.search(instruction.operands)
        begin = int(first[1]) if first else 0
        size = max(instruction.bits // 32, 1)
        return (*state, Load(instruction.bits // 8, frozenset(range(begin, begin + size))))
    if instruction.name == "LDGSTS":
        return (*state, Load(instruction.bits // 8))
    groups = sorted({load.group for load in state if load.group is not None})
    if instruction.name == "LDGDEPBAR":
        new = groups[-1] + 1 if groups else 0
        return tuple(load if load.registers or load.group is not None else replace(load, group=new) for load in state)
    if instruction.name == "DEPBAR":
        most = int(re.findall(r"0x[0-9a-f]+|\d+", instruction.operands)[-1], 0)
        left = groups[len(groups) - most :] if most else []
        return tuple(load for load in state if load.group is None or load.group in left)
    return state


def _bytes_of(state: tuple[Load, ...]) -> int:
    return sum(load.bytes for load in state)


def in_flight(section: Section, graph: Graph, loop: Loop) -> int:
    """Bytes at most, of the loads that stand in the loop and in those within it."""
    most = 0
    enters: dict[int, tuple[Load, ...]] = {}
    for _ in range(2):  # a second time for what goes once around
        for block in (block for block in graph.order if block in loop.blocks):
            state = enters.get(block, ())
            for position in graph.blocks[block]:
                state = _after(state, section.instructions[position])
                most = max(most, _bytes_of(state))
            for after in graph.follow[block]:
                if _bytes_of(state) >= _bytes_of(enters.get(after, ())):
                    enters[after] = state
    return most
