"""What the join and the course's tables want to know of a kernel's machine code: a record for each loop, as JSON lines.

    {"arch":"sm_90","kernel":"fa2_row","template":"64","loop":4,"parent":1,"depth":2,"line":"row.cuh:48",
     "from":"row.cu:64","lines":"row.cu:62-64","instructions":1477,"least":1475,"in_flight":64,
     "mix":{"FFMA":1061,"LDS.128":256,...},
     "memory":[{"place":"row.cuh:61","space":"shared","op":"load","bits":128,"segment":0,"count":128},...]}

Loop 0 is what stands in none. `line` is that of the branch back, `from` where the function it stands in was called
from the kernel ("" in the kernel itself), `lines` the kernel's own lines. `in_flight`: how many bytes of loads from
global memory a thread waits for at once, at most (flight.py). All others leave out inner loops: `least` counts the
instructions on the shortest way through an iteration.
Instructions of one `segment` are executed equally often, but for predicates; those of segment 0 have none, and are
executed once in each iteration (loop 0: by each warp). Files are named without their folder.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from machine.disassembly import Instruction, Program, Section, demangle, name_and_arguments, parse
from machine.flight import in_flight
from machine.loops import Graph, Loop, find_loops, shortest_way
from machine.problem import Problem

# opcode: (space, what it does). Generic addresses (LD, ST) may be of any space.
MEMORY = {
    "LDS": ("shared", "load"),
    "STS": ("shared", "store"),
    "ATOMS": ("shared", "atomic"),
    "LDG": ("global", "load"),
    "STG": ("global", "store"),
    "ATOMG": ("global", "atomic"),
    "RED": ("global", "atomic"),
    "REDG": ("global", "atomic"),
    "LDL": ("local", "load"),
    "STL": ("local", "store"),
    "LD": ("generic", "load"),
    "ST": ("generic", "store"),
    "ATOM": ("generic", "atomic"),
    "LDGSTS": ("global", "copy"),
    "LDSM": ("shared", "matrix"),
    "STSM": ("shared", "matrix"),
}
WIDTHS = (8, 16, 32, 64, 128)  # bits of an access
KEYS = "arch kernel template loop parent depth line from lines instructions mix memory".split()


def _base(place: tuple) -> str:
    return place[0].rpartition("/")[2]


def _spelled(place: tuple | None) -> str:
    return f"{_base(place)}:{place[1]}" if place else ""


def _counted_as(instruction: Instruction) -> str:
    return f"{instruction.name}.{instruction.bits}" if instruction.name in MEMORY else instruction.name


# The toolkit's headers: atomicAdd() and the like are functions there, and the source has a call.
TOOLKIT = re.compile(r"/targets/[^/]+/include/|/cuda[^/]*/include/|/crt/")


def _of_the_source(instruction: Instruction) -> str:
    """The innermost place that is not the toolkit's."""
    return _spelled(next((place for place in instruction.places if not TOOLKIT.search(place[0])), None))


def _memory_of(code: list[Instruction], graph: Graph, loop: Loop) -> list[dict]:
    found: Counter = Counter()
    block_of = {position: number for number, block in enumerate(graph.blocks, 1) for position in block}
    for position in loop.own:
        instruction = code[position]
        if instruction.name in MEMORY:
            place = _of_the_source(instruction)
            bits = instruction.bits if instruction.name != "LDSM" else 128
            segment = 0 if position in loop.always else block_of[position]
            found[(place, *MEMORY[instruction.name], bits, segment)] += 1
    names = ("place", "space", "op", "bits", "segment")
    return [{**dict(zip(names, key)), "count": count} for key, count in sorted(found.items())]


def _lines_of(code: list[Instruction], loop: Loop) -> str:
    """The lines of the kernel itself."""
    places = [code[position].places[-1] for position in loop.own if code[position].places]
    if not places:
        return ""
    file = Counter(place[0] for place in places).most_common(1)[0][0]
    lines = [line for name, line in places if name == file]
    return f"{_spelled((file, min(lines)))}-{max(lines)}"


