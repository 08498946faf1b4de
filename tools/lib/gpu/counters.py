"""What the hardware counted of a launch, beside what the simulated device counted of it."""

from __future__ import annotations

import csv
import re
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import StepError

Metrics = dict[str, "int | float"]
Record = Mapping[str, Any]  # a launch record of the simulated device


@dataclass(frozen=True)
class Counter:
    """path: where it is in a launch record of the simulated device, or what works it out from one.

    metrics: those of Nsight Compute that count the same, alternatives in order of preference, each to be added up. All
    are sums over the GPU, named without their ".sum".
    """

    name: str
    path: str | Callable[[Record], int | None]
    metrics: tuple[tuple[str, ...], ...]


def _access(space: str, operation: str, quantity: str, *metrics: Sequence[str]) -> Counter:
    return Counter(f"{space}_{operation}_{quantity}", f"{space}/{operation}/{quantity}", tuple(map(tuple, metrics)))


def _global(quantity: str, metric: str) -> list[Counter]:
    """Loads, stores, and atomics with and without a result."""
    names = [metric + end for end in ("ld", "st", "atom", "red")]
    operations = {"load": names[:1], "store": names[1:2], "atomic": names[2:]}
    return [_access("global", operation, quantity, metrics) for operation, metrics in operations.items()]


def _shared(quantity: str, *metrics: str) -> list[Counter]:
    operations = {"load": "ld", "store": "st"}
    return [_access("shared", name, quantity, *([each + end] for each in metrics)) for name, end in operations.items()]


def _fetched(record: Record) -> int | None:
    """The footprint of what a launch reads and does not write: L2 may have the rest from the launch itself."""
    read = simulated_value(record, "footprint/read_bytes")
    if read is None:
        return None
    of_tensors = [tensor["footprint"] for tensor in record.get("tensors", ())]
    return int(read) - sum(each["read_bytes"] for each in of_tensors if each["write_bytes"])


COUNTERS = [
    *_global("bytes", "smsp__sass_data_bytes_mem_global_op_"),
    *_global("requests", "l1tex__t_requests_pipe_lsu_mem_global_op_"),
    *_global("sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_"),
    *_shared("bytes", "smsp__sass_data_bytes_mem_shared_op_"),
    *_shared("requests", "smsp__sass_inst_executed_op_shared_", "smsp__inst_executed_op_shared_"),
    *_shared("wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"),
    *_shared("conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"),
    Counter("dram_read_bytes", _fetched, (("dram__bytes_read",),)),
    Counter("dram_write_bytes", "footprint/write_bytes", (("dram__bytes_write",),)),
]
BY_NAME = {counter.name: counter for counter in COUNTERS}
NAMES = list(BY_NAME)
# Arithmetic, of which the simulated device has a closed form: each of these with the operations of one.
FLOP = {f"smsp__sass_thread_inst_executed_op_{name}_pred_on": n for name, n in (("fadd", 1), ("fmul", 1), ("ffma", 2))}
METRICS = list(dict.fromkeys(name for counter in COUNTERS for names in counter.metrics for name in names))
METRICS += FLOP


def read_from(metrics: Iterable[str]) -> str:
    """A note of which of these each counter is read: the first of its alternatives that are all among them."""
    there = set(metrics)
    used = [next((names for names in counter.metrics if there.issuperset(names)), ()) for counter in COUNTERS]
    return "metrics: " + " ".join(f"{name}.sum" for names in used for name in names)


# ---- Nsight Compute's CSV ----


@dataclass
class Launch:
    """A launch as ncu saw it; grid and block as "2,1,1", "" if it does not say."""

    kernel: str
    template: str
    grid: str
    block: str
    metrics: Metrics = field(default_factory=dict)


def number(text: str | None) -> int | float | None:
    """None for what is no number; "1,234" is one."""
    plain = re.sub(r"[,\s]", "", text or "")
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", plain):
        return None
    return float(plain) if re.search(r"[.eE]", plain) else int(plain)


def _identify(row: Mapping[str, str]) -> Launch:
    name = row.get("Kernel Name") or ""
    found = re.search(r"(\w+?)(?:_kernel)?\s*(?:<(.*)>)?\s*(?:\(|$)", name)
    kernel, template = found.groups() if found else (name, "")
    sizes = [",".join(re.findall(r"\d+", row.get(f"{each} Size") or "")) for each in ("Grid", "Block")]
    return Launch(kernel, re.sub(r"\((?:int|bool)\)", "", template or ""), *sizes)


