"""The pictures' colors: words 4.5 : 1 on what lies under them, shapes 3 : 1 on the background (WCAG 2.1, AA); and the
words of diagrams stand inside."""

from __future__ import annotations

import re
import unittest
import xml.etree.ElementTree as xml
from dataclasses import dataclass

from house import ROOT, run
from lib.chapters import PROGRAMS
from lib.diagrams.svg import DARK, LIGHT
from svg import LARGEST, SMALLEST, text_width

PICTURES = ROOT / "plots/pictures"
SVG = "{http://www.w3.org/2000/svg}"
BACKGROUND = {"light": "#ffffff", "dark": "#0d1117"}
# Of charts: the grid, and what only shades: bands between visible lines.
FAINT = {"#d1d9e0", "#30363d"}
Color = tuple[float, float, float]


def parsed(color: str) -> Color:
    if color.startswith("rgb("):
        red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", color))
        return red, green, blue
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def luminance(color: Color) -> float:
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in color)
    return sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(first: Color, second: Color) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def over(color: Color, opacity: float, under: Color) -> Color:
    red, green, blue = (opacity * a + (1 - opacity) * b for a, b in zip(color, under))
    return red, green, blue


@dataclass
class Box:
    x: float
    y: float
    width: float
    height: float
    color: Color
    opacity: float

    def holds(self, x: float, y: float) -> bool:
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


class Diagram:
    """One of tools/lib/diagrams: its rectangles and words where they stand, with the style of their classes."""

    def __init__(self, svg: str, theme: str) -> None:
        self.background = parsed(BACKGROUND[theme])
        style = re.search(r"<style>\n(.*?)</style>", svg, re.DOTALL)[1]
        # The later rule is the stronger one.
        self.rules: dict[str, dict[str, str]] = {}
        for names, body in re.findall(r"([.\w,]+)\{([^{}]*)\}", style.partition("@")[0]):
            for name in names.split(","):
                rules = self.rules.setdefault(name.strip(), {})
                rules.update(part.split(":", 1) for part in body.split(";") if ":" in part)
        self.boxes: list[Box] = []
        self.shapes: list[tuple[str, Color]] = []
        self.words: list[tuple[str, Color, float, float]] = []
        self.clip: float | None = None
        self.outside: list[str] = []
        self.sizes: set[float] = set()
        self.width = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1]) if "viewBox" in svg else 400.0
        self.walk(xml.fromstring(svg), 0, 0)

    def look(self, element: xml.Element) -> dict[str, str]:
        given = dict(self.rules.get(element.tag.removeprefix(SVG), {}))
        order = list(self.rules)
        for name in sorted(
            (f".{name}" for name in element.get("class", "").split()),
            key=lambda name: order.index(name) if name in order else 0,
        ):
            given.update(self.rules.get(name, {}))
        given.update({name: element.get(name) for name in ("fill", "stroke") if element.get(name)})
        return given

    def walk(self, element: xml.Element, x: float, y: float) -> None:
        moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag == f"{SVG}svg" and element.get("x"):
            x, y = x + float(element.get("x")), y + float(element.get("y"))
            self.clip = float(element.get("height"))  # a window onto what moves behind it
        look = self.look(element)
        at = x + float(element.get("x", 0)), y + float(element.get("y", 0))
        if element.tag == f"{SVG}rect":
            self.add_box(element, look, at)
        elif element.tag == f"{SVG}text" and (self.clip is None or float(element.get("y")) <= self.clip):
            words = "".join(element.itertext())
            self.words.append((words, parsed(look["fill"]), *at))
            bold = 1.12 if look.get("font-weight") == "bold" else 1
            size = float(look.get("font-size", "14px").removesuffix("px"))
            self.sizes.add(size)
            room = bold * text_width(words, size)
            left = at[0] - {"end": room, "middle": room / 2}.get(look.get("text-anchor", ""), 0)
            if left < 0 or left + room > self.width:
                self.outside.append(f'"{words}" leaves the picture')
        elif element.tag == f"{SVG}path":
            self.shapes.append(("path", parsed(look["stroke"])))
        for child in element:
            self.walk(child, x, y)
        if element.tag == f"{SVG}svg":
            self.clip = None

    def add_box(self, element: xml.Element, look: dict[str, str], at: tuple[float, float]) -> None:
        size = float(element.get("width")), float(element.get("height"))
        if look.get("fill", "none") != "none":
            opacity = float(look.get("fill-opacity", 1))
            self.boxes.append(Box(*at, *size, parsed(look["fill"]), opacity))
            if element.get("fill") is None and opacity == 1:  # not the background itself
                self.shapes.append((element.get("class"), parsed(look["fill"])))
        if look.get("stroke", "none") != "none":
            self.shapes.append((element.get("class"), parsed(look["stroke"])))
        elif float(look.get("fill-opacity", 1)) < 1:
            self.shapes.append((f"{element.get('class')} without an edge", self.background))

    def problems(self) -> list[str]:
        found = [*self.outside]
        found += [f"{name}: a shape" for name, color in self.shapes if contrast(color, self.background) < 3]
        for words, color, x, y in self.words:
            under = self.background
            for box in self.boxes:
                if box.holds(x, y - 5):
                    under = over(box.color, box.opacity, under)
            if contrast(color, under) < 4.5:
                found.append(f'"{words}" has {contrast(color, under):.1f} : 1')
        return found


