"""The words of a picture that gnuplot wrote as SVG: where they stand, and whether they can be read."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass

SMALLEST, LARGEST = 12, 14  # pixels: of the words of every picture, as a page shows it
ABOVE, BELOW = 0.73, 0.2  # of the size
SLACK = 0.5  # pixels two boxes may share: they are estimates
SVG = "{http://www.w3.org/2000/svg}"

# DejaVu Sans 2.37, advance widths of " " to "~" in 1/2048 of the size.
ASCII = """
    651 821 942 1716 1303 1946 1597 563 799 799 1024 1716 651 739 651 690 1303 1303 1303 1303 1303 1303 1303
    1303 1303 1303 690 690 1716 1716 1716 1087 2048 1401 1405 1430 1577 1294 1178 1587 1540 604 604 1343 1141
    1767 1532 1612 1235 1612 1423 1300 1251 1499 1401 2025 1403 1251 1403 799 690 799 1716 1024 1024 1255 1300
    1126 1300 1260 721 1300 1298 569 569 1186 569 1995 1298 1253 1300 1300 842 1067 803 1298 1212 1675 1212
    1212 1075 1303 690 1303 1716
"""
ADVANCES = {chr(ord(" ") + index): int(advance) for index, advance in enumerate(ASCII.split())}
# And of what else the pictures write; anything else counts as wide.
ADVANCES |= {
    **dict.fromkeys("²³⁰¹⁴⁵⁶⁷⁸⁹", 821), **dict.fromkeys("×↵−", 1716), **dict.fromkeys("○●", 1787),
    "·": 651, "Θ": 1612, "␣": 1300, "⁻": 1081, "∝": 1463,
}  # fmt: skip

Point = tuple[float, float]


def text_width(text: str, size: float) -> float:
    return sum(ADVANCES.get(character, 2048) for character in text) / 2048 * size


@dataclass
class Word:
    text: str
    size: float
    corners: list[Point]

    def along(self, dx: float, dy: float) -> tuple[float, float]:
        """The extent in a direction."""
        places = [(x * dx + y * dy) / math.hypot(dx, dy) for x, y in self.corners]
        return min(places), max(places)

    def edges(self) -> list[Point]:
        """The directions of the edges."""
        (x0, y0), (x1, y1), (x2, y2), _ = self.corners
        return [(x1 - x0, y1 - y0), (x2 - x1, y2 - y1)]

    def lies_on(self, other: Word) -> bool:
        """Two convex boxes overlap when no edge's direction separates them."""
        for dx, dy in self.edges() + other.edges():
            if math.hypot(dx, dy) > 0:
                (low, high), (other_low, other_high) = self.along(dx, dy), other.along(dx, dy)
                if max(low, other_low) - min(high, other_high) > -SLACK:
                    return False
        return True


def placed(text: str, size: float, transform: str, anchor: str, bold: bool = False) -> Word:
    x, y = map(float, re.search(r"translate\(([-\d.]+),([-\d.]+)\)", transform).groups())
    turned = re.search(r"rotate\(([-\d.]+)", transform)
    angle = math.radians(float(turned[1])) if turned else 0.0
    width = text_width(text, size) * (1.12 if bold else 1)
    left = {"end": -width, "middle": -width / 2}.get(anchor, 0.0)
    box = [(left, -ABOVE * size), (left + width, -ABOVE * size), (left + width, BELOW * size), (left, BELOW * size)]
    c, s = math.cos(angle), math.sin(angle)
    return Word(text, size, [(x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in box])


def near(place: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """The same, or a pixel beside it: an angle may be rounded otherwise."""
    return len(place) == len(other) and all(
        abs(a - b) <= 1 if isinstance(a, int) and isinstance(b, int) else a == b for a, b in zip(place, other)
    )


class Picture:
    def __init__(self, svg: str) -> None:
        self.root = xml.fromstring(svg)
        self.width, self.height = map(float, self.root.get("viewBox", "").split()[2:])
        self.title = self.root.findtext(f"{SVG}title", "")
        self.description = self.root.findtext(f"{SVG}desc", "")
        self.words = [
            placed(
                "".join(text.itertext()),
                float(group.get("font-size")),
                group.get("transform"),
                group.get("text-anchor"),
                group.get("font-weight") == "bold",
            )
            for group in self.root.iter(f"{SVG}g")
            for text in group.findall(f"{SVG}text")
        ]

    def places(self) -> list[tuple[object, ...]]:
        """Words, points and areas with where they are, in pixels: what every gnuplot must draw alike."""
        svg = xml.tostring(self.root, encoding="unicode")
        found: list[tuple[object, ...]] = [
            (word.text, *(round(part) for corner in word.corners for part in corner)) for word in self.words
        ]
        for use in self.root.iter(f"{SVG}use"):
            at = re.search(r"translate\(([-\d.]+),([-\d.]+)\)", use.get("transform", ""))
            if at:
                found.append(("point", round(float(at[1])), round(float(at[2])), use.get("color")))
        for corners in re.findall(r"polygon fill=\"[^\"]*\" points=\"([^\"]*)\"", svg):
            found.append(("area", *(round(float(part)) for part in re.findall(r"[\d.]+", corners))))
        return found

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]

    @property
    def provenance(self) -> str:
        """Where its numbers come from; a page says it below the picture."""
        return self.description.partition("\n")[2]

    def problems(self, width: float) -> list[str]:
        """Words that are too small or too large, that leave the picture, that lie on another; another width."""
        found = [] if self.width == width else [f"it is {self.width:g} pixels wide, not {width:g}"]
        words = [word for word in self.words if word.text.strip(" ")]
        for index, word in enumerate(words):
            if not SMALLEST <= word.size <= LARGEST:
                found.append(f'"{word.text}" has {word.size:.1f} pixels')
            if any(not (0 <= x <= self.width and 0 <= y <= self.height) for x, y in word.corners):
                found.append(f'"{word.text}" leaves the picture')
            found += [f'"{word.text}" lies on "{other.text}"' for other in words[:index] if word.lies_on(other)]
        return found
