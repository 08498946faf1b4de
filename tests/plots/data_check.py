"""What has to hold of a file that `make bench` wrote: where it comes from, every row's arithmetic, the counts
against the closed forms beside them. check() and check_points() return what is wrong, "" when all is well."""

from __future__ import annotations

import math
import re

from house import table

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


class Wrong(Exception):
    pass


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise Wrong(what)


class Row:
    def __init__(self, record: dict[str, str], simulated: bool) -> None:
        self.record = record
        self.simulated = simulated

    def text(self, column: str) -> str:
        return self.record.get(column, "")

    def __getitem__(self, column: str) -> float:
        return table.number(self.record.get(column))


def check_table(data: table.Table, device: str) -> None:
    for key, pattern in NOTES.items():
        value = data.notes.get(key)
        expect(value is not None and re.fullmatch(pattern, value) is not None, f"# {key}: '{value}'")
    named = data.notes["device"]
    expect(named.startswith("sim") == (device == "sim"), f"in {device} lies data of '{named}'")
    expect(len(data.rows) > 0, "it has no rows")


def check_verified(row: Row) -> None:
    verified, skipped = row.text("verified"), row.text("skipped")
    expect(verified == "yes" and skipped == "-", f"verified is '{verified}', skipped '{skipped}'")
    expect(row["max_abs"] <= row["tolerance"] < 0.1, f"error {row['max_abs']:g}, tolerance {row['tolerance']:g}")
    for column in row.record:
        if column.startswith("max_abs_") and not math.isnan(row[column]):
            other = column.replace("max_abs", "tolerance")
            expect(row[column] <= row[other], f"{column} is {row[column]:g}, {other} {row[other]:g}")
    kind, measured = row.text("time_kind"), "measured-cpu" if row.simulated else "measured-gpu"
    expect(kind == measured, f"time_kind is '{kind}'")
    low, middle, high, runs = (row[column] for column in ("p10_ms", "median_ms", "p90_ms", "runs"))
    expect(0 < low <= middle <= high and runs >= 1, f"times {low:g}, {middle:g}, {high:g} of {runs:g} runs")


def check_counts(row: Row) -> None:
    requested = row["requested_read_bytes"] + row["requested_write_bytes"]
    footprint = row["footprint_read_bytes"] + row["footprint_write_bytes"]
    counted, model = row["counted_elements"], row["model_elements"]
    expect(counted == model, f"counted {counted:.0f} elements, the closed form says {model:.0f}")
    # Statistics (l, m, LSE, D) are in the sums and in no model: at most 6 N for each of the Tc visits of a row.
    both = footprint if row.text("model_counts") == "footprint" else requested
    expect(4 * counted <= both <= 1.3 * 4 * counted, f"{both:.0f} bytes in all, {4 * counted:.0f} of them modeled")
    expect(footprint <= requested + 2 * row["atomic_bytes"], f"footprint {footprint:.0f}, requested {requested:.0f}")


def check_row(row: Row, name: str) -> None:
    expect("" not in row.record.values(), "a cell is empty")
    if row.text("verified") == "skipped":
        expect(re.search("[a-z].*[0-9]", row.text("skipped")) is not None, "no reason to skip")
        return
    check_verified(row)
    model, same = row["model_elements"], row[f"model_{row.text('model_counts')}_elements"]
    expect(model == same, f"model_elements {model:.0f}, by its kind {same:.0f}")
    if row.simulated:
        check_counts(row)
    if name == "blocks":
        elements = row["counted_elements" if row.simulated else "model_requested_elements"]
        Nd = row["seq"] * row["dim"] * row["heads"] * row["batch"]
        expect(row["units"] == elements / Nd, f"units {row['units']:g}, elements {elements:.0f} of N d = {Nd:.0f}")


def check(path: object, device: str, name: str) -> str:
    """`name` is the file's without .tsv, `device` its directory's."""
    try:
        data = table.read(str(path))
        check_table(data, device)
    except (Wrong, table.TableError) as error:
        return str(error)
    for number, record in enumerate(data.records(), 1):
        try:
            check_row(Row(record, device == "sim"), name)
        except Wrong as error:
            return f"row {number}, {record['kernel']}: {error}"
    return ""


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
