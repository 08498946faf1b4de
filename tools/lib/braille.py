"""Curves in a terminal: two by four dots a character, colors of the terminal where it has them. Used by tools/draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH, HEIGHT = 66, 14  # characters of the plot itself
LEFT = 9  # characters for the numbers of the y axis
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a character: row, column
# Of the families of kernels, as plots/colors.gp: naive attention has the color of the terminal's own words.
COLORS = {"naive": 39, "fa1": 33, "fa2": 35}


@dataclass
class Curve:
    name: str
    color: str
    points: list[tuple[float, float]]  # positive, in the order of x


def colored(text: str, color: str, colors: bool) -> str:
    return f"\033[{COLORS.get(color, 37)}m{text}\033[0m" if colors else text


def said(value: float) -> str:
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.3g}"


def tokens(value: float) -> str:
    return f"{value / 1024:g}k" if value >= 1024 and value % 1024 == 0 else f"{value:g}"


class Canvas:
    """Dots on logarithmic axes."""

    def __init__(self, curves: list[Curve]) -> None:
        xs, ys = zip(*(point for curve in curves for point in curve.points))
        self.low = math.log(min(xs)), math.log(min(ys))
        self.size = max(math.log(max(xs)) - self.low[0], 1e-9), max(math.log(max(ys)) - self.low[1], 1e-9)
        self.cells: dict[tuple[int, int], tuple[int, str]] = {}

    def dot(self, point: tuple[float, float]) -> tuple[float, float]:
        """Of a point: dots from the left and from above."""
        x, y = ((math.log(value) - low) / size for value, low, size in zip(point, self.low, self.size))
        return x * (2 * WIDTH - 1), (1 - y) * (4 * HEIGHT - 1)

    def set(self, x: float, y: float, color: str) -> None:
        column, row = round(x), round(y)
        place = row // 4, column // 2
        bits = self.cells.get(place, (0, color))[0]
        self.cells[place] = bits | DOTS[row % 4][column % 2], color

    def add(self, curve: Curve) -> None:
        dots = [self.dot(point) for point in curve.points]
        for (x, y), (to_x, to_y) in zip(dots, dots[1:] or dots):
            count = max(1, round(max(abs(to_x - x), abs(to_y - y))))
            for n in range(count + 1):
                self.set(x + (to_x - x) * n / count, y + (to_y - y) * n / count, curve.color)

    def row(self, row: int, colors: bool) -> str:
        made = []
        for column in range(WIDTH):
            bits, color = self.cells.get((row, column), (0, ""))
            made.append(colored(chr(0x2800 + bits), color, colors) if bits else " ")
        return "".join(made).rstrip()


def plot(title: str, curves: list[Curve], colors: bool) -> str:
    """Title, legend, curves, axes; no line is wider than 80 characters."""
    curves = [curve for curve in curves if curve.points]
    canvas = Canvas(curves)
    for curve in curves:
        canvas.add(curve)
    lines = [title]
    lines += ["  " + colored("━━", curve.color, colors) + f" {curve.name}" for curve in curves]
    for row in range(HEIGHT):
        label = ""
        if row in (0, HEIGHT // 2, HEIGHT - 1):
            label = said(math.exp(canvas.low[1] + canvas.size[1] * (1 - (4 * row + 2) / (4 * HEIGHT))))
        lines.append(f"{label:>{LEFT}} │{canvas.row(row, colors)}")
    lines.append(" " * LEFT + " └" + "─" * WIDTH)
    marks = [" "] * (WIDTH + 8)
    for x in sorted({point[0] for curve in curves for point in curve.points}):
        at, text = round(canvas.dot((x, math.exp(canvas.low[1])))[0] / 2), tokens(x)
        marks[at : at + len(text)] = text
    lines.append(" " * (LEFT + 2) + "".join(marks).rstrip())
    return "\n".join(line.rstrip() for line in lines) + "\n"
