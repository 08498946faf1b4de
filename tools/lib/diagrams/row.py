"""Chapter 02: m and l along a row, from the program's own --trace."""

from __future__ import annotations

import json
from pathlib import Path

from lib.diagrams.run import run
from lib.diagrams.svg import Panel, element, number, pictures, rectangle, text

VALUES = [1, 2, 3, 6, 2, 1, 4, 5, 3, 8, 2, 7]
BLOCK = 3
UNIT, FLOOR = 16.0, 176.0  # pixels: of a score of 1, and where the bars stand
LEFT, APART = 76.0, 6.0  # where the first block begins, and what is between two
KEY = "Faint blue: a score; full blue: one that is a new maximum."
BAR, STEP = 13.0, 15.0  # a bar's width, and from one bar to the next


def height_of(value: float) -> float:
    return FLOOR - UNIT * value


def row(trace: list[dict[str, float]]) -> Panel:
    """Scores as bars, the running maximum above them; below each block what is remembered after it."""
    body = [text(0, 18, "A row of scores, in blocks of three", class_="t"), text(0, FLOOR - 6, "x", class_="d")]
    names = ("m", "correction", "l")
    for n, name in enumerate(names):
        body.append(text(0, FLOOR + 32 + 24 * n, name, class_="d"))
    path = ""
    for place, block in enumerate(trace):
        left = LEFT + place * (BLOCK * STEP + APART)
        for n, value in enumerate(VALUES[place * BLOCK : (place + 1) * BLOCK]):
            x = left + n * STEP
            largest = value == block["m"] and value not in VALUES[: place * BLOCK]
            body.append(rectangle(x, height_of(value), BAR, UNIT * value, class_="r" if largest else "i"))
            body.append(text(x + BAR / 2, FLOOR - 5, str(value), class_="m at" if largest else "m"))
        right, at = left + BLOCK * STEP - (STEP - BAR), number(height_of(block["m"]))
        path += f"{f'H{number(left)}V' if path else f'M{number(left)} '}{at}H{number(right)}"
        middle = (left + right) / 2
        for n, name in enumerate(names):
            value = "-" if name == "correction" and place == 0 else f"{block[name]:.3g}"
            body.append(text(middle, FLOOR + 32 + 24 * n, value, class_="m"))
    body.append(element("path", d=path, class_="l"))
    body.append(text(LEFT, height_of(8) + 4, "m, the largest so far", class_="d"))
    body.append(text(0, FLOOR + 112, "correction: exp(m before − m after)", class_="d"))
    body.append(text(0, FLOOR + 132, "l: the sum of exp(x − m) so far", class_="d"))
    return Panel(LEFT + len(trace) * (BLOCK * STEP + APART), FLOOR + 138, body)


def draw(root: Path) -> dict[str, str]:
    """Light and dark: on a phone it fits, too. Raises RunError."""
    values = ",".join(map(str, VALUES))
    printed = run(
        root / "02_online_softmax/online_softmax",
        ["--trace", "--values", values, "--block", str(BLOCK), "--json", "-"],
    )
    trace = json.loads(printed)["trace"]
    grew = sum(1 for before, after in zip(trace, trace[1:]) if after["m"] > before["m"])
    title = f"The maximum of a row grows {grew} times, and each time the sum so far shrinks"
    description = (
        "Scores as bars in blocks of three. After each block: m, the largest score so far; what the sum so far was "
        "multiplied by when m grew; l, the sum of exp(x - m) so far."
    )
    drawn = pictures([row(trace)], title, description, KEY, ".at{{fill:{0.background}}}")
    return {theme: drawn[f"narrow.{theme}"] for theme in ("light", "dark")}