def read_csv(text: str) -> list[Launch]:
    """The launches in order, of --page raw: a row a launch, a column a metric, units in the second row. Without any:
    StepError with what ncu said instead."""
    columns: list[str] = []
    launches: dict[str, Launch] = {}
    for line in text.splitlines():
        if not columns:
            if re.match(r'"?ID"?,', line):
                columns = next(csv.reader([line]))
            continue
        if not line.startswith('"'):  # ncu's own remarks
            continue
        row = dict(zip(columns, next(csv.reader([line]))))
        if not row.get("ID", "").isdigit():  # the row of units
            continue
        launch = launches.setdefault(row["ID"], _identify(row))
        for name, cell in row.items():
            value = number(cell) if re.match(r"[a-z0-9_]+__", name) else None
            if value is not None:
                launch.metrics[name[: -len(".sum")] if name.endswith(".sum") else name] = value
    if launches:
        return list(launches.values())
    said = [line for line in text.split("\n") if line.strip()]
    errors = [line for line in said if re.search("ERR_|error", line, re.IGNORECASE)]
    raise StepError((errors[:1] or said[-1:] or ["ncu wrote nothing"])[0].strip())


# ---- the two side by side ----


def match(simulated: Sequence[Record], measured: Sequence[Launch]) -> list[Launch | None]:
    """For each launch of the simulated device, in order, the next that ncu saw of that kernel, grid and block, or None.

    A harness launches to verify, then again to time: what lies between is passed over.
    """
    first = 0
    found: list[Launch | None] = []
    for record in simulated:
        name = re.sub("_kernel$", "", record["kernel"])
        grid, block = (",".join(map(str, record[key])) for key in ("grid", "block"))
        found.append(None)
        for at in range(first, len(measured)):
            launch = measured[at]
            if launch.kernel == name and launch.grid in ("", grid) and launch.block in ("", block):
                found[-1] = launch
                first = at + 1
                break
    return found


class Comparison(NamedTuple):
    """ratio: None without a number to divide by."""

    counter: str
    simulated: float
    measured: float
    ratio: str | None
    verdict: str


def ratio(measured: float, simulated: float) -> str | None:
    return f"{measured / simulated:.4g}" if simulated else None