def chart_problems(svg: str, theme: str, shapes: bool = True) -> list[str]:
    """Of gnuplot's pictures, whose words stand on the background, but for black ones on a bar."""
    background = parsed(BACKGROUND[theme])
    words = set(re.findall(r'<g transform="[^"]*" stroke="none" fill="([^"]+)"', svg))
    bars = set(re.findall(r"<polygon fill = '(rgb\([^']*\)|#\w+)' points", svg)) if shapes else set()
    found = []
    for color in words - {"black", "rgb(0,0,0)", "#000000"}:
        if contrast(parsed(color), background) < 4.5:
            found.append(f"words in {color}: {contrast(parsed(color), background):.1f} : 1")
    drawn = re.findall(r"<(?:path|use|circle)[^>]*? (?:stroke|color)='(rgb[^']+|#[^']+)'", svg.replace('"', "'"))
    for color in {parsed(color) for color in [*drawn, *bars]} - {parsed(faint) for faint in FAINT} - {background}:
        if contrast(color, background) < 3:
            found.append(f"a shape in {color}: {contrast(color, background):.1f} : 1")
    return found


class Contrast(unittest.TestCase):
    def test_diagrams(self) -> None:
        paths = sorted(PICTURES.glob("*.svg"))
        self.assertGreaterEqual(len(paths), 28)
        for path in paths:
            with self.subTest(path.name):
                diagram = Diagram(path.read_text(), path.name.split(".")[-2])
                self.assertEqual(diagram.problems(), [])
                if not path.name.startswith("hero"):  # the only one that is not read but looked at
                    self.assertIn(diagram.width, (300, 800))
                    self.assertLessEqual(diagram.sizes, {*range(SMALLEST, LARGEST + 1)})

    def test_charts(self) -> None:
        paths = sorted(PICTURES.glob("sim/*.svg"))
        self.assertGreaterEqual(len(paths), 56)
        for path in paths:
            with self.subTest(path.name):
                cells = path.name.startswith("attention_map")
                self.assertEqual(chart_problems(path.read_text(), path.name.split(".")[-2], not cells), [])

    def test_a_concept_has_one_color(self) -> None:
        """Kills a hue that is changed in charts or in diagrams alone, and a kernel in the color of another family."""
        concepts = "stored read output naive fa1 fa2 fa1_row fa1_paper fa2_row fa2_tile fa2_slab fa2_split_q".split()
        asked = "".join(f"print {'color' if '_' in name else 'named'}('{name}');" for name in concepts)
        for theme in (LIGHT, DARK):
            script = f"theme = '{theme.name}'; load 'plots/theme.gp'; {asked}"
            printed = run("gnuplot", "-e", script, LC_ALL="C.UTF-8").stderr.split()  # as tools/draw runs it
            self.assertEqual(printed[:3], [theme.vermilion, theme.blue, theme.green])
            self.assertEqual(len(set(printed[:6])), 6)
            self.assertEqual(printed[6:], [printed[4]] * 2 + [printed[5]] * 4)

    def test_kernels_of_a_file_differ_in_their_points(self) -> None:
        """For those who do not see the colors."""
        words = (ROOT / "plots/colors.gp").read_text().partition('series_table = "')[2].partition('"')[0]
        known = {kernel: look for kernel, *look in (word.split("=") for word in words.split() if "=" in word)}
        for path in [ROOT / f"plots/data/sim/{chapter}.tsv" for chapter in PROGRAMS]:
            lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("# units")]
            head = next(line for line in lines if "kernel" in line)
            kernels = {line[head.index("kernel")] for line in lines[lines.index(head) + 1 :]} & set(known)
            points = [known[kernel][1] for kernel in kernels]
            self.assertEqual(len(points), len(set(points)), path.name)

    def test_the_check_finds_what_cannot_be_seen(self) -> None:
        style = "<style>\ntext{fill:#1f2328}.d{fill:#999999}.r{fill:#0072B2}.p{fill:#eeeeee}</style>"
        whole = f'<svg xmlns="{SVG[1:-1]}">{style}<rect width="400" height="200" x="0" y="0" fill="#ffffff"/>%s</svg>'
        for body, count in (
            ('<text x="5" y="20">seen</text>', 0),
            ('<text x="5" y="20" class="d">pale</text>', 1),
            ('<rect x="0" y="0" width="90" height="40" class="r"/>', 0),
            ('<rect x="0" y="0" width="90" height="40" class="r"/><text x="5" y="20">on blue</text>', 1),
            ('<rect x="0" y="0" width="90" height="40" class="p"/>', 1),
            ('<text x="300" y="20">too long for what is left</text>', 1),
        ):
            self.assertEqual(len(Diagram(whole % body, "light").problems()), count, body)
        self.assertEqual(len(chart_problems("<path stroke='#E69F00'/>", "light")), 1)
        self.assertEqual(chart_problems("<path stroke='#0072B2'/>", "light"), [])
        self.assertAlmostEqual(contrast(parsed("#ffffff"), parsed("#000000")), 21)


if __name__ == "__main__":
    unittest.main()
