"""The words of a picture, gnuplot's or a diagram's: where they stand, and how large they are."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass

SMALLEST, LARGEST = 12, 14  # pixels: of the words of every picture, as a page shows it
ABOVE, BELOW = 0.73, 0.2  # of the size
SLACK = 0.5  # pixels two boxes may share: they are estimates
SVG = "{http://www.w3.org/2000/svg}"
INHERITED = ("font-size", "font-weight", "text-anchor")

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


@dataclass
class Word:
    text: str
    size: float
    left: float
    top: float
    right: float
    bottom: float

    def lies_on(self, other: Word) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return min(across, down) >= SLACK


class Picture:
    def __init__(self, svg: str) -> None:
        self.root = xml.fromstring(svg)
        self.width, self.height = map(float, self.root.get("viewBox", "").split()[2:])
        self.title = self.root.findtext(f"{SVG}title", "")
        self.description = self.root.findtext(f"{SVG}desc", "")
        # Of the style, by names of elements and .classes; the later rule is the stronger one.
        self.rules: dict[str, dict[str, str]] = {}
        style = self.root.findtext(f"{SVG}style", "").partition("@")[0]
        for names, body in re.findall(r"([.\w,]+)\{([^{}]*)\}", style):
            for name in names.split(","):
                rules = self.rules.setdefault(name, {})
                rules.update(part.split(":", 1) for part in body.split(";") if ":" in part)
        self.words: list[Word] = []
        self.walk(self.root, {}, 0, 0)

    def walk(self, element: xml.Element, inherited: dict[str, str], x: float, y: float) -> None:
        tag = element.tag.removeprefix(SVG)
        look = {**inherited, **self.rules.get(tag, {})}
        for name in self.rules:
            if name[1:] in element.get("class", "").split():
                look.update(self.rules[name])
        look.update(element.attrib)
        moved = re.match(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)", element.get("transform", ""))
        at = moved.groups() if moved else (element.get("x", 0), element.get("y", 0))
        x, y = x + float(at[0]), y + float(at[1])
        if "rotate" in element.get("transform", ""):  # a name along a line: where its letters are is not looked at
            self.words.append(Word("".join(element.itertext()).strip(), SMALLEST, x, y, x, y))
            return
        if tag == "text":
            self.add_word("".join(element.itertext()), look, x, y)
        below = {name: look[name] for name in INHERITED if name in look}
        for child in element:
            # A nested picture is a window onto what moves behind it.
            beyond = tag == "svg" and element.get("x") and float(child.get("y", 0)) > float(element.get("height"))
            if tag != "defs" and not beyond:
                self.walk(child, below, x, y)

    def add_word(self, text: str, look: dict[str, str], x: float, y: float) -> None:
        size = float(look["font-size"].removesuffix("px"))
        width = sum(ADVANCES.get(character, 2048) for character in text) / 2048 * size
        width *= 1.12 if look.get("font-weight") == "bold" else 1
        x += {"end": -width, "middle": -width / 2}.get(look.get("text-anchor", ""), 0.0)
        self.words.append(Word(text, size, x, y - ABOVE * size, x + width, y + BELOW * size))

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
            if min(word.left, word.top) < 0 or word.right > self.width or word.bottom > self.height:
                found.append(f'"{word.text}" leaves the picture')
            found += [f'"{word.text}" lies on "{other.text}"' for other in words[:index] if word.lies_on(other)]
        return found