def simulated_value(record: Record, path: str) -> Any:
    value: Any = record
    for key in path.split("/"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def counted(record: Record, name: str) -> Any:
    """What the simulated device has of a counter, None where it has none."""
    path = BY_NAME[name].path
    return path(record) if callable(path) else simulated_value(record, path)


def sides(record: Record, launch: Launch) -> tuple[dict[str, Any], Metrics]:
    """What was simulated and what was measured of one launch, of each counter that was measured."""
    simulated: dict[str, Any] = {}
    measured: Metrics = {}
    for counter in COUNTERS:
        for names in counter.metrics:
            values = [launch.metrics[name] for name in names if name in launch.metrics]
            if len(values) == len(names):
                simulated[counter.name], measured[counter.name] = counted(record, counter.name), sum(values)
                break
    return simulated, measured


def flop(launches: Sequence[Launch]) -> float | None:
    """Operations in floating point; None where one of these launches was not asked for them."""
    if not launches or not all(launch.metrics.keys() >= FLOP.keys() for launch in launches):
        return None
    return sum(operations * launch.metrics[name] for launch in launches for name, operations in FLOP.items())


def compare(simulated: Mapping[str, Any], measured: Mapping[str, float]) -> list[Comparison]:
    """Of each counter that both have and of which either saw any; of arithmetic in any case."""
    return [
        Comparison(name, simulated[name], value, ratio(value, simulated[name]), verdict(name, simulated, measured))
        for name, value in measured.items()
        if simulated.get(name) is not None and (simulated[name] or value or name == "flop")
    ]


# ---- counters.tsv: a row a launch, of each counter what was simulated and what was measured ----

COMPARED = (*NAMES, "flop")
WHERE = ("chapter", "options", "kernel", "launch", "template")
COLUMNS = (*WHERE, *(side + name for name in COMPARED for side in ("simulated_", "")))


def row_of(where: Sequence[str], simulated: Mapping[str, Any], measured: Mapping[str, float]) -> list[object]:
    return [*where, *(counts.get(name) for name in COMPARED for counts in (simulated, measured))]


def compare_rows(rows: Iterable[Mapping[str, object]]) -> list[tuple[Mapping[str, object], Comparison]]:
    """Each comparison, and the row of the launch."""
    found = []
    for row in rows:
        cells = {name: number(str(row[name])) for name in COLUMNS[len(WHERE) :]}
        measured = {name: count for name in COMPARED if (count := cells[name]) is not None}
        simulated = {name: cells[f"simulated_{name}"] for name in COMPARED}
        found += [(row, comparison) for comparison in compare(simulated, measured)]
    return found


def overview(compared: Iterable[Comparison]) -> list[list[object]]:
    """A line for each counter: of how many launches, how many exact, how many within their bound, between which
    ratios."""
    of: dict[str, list[Comparison]] = {name: [] for name in COMPARED}
    for each in compared:
        of[each.counter].append(each)
    lines: list[list[object]] = []
    for name, found in of.items():
        verdicts = Counts(each.verdict for each in found)
        ratios = sorted((each.ratio for each in found if each.ratio), key=float)
        span = " ... ".join(dict.fromkeys((ratios[0], ratios[-1]))) if ratios else ""
        if found:
            lines.append([name, len(found), verdicts["exact"], verdicts["bound holds"] or "", span])
    return lines


OVERVIEW = ("counter", "launches", "exact", "within its bound", "ratios")
ONCE = "fewer: it counts a byte once that several lanes of a request read"
LESS = "fewer: nvcc merges narrow loads into wide ones, or keeps in registers what the source reads again"
MERGED = "fewer: nvcc merges narrow accesses into wide ones, the bytes are equal"
WHOLE = "nvcc loads whole vectors, of which the source does not read all"
PARTED = "more: lanes part that the source keeps together, as those with fewer turns of a loop that nvcc unrolled"
ARITHMETIC = "more: the closed form leaves out scaling, exponentials and what nvcc adds"
ARBITRATION = "more: it may count passes lost to arbitration"


def verdict(name: str, simulated: Mapping[str, Any], measured: Mapping[str, float]) -> str:
    """ "exact", or in what direction it differs and why that may be.

    The reasons are rules, not excuses: what none of them covers is "unexplained", and is to be looked at.
    """
    ours, theirs = simulated[name], measured[name]
    if ours == theirs:
        return "exact"
    if name == "flop":
        return ARITHMETIC if theirs > ours else "unexplained"
    if name == "dram_read_bytes":
        return "bound holds" if theirs > ours else "unexplained: below the bound"
    if name == "dram_write_bytes":
        if theirs > ours:
            return "more: whole sectors, and lines that were evicted more than once"
        return "fewer: what L2 still holds at the end is not written yet"
    group, _, quantity = name.rpartition("_")

    def difference(quantity: str) -> float | None:
        """Measured less simulated; None where one of them is not known."""
        one, other = measured.get(f"{group}_{quantity}"), simulated.get(f"{group}_{quantity}")
        return None if one is None or other is None else one - other

    of_bytes, of_requests = difference("bytes"), difference("requests")
    if of_bytes is None:
        return "unexplained"
    fewer = of_requests is not None and of_requests < 0
    if theirs < ours:
        if quantity == "bytes":
            return ONCE if "load" in name else "unexplained"
        if fewer:
            return LESS if of_bytes < 0 else MERGED if of_bytes == 0 else f"fewer: {WHOLE}"
        return "unexplained"
    if quantity == "bytes":
        return f"more: {WHOLE}" if "load" in name and fewer else "unexplained"
    if quantity in ("wavefronts", "conflicts") and of_requests is not None:
        return f"{ARBITRATION}{', or conflicts of the wide accesses into which nvcc merges' * fewer}"
    if of_requests is not None and of_requests > 0 and of_bytes == 0:
        return PARTED
    return "unexplained"


OF_RULES = ("requests", "sectors", "wavefronts", "conflicts")


def names_of_rule(kernel: str) -> dict[str, str]:
    """The counters that a kernel of gpu/rules.cu is about, by their quantity."""
    space, operation, _ = kernel.split("_")
    operation = {"read": "load", "write": "store"}.get(operation, operation)
    found = {quantity: f"{space}_{operation}_{quantity}" for quantity in OF_RULES}
    return {quantity: name for quantity, name in found.items() if name in BY_NAME}


def of_rule(record: Record, launch: Launch) -> dict[str, tuple[float, float]]:
    """(simulated, measured) of these, where either saw any."""
    compared = {each.counter: (each.simulated, each.measured) for each in compare(*sides(record, launch))}
    return {quantity: compared[name] for quantity, name in names_of_rule(record["kernel"]).items() if name in compared}


def unknown_metrics(said: str, metrics: Iterable[str]) -> list[str]:
    """Which of these ncu complained about."""
    wrong = "fail|find|unknown|invalid|not available|not supported"
    complaints = [
        line for line in said.split("\n") if "metric" in line.lower() and re.search(wrong, line, re.IGNORECASE)
    ]
    return [name for name in metrics if any(re.search(rf"\b{re.escape(name)}\b", line) for line in complaints)]
