"""Numbers that were published, from a table as plots/published.tsv is, and the verdict on ours beside them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from . import table
from .terminal import paint

FACTORS = {"K": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True)
class Entry:
    """A published number: `value` as it was printed; `unit` K, M, G or another word; `expect` what ours has to be:
    exact, equal to its digits, inferred (equal, too), differs, gpu (not compared)."""

    value: str
    unit: str
    expect: str
    note: str

    @property
    def number(self) -> float:
        return float(self.value.replace(",", ""))

    def digits_of(self, ours: float) -> str:
        """Our number in the unit and with the digits of this one."""
        return f"{ours / FACTORS.get(self.unit, 1):.{len(self.value.partition('.')[2])}f}"

    def equals(self, ours: float | str) -> bool:
        """A count exactly, another number to the digits that were published, a word as it is."""
        value = self.value.replace(",", "")
        if isinstance(ours, str) or not re.fullmatch(r"[-+\d.]+(e[-+]?\d+)?", value):
            return str(ours) == value
        if "e" in value or not math.isfinite(ours):
            return False
        return ours == float(value) if self.expect == "exact" else self.digits_of(ours) == value


class Published:
    """The entries by table, row and quantity; and how many numbers were compared, how many of these were not equal."""

    def __init__(self, path: Path) -> None:
        """Raises table.TableError for a file that is none of these, as entry() does for what it does not have."""
        self.path = path
        self.compared = self.unequal = 0
        self.entries: dict[tuple[str, ...], Entry] = {}
        for record in table.read(path).records():
            key = record["table"], record["row"], record["quantity"]
            self.entries[key] = Entry(record["value"], record["unit"], record["expect"], record["note"])

    def entry(self, in_table: str, row: object, quantity: str) -> Entry:
        try:
            return self.entries[in_table, str(row), quantity]
        except KeyError:
            raise table.TableError(f"{self.path}: no line for {in_table}, {row}, {quantity}") from None

    def value(self, in_table: str, row: object, quantity: str) -> str:
        return self.entry(in_table, row, quantity).value

    def verdict(self, in_table: str, row: object, quantity: str, ours: float | str) -> str:
        entry = self.entry(in_table, row, quantity)
        self.compared += 1
        if entry.equals(ours):
            return paint("equal, by inference" if entry.expect == "inferred" else "equal", "good")
        return paint("differs because", "note") if entry.expect == "differs" else self.wrong()

    def verdicts(self, in_table: str, row: object, **ours: float | str) -> str:
        """One word for several numbers of a line: that of the first that is not equal."""
        found = [self.verdict(in_table, row, quantity, number) for quantity, number in ours.items()]
        return next((word for word in found if "equal" not in word), paint("equal", "good"))

    def wrong(self) -> str:
        self.unequal += 1
        return paint("NOT EQUAL", "bad")