def _back_of(section: Section, loop: Loop, graph: Graph) -> tuple:
    """The places of the branch back: of the latch that comes last."""
    if not loop.latches:
        return ()
    return section.instructions[graph.blocks[max(loop.latches)][-1]].places


def _record(section: Section, graph: Graph, loop: Loop) -> dict:
    code = section.instructions
    places = _back_of(section, loop, graph)
    return {
        "loop": loop.number,
        "parent": loop.parent,
        "depth": loop.depth,
        "line": _spelled(places[0] if places else None),
        "from": _spelled(places[-1]) if len(places) > 1 else "",
        "lines": _lines_of(code, loop),
        "instructions": len(loop.own),
        "least": shortest_way(loop, graph),
        "in_flight": in_flight(section, graph, loop),
        "mix": dict(sorted(Counter(_counted_as(code[position]) for position in loop.own).items())),
        "memory": _memory_of(code, graph, loop),
    }


def _same_names(section: Section) -> str:
    """Two files of one name: their lines cannot be told apart."""
    paths = {place[0] for each in section.instructions for place in each.places}
    names = Counter(path.rpartition("/")[2] for path in paths)
    return next((f"two files named {name}" for name, count in names.items() if count > 1), "")


def records_of(program: Program) -> list[dict]:
    """Of each kernel's loops, the kernels in the order of their names. Where its loops are not known, the records of a
    kernel have a key `trouble`."""
    kernels = [section for section in program.sections if section.is_kernel]
    records = []
    for section, declaration in zip(kernels, demangle([each.symbol for each in kernels])):
        graph = find_loops(section)
        name, template = name_and_arguments(declaration)
        trouble = graph.trouble or _same_names(section)
        for loop in graph.loops:
            head = {"arch": program.architecture, "kernel": name, "template": template}
            records.append({**head, **_record(section, graph, loop), **({"trouble": trouble} if trouble else {})})
    return sorted(records, key=lambda each: (each["kernel"], each["template"], each["loop"]))


def read_records(text: str, path: str) -> list[dict]:
    """Of a disassembly, or of what write_records made of one."""
    if not text.lstrip().startswith("{"):
        return records_of(parse(text, path))
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = json.loads(line)
            missing = [key for key in KEYS if key not in record]
        except (ValueError, TypeError) as error:
            raise Problem(2, f"{path}:{number}: expected a line of simcc --loops: {error}") from None
        if missing:
            raise Problem(2, f"{path}:{number}: expected a line of simcc --loops, with a key {missing[0]}")
        if not _is_usable(record):
            raise Problem(
                2, f"{path}:{number}: expected a line of simcc --loops, with numbers and names in their places"
            )
        records.append(record)
    return records


def _is_usable(record: dict) -> bool:
    """Whether the values that a join uses are of their types: the file may have been edited."""
    texts = all(isinstance(record[key], str) for key in ("arch", "kernel", "template"))
    loop, parent = record["loop"], record["parent"]
    are_numbers = type(loop) is int and type(parent) is int and loop >= 0 and parent >= 0
    return texts and are_numbers and isinstance(record["memory"], list) and all(map(_is_access, record["memory"]))


def _is_access(entry: object) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("place", "space", "op")):
        return False
    numbers = [entry.get(key) for key in ("bits", "segment", "count")]
    return all(type(each) is int for each in numbers) and numbers[0] in WIDTHS and numbers[1] >= 0 < numbers[2]


def spelled(records: Iterable[dict]) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def read_files(paths: list[str]) -> list[dict]:
    records: list[dict] = []
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                records += read_records(file.read(), re.sub(r"^/dev/stdin$", "standard input", path))
        except OSError as error:
            raise Problem(2, f"{path}: {error.strerror}") from None
    return records
