"""Chapter 10: how lanes are numbered and which of them one pass of a load serves; in which banks rows lie, padded and
swizzled; and the ceilings of the forward kernels, step by step.

The first two from traces of one warp's loads of shared memory, the last from gpu/compiled/ceilings.tsv and
gpu/measured/h200/times.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lib import ceilings
from lib.diagrams.run import RunError, run
from lib.diagrams.svg import Panel, element, pictures, rectangle, text

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "simcc"))
from machine.requests import Pattern, Patterns, read_trace, shared_cost

WIDTH = 280.0
GROUPS = 8  # of four banks: what 16 bytes take up
OPTIONS = "--heads 1 --seq 64 --dim 64 --quiet"
KEY = "d = 64. Blue: one pass; faint: the others."
UPON = ".at{{fill:{0.background}}}"


@dataclass(frozen=True)
class Load:
    """Of 16 bytes a lane: the addresses in shared memory, by lane."""

    addresses: tuple[int, ...]

    def passes(self) -> tuple[int, int]:
        """How many, and the wavefronts of each."""
        cost = shared_cost(Pattern(tuple(range(32)), self.addresses), 0, 16, "load")
        passes = cost.wavefronts - cost.conflicts
        return passes, cost.wavefronts // passes


def first_loads(root: Path, kernel: str) -> tuple[Load, Load]:
    """The first of Q and the first of K, of warp 0."""
    patterns = Patterns()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        options = ["--kernel", kernel, *OPTIONS.split()]
        run(root / "10_pipeline/pipeline", options, SIM_TRACE=str(trace), SIM_TRACE_REQUESTS="1", SIM_ORDER="forward")
        (launch,) = read_trace(str(trace), patterns)
    loads = []
    for site, (first, *_) in launch.warps[0, 0, 0, 0].items():
        if (site.space, site.op, site.size) == ("shared", "load", 16):
            loads.append(Load(tuple(first.offset + rest for rest in patterns.all[first.pattern].offsets)))
    if len(loads) < 2:
        raise RunError(f"{kernel}: its trace has no loads of Q and K")
    return loads[0], loads[1]


def rank(values: tuple[int, ...]) -> list[int]:
    order = sorted(set(values))
    return [order.index(value) for value in values]


def numbering(kernels: dict[str, tuple[Load, Load]]) -> Panel:
    """Who has which row and key, and the first pass of a load of K."""
    body = [text(0, 18, "The 32 lanes: 4 rows × 8 keys", class_="t")]
    y = 44.0
    for kernel, (of_q, of_k) in kernels.items():
        passes, _ = of_k.passes()
        served = 32 // passes
        body.append(text(0, y, f"{kernel}: a load of K takes {passes} passes", class_="d"))
        for lane, (row, key) in enumerate(zip(rank(of_q.addresses), rank(of_k.addresses))):
            x, top = 35.0 * key, y + 10 + 26 * row
            body.append(rectangle(x, top, 33, 24, class_="r" if lane < served else "i"))
            body.append(text(x + 16.5, top + 17, str(lane), class_="m at" if lane < served else "m"))
        y += 150
    body.append(text(0, y - 8, "Down: rows of queries. Across: keys.", class_="d"))
    return Panel(WIDTH, y + 4, body)


def banks_of(name: str, load: Load, x: float, y: float) -> list[str]:
    """A line for each row that the load reads; of its 32 banks those that hold the 16 bytes."""
    passes, most = load.passes()
    rows, of_pass = sorted(set(load.addresses)), set(load.addresses[: 32 // passes])
    body = [text(x, y, name, class_="d")]
    for n, address in enumerate(rows):
        top = y + 8 + 15 * n
        body += [rectangle(x + 15 * group, top, 13, 13, class_="f") for group in range(GROUPS)]
        group = address // 16 % GROUPS
        body.append(rectangle(x + 15 * group, top, 13, 13, class_="r" if address in of_pass else "i"))
    body.append(text(x, y + 8 + 15 * len(rows) + 16, f"{most} wavefront{'s' if most > 1 else ''} a pass", class_="d"))
    return body


def banks(kernels: dict[str, tuple[Load, Load]]) -> Panel:
    body = [text(0, 18, "Columns 0 to 3 of each row", class_="t")]
    for x, rule, (kernel, (of_q, of_k)) in zip((0.0, 150.0), ("padded", "XOR"), kernels.items()):
        body.append(text(x, 44, kernel))
        body += banks_of("4 rows of Q", of_q, x, 66)
        body += banks_of(f"8 keys of K, {rule}", of_k, x, 186)
    body.append(text(0, 362, "Across: the 32 banks, four in a box.", class_="d"))
    return Panel(WIDTH, 374, body)


def draw_lanes(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    loads = {kernel: first_loads(root, kernel) for kernel in ("in_flight", "lanes", "swizzle")}
    title = "Pairs of lanes that share an address halve the passes; XOR keeps the rows of a pass in different banks"
    description = (
        "Left, the numbers of the 32 lanes of a warp in their 4 rows and 8 keys, before and after: the first pass of a "
        "load of K serves 8 lanes, then 16. Right, the banks in which the 16 bytes of each row lie, padded and "
        "swizzled."
    )
    left = numbering({kernel: loads[kernel] for kernel in ("in_flight", "lanes")})
    right = banks({kernel: loads[kernel] for kernel in ("lanes", "swizzle")})
    return pictures([left, right], title, description, KEY, UPON)


# ---- ceilings ----

SHOWN = "fa1_row fa2_row fa2_tile fa2_slab fa2_split_q in_flight lanes swizzle async fa2_fp32".split()
BOUNDS = (("r", ceilings.of_shared_memory), ("n", ceilings.of_slots))  # of each its color


def bars(title: str, rows: dict[str, dict[str, str]], names: list[str], reached: dict[str, float]) -> Panel:
    body = [text(0, 18, title, class_="t")]
    y = 34.0
    for name in names:
        body.append(text(82, y + 20, name, class_="e"))
        for n, (class_, share) in enumerate(BOUNDS):
            part = share(rows[name])
            body.append(rectangle(90, y + 4 + 13 * n, 140 * part, 11, class_=class_))
            body.append(text(94 + 140 * part, y + 14 + 13 * n, f"{100 * part:.0f} %", class_="d"))
        if name in reached:
            body.append(element("path", d=f"M{90 + 140 * reached[name]:.1f} {y + 2}v28", class_="l"))
        y += 38
    return Panel(WIDTH, y + 4, body)


def draw_ceilings(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    rows = ceilings.by_kernel(root / "gpu/compiled/ceilings.tsv")
    if missing := [name for name in SHOWN if name not in rows]:
        raise RunError(f"gpu/compiled/ceilings.tsv: no {missing[0]}, make ceilings")
    first, last = (f"{100 * ceilings.least(rows[name]):.0f} %" for name in (SHOWN[0], SHOWN[-1]))
    title = f"What an SM can do bounds fa1_row at {first} of the peak, and fa2_fp32 at {last}"
    description = (
        "Two bars for each forward kernel of chapters 04, 05 and 10: the share of the peak that its wavefronts of "
        "shared memory allow at most, and the share that its instructions allow. A line across both: what an H200 "
        "reached."
    )
    key = "d = 64. Blue: a ceiling, by wavefronts of shared memory; gray: by issue slots. Line: measured on an H200."
    reached = ceilings.measured(root / "gpu/measured/h200/times")
    half = len(SHOWN) // 2
    return pictures(
        [bars("Chapters 04 and 05", rows, SHOWN[:half], reached), bars("This chapter", rows, SHOWN[half:], reached)],
        title,
        description,
        key,
        source="From counts on the simulated device, nvcc's machine code for sm_90, and runs on an H200.",
    )
