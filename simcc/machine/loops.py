"""The loops of a kernel's machine code, from its control-flow graph.

Blocks end where control may leave or enter. An edge back to a block that dominates its source closes a natural loop;
edges to one header are one loop. A body that nvcc unrolled, and the loop it left for the remainder, are two loops: they
have the same line and nothing else in common.

A `CALL` of a label within the kernel is a jump, as nvcc writes it where a loop is left; one of a function returns.
What cannot be reached from the kernel's entry (a trap behind its end, padding) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from machine.disassembly import Instruction, Section

LEAVES = ("EXIT", "RET", "KILL", "BPT")  # where no instruction follows, unless there is a predicate
JUMPS = ("BRA", "JMP")
INDIRECT = ("BRX", "BRXU", "JMX", "JMXU")


@dataclass
class Loop:
    """number 0 is what stands in no loop."""

    number: int
    parent: int = 0
    depth: int = 0
    blocks: set[int] = field(default_factory=set)  # of inner loops, too
    latches: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)  # instructions of no inner loop
    always: set[int] = field(default_factory=set)  # of these, those that each iteration executes in full


@dataclass
class Graph:
    """Why it is none is in `trouble`: then there is one loop, number 0."""

    loops: list[Loop]
    blocks: list[range]  # of instructions
    follow: list[list[int]]  # of each block those that may come next
    order: list[int]  # what the entry reaches, each before what it leads to but for edges back
    trouble: str = ""


def _jumps_to(instruction: Instruction, section: Section) -> int | None:
    """Where else than behind it control may go on; functions that return are no such place."""
    if instruction.name in JUMPS or (instruction.name == "CALL" and (instruction.target or "").startswith(".L")):
        return section.labels.get(instruction.target or "")
    return None


def _falls_through(instruction: Instruction) -> bool:
    if instruction.name in LEAVES or instruction.name in JUMPS or instruction.name in INDIRECT:
        # BRA.DIV and the like have conditions of their own, as operands.
        return instruction.is_conditional or instruction.operands.startswith(("P", "!P", "UP", "!UP", "UR", "R"))
    return True


def _blocks_of(section: Section) -> tuple[list[range], list[list[int]]]:
    """Ranges of instructions, and of each block those that may follow."""
    code = section.instructions
    starts = {0, *section.labels.values()}
    for position, instruction in enumerate(code):
        target = _jumps_to(instruction, section)
        if target is not None:
            starts.add(target)
        if target is not None or not _falls_through(instruction) or instruction.name in (*LEAVES, *JUMPS):
            starts.add(position + 1)
    bounds = sorted(start for start in starts if start < len(code))
    blocks = [range(first, end) for first, end in zip(bounds, [*bounds[1:], len(code)])]
    number = {block.start: index for index, block in enumerate(blocks)}
    follow: list[list[int]] = []
    for index, block in enumerate(blocks):
        last = code[block[-1]]
        after = [index + 1] if _falls_through(last) and index + 1 < len(blocks) else []
        target = _jumps_to(last, section)
        if target in number:
            after.append(number[target])
        follow.append(list(dict.fromkeys(after)))
    return blocks, follow


def _in_order(follow: list[list[int]]) -> list[int]:
    """What the first block reaches, each block before what it leads to but for edges back."""
    done: list[int] = []
    seen = {0}
    stack = [(0, iter(follow[0]))]
    while stack:
        block, rest = stack[-1]
        step = next((each for each in rest if each not in seen), None)
        if step is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(step)
            stack.append((step, iter(follow[step])))
    return done[::-1]


def _dominators(order: list[int], before: dict[int, list[int]]) -> dict[int, int]:
    """Of each block its nearest dominator (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, 2001)."""
    rank = {block: index for index, block in enumerate(order)}
    nearest = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [each for each in before[block] if each in nearest]
            found = known[0]
            for other in known[1:]:
                while found != other:
                    if rank[found] > rank[other]:
                        found = nearest[found]
                    else:
                        other = nearest[other]
            if nearest.get(block) != found:
                nearest[block] = found
                changed = True
    return nearest


def _dominates(nearest: dict[int, int], upper: int, block: int) -> bool:
    while block != upper and nearest[block] != block:
        block = nearest[block]
    return block == upper


def _body(header: int, latches: list[int], before: dict[int, list[int]]) -> set[int]:
    body = {header}
    stack = list(latches)
    while stack:
        block = stack.pop()
        if block not in body:
            body.add(block)
            stack += before[block]
    return body


def find_loops(section: Section) -> Graph:
    """The loops in order of address, behind what stands in none."""
    code = section.instructions
    blocks, follow = _blocks_of(section)
    order = _in_order(follow)
    outside = Loop(0, blocks=set(order))
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for after in follow[block]:
            before[after].append(block)
    nearest = _dominators(order, before)
    rank = {block: index for index, block in enumerate(order)}
    latches: dict[int, list[int]] = {}
    trouble = next((f"a jump by {each.opcode}" for each in code if each.name in INDIRECT), "")
    for block in order:
        for after in follow[block]:
            if _dominates(nearest, after, block):
                latches.setdefault(after, []).append(block)
            elif rank[after] <= rank[block]:
                trouble = "a loop with two entries"
    loops = [outside]
    if not trouble:
        for header in sorted(latches):
            loops.append(Loop(len(loops), 0, 1, _body(header, latches[header], before), latches[header]))
    for loop in loops[1:]:
        around = [each for each in loops[1:] if each is not loop and loop.blocks < each.blocks]
        loop.depth = 1 + len(around)
        loop.parent = min(around, key=lambda each: len(each.blocks)).number if around else 0
    ends = [block for block in order if not follow[block]]
    for loop in loops:
        inner = set().union(*(each.blocks for each in loops[1:] if each.parent == loop.number))
        if loop.number == 0:
            inner = set().union(*(each.blocks for each in loops[1:]))
        for block in sorted(loop.blocks - inner):
            loop.own += blocks[block]
            last = loop.latches or ends
            if all(_dominates(nearest, block, each) for each in last):
                loop.always.update(position for position in blocks[block] if not code[position].is_conditional)
    return Graph(loops, blocks, follow, order, trouble)


def shortest_way(loop: Loop, graph: Graph) -> int:
    """Instructions of its own that an iteration executes at least: on the way back to its header that has fewest. Of
    loop 0: from the entry to an end."""
    inside = {block for each in graph.loops[1:] if each.blocks < loop.blocks for block in each.blocks}
    own = {block: 0 if block in inside else len(graph.blocks[block]) for block in loop.blocks}
    order = [block for block in graph.order if block in loop.blocks]
    rank = {block: index for index, block in enumerate(order)}
    fewest = {order[0]: own[order[0]]}
    for block in order:
        for after in graph.follow[block]:
            if block in fewest and after in rank and rank[after] > rank[block]:
                fewest[after] = min(fewest.get(after, fewest[block] + own[after]), fewest[block] + own[after])
    ends = loop.latches or [block for block in order if not graph.follow[block]]
    return min((fewest[block] for block in ends if block in fewest), default=0)
