"""What has to hold of a file that `make bench` wrote: where it comes from, every row's arithmetic, the counts
against the closed forms beside them. check() and check_points() return what is wrong, "" when all is well."""

from __future__ import annotations

import math
import re

from lib import table

NOTES = {
    "machine": r".+, [0-9]+ cores?, .+",
    "device": r"sim, limits of [a-z0-9-]+, .+|cuda, .+",
    "compiler": r"(gcc|clang|nvcc) .*[0-9]+\.[0-9]+.*",
    "commit": r"[0-9a-f]{7,40}( \+ changes)?|unknown",
    "date": r"20[0-9]{2}-[01][0-9]-[0-3][0-9]T.*Z",
    "command": r"make bench CHAPTERS=.*",
    "units": r".*_bytes bytes, .*_elements of 4 bytes, _ms milliseconds.*NaN or - was not measured.*",
}
# file: (largest N, kernels) of the sweeps; of the others the number of rows
SWEEPS = {
    "01_naive": (2048, ["naive"]),
    "04_fa1": (1024, ["fa1_paper", "fa1_row"]),
    "05_fa2": (2048, ["fa2_row", "fa2_tile", "fa2_slab", "fa2_split_q"]),
    "06_backward": (1024, ["backward_naive", "backward_split", "backward_atomic"]),
    "10_pipeline": (1024, ["in_flight", "lanes", "swizzle", "async", "fa2_fp32"]),
}
OTHERS = {"00_gpu": 56, "02_online_softmax": 15, "03_tiled_matmul": 35, "07_transformer": 84, "08_decode": 72}
OTHERS |= {"09_variants": 40, "blocks": 10, "long": 2}
# They compute nothing.
MOVES = ("copy", "copy_strided", "copy_float4", "transpose", "transpose_padded", "who_am_i")


def wrong_notes(data: table.Table, device: str) -> list[str]:
    found = [f"# {key}" for key, pattern in NOTES.items() if not re.fullmatch(pattern, data.notes.get(key, ""))]
    named = data.notes.get("device", "")
    return found + [f"in {device} lies data of '{named}'"] * (named.startswith("sim") != (device == "sim"))


def wrong_in(record: dict[str, str], device: str, name: str) -> list[str]:
    """What is wrong with a row: the names of the rules that it breaks."""

    def number(column: str) -> float:
        return table.number(record.get(column))

    if record["verified"] == "skipped":
        return [] if re.search("[a-z].*[0-9]", record["skipped"]) else ["no reason to skip"]
    kind = record["model_counts"]
    moved = {each: number(f"{each}_read_bytes") + number(f"{each}_write_bytes") for each in ("requested", "footprint")}
    rules = {
        "verified": record["verified"] == "yes" and record["skipped"] == "-" and "" not in record.values(),
        "error": number("max_abs") <= number("tolerance") < 0.1,
        "error of a tensor": not any(
            number(column) > number(column.replace("max_abs", "tolerance")) for column in record if "max_abs_" in column
        ),
        "time_kind": record["time_kind"] == ("measured-cpu" if device == "sim" else "measured-gpu"),
        "times": 0 < number("p10_ms") <= number("median_ms") <= number("p90_ms") and number("runs") >= 1,
        "model": number("model_elements") == number(f"model_{kind}_elements"),
    }
    if device == "sim":
        elements, blocks = number("counted_elements"), number("blocks")
        rules["counted"] = elements == number("model_elements")
        # Statistics (l, m, LSE, D) are in the sums and in no model: at most 6 N for each of the Tc visits of a row.
        rules["bytes in all"] = 4 * elements <= moved[kind] <= 1.3 * 4 * elements
        rules["blocks"] = blocks >= 1 and number("peak_bytes") > 0
        # A footprint is no more than what is asked for; a sector is asked for once a request, or more than once.
        rules["footprint"] = moved["footprint"] <= moved["requested"] + 2 * number("atomic_bytes")
        rules["sectors"] = 32 * (number("read_sectors") + number("write_sectors")) >= moved["footprint"] / 2
        # Loads of 8 and 16 bytes may need half as many passes as their width has; older data has no conflicts.
        told = "shared_conflicts" in record
        ideal = number("ideal_wavefronts")
        passes = number("shared_wavefronts") - (number("shared_conflicts") if told else 0)
        rules["wavefronts"] = ideal <= 2 * passes and (passes <= ideal or not told)
        rules["floor"] = (number("floor_ms") > 0) == (number("requested_read_bytes") > 0)
        rules["flop"] = (number("flop") == 0) == (record["kernel"] in MOVES)
    if name == "blocks":
        elements = number("counted_elements" if device == "sim" else "model_requested_elements")
        rules["units"] = number("units") == elements / math.prod(map(number, ("seq", "dim", "heads", "batch")))
    return [rule for rule, holds in rules.items() if not holds]


def check(path: object, device: str, name: str) -> str:
    """`name` is the file's without .tsv, `device` its directory's."""
    try:
        data = table.read(str(path))
    except table.TableError as error:
        return str(error)
    found = wrong_notes(data, device) if data.rows else ["it has no rows"]
    for number, record in enumerate(data.records(), 1):
        found += [f"row {number}, {record['kernel']}: {wrong}" for wrong in wrong_in(record, device, name)]
    return "\n".join(found)


def check_points(path: object, name: str) -> str:
    """Of a whole bench on the simulated device: every point is there, and once."""
    records = table.read(str(path)).records()
    last, kernels = SWEEPS.get(name, (0, []))
    points = [
        (kernel, str(2**power), dim, causal)
        for kernel in kernels
        for power in range(7, last.bit_length())
        for dim in ("64", "128")
        for causal in ("0", "1")
    ]
    for kernel, seq, dim, causal in points:
        wanted = {"kernel": kernel, "seq": seq, "dim": dim, "causal": causal, "heads": "1", "batch": "1"}
        found = sum(wanted.items() <= record.items() for record in records)
        if found != 1:
            return f"{found} rows of {kernel}, N = {seq}, d = {dim}, causal = {causal}"
    expected = OTHERS.get(name, len(points))
    return "" if len(records) == expected else f"{len(records)} rows, expected {expected}"
