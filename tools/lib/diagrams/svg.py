"""The two themes of the pictures (plots/theme.gp has the same colors), and SVG elements as text."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass

FACE = "DejaVu Sans, Verdana, sans-serif"


@dataclass(frozen=True)
class Theme:
    name: str
    background: str
    foreground: str
    dim: str  # words that may be overlooked; 4.5:1 on the background
    faint: str  # frames
    blue: str
    green: str
    vermilion: str


LIGHT = Theme("light", "#ffffff", "#1f2328", "#59636e", "#8c959f", "#0072B2", "#009E73", "#D55E00")
DARK = Theme("dark", "#0d1117", "#e6edf3", "#9198a1", "#6e7681", "#56B4E9", "#009E73", "#D55E00")


def number(value: float) -> str:
    """At most two digits behind the point, none that say nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def attributes(given: dict[str, object]) -> str:
    words = (
        (name.rstrip("_").replace("_", "-"), number(value) if isinstance(value, float) else value)
        for name, value in given.items()
    )
    return "".join(f' {name}="{html.escape(str(value))}"' for name, value in words)


def element(name: str, content: str = "", **given: object) -> str:
    """class_ is the attribute class; a number has two digits behind the point."""
    return f"<{name}{attributes(given)}>{content}</{name}>" if content else f"<{name}{attributes(given)}/>"


def rectangle(x: float, y: float, width: float, height: float, **given: object) -> str:
    return element("rect", x=number(x), y=number(y), width=number(width), height=number(height), **given)


def part(box: tuple[int, int, int, int], x: float, y: float, scale: float, class_: str) -> str:
    """Rows and columns of a matrix that is drawn from (x, y) on."""
    row, column, end_row, end_column = box
    width, height = (end_column - column) * scale, (end_row - row) * scale
    return rectangle(x + column * scale, y + row * scale, width, height, class_=class_)


def text(x: float, y: float, words: str, **given: object) -> str:
    return element("text", html.escape(words), x=number(x), y=number(y), **given)


def line(x: float, y: float, to_x: float, to_y: float) -> str:
    return element("path", d=f"M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}", class_="l")


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Of class l; straight down, up or to the right."""
    if y == to_y:
        head = f"M{number(to_x - 6)} {number(to_y - 4)}l6 4l-6 4"
    else:
        back = -6 if to_y > y else 6
        head = f"M{number(to_x - 4)} {number(to_y + back)}l4 {-back}l4 {back}"
    return element("path", d=f"M{number(x)} {number(y)}L{number(to_x)} {number(to_y)}{head}", class_="l")


BASE_STYLE = (
    "text{{fill:{0.foreground}}}.t{{font-weight:bold}}.d{{fill:{0.dim}}}"
    ".e{{text-anchor:end}}.m{{text-anchor:middle}}.on{{fill:#000}}.f{{fill:none;stroke:{0.faint}}}"
    ".i{{fill:{0.blue};fill-opacity:.35;stroke:{0.blue};stroke-opacity:1}}"
    ".n{{fill:{0.dim};fill-opacity:.25;stroke:{0.dim}}}"
    ".r{{fill:{0.blue}}}.w{{fill:{0.vermilion}}}.o{{fill:{0.green}}}.i,.n,.r,.w,.o{{shape-rendering:crispEdges}}"
    ".l{{stroke:{0.foreground};fill:none;stroke-width:1.5}}\n"
)


# The type scale, plots/theme.gp's; a page shows a picture at its own width.
SCALE = ".t{{font-size:14px}}text{{font-size:13px}}.d{{font-size:12px}}"
SOURCE = "Drawn from runs on the simulated device."


def base_style(theme: Theme) -> str:
    """Classes: t title, d dim, on upon a color, e and m anchors of text; f frame, l line; i input, r read, w stored,
    o output, n none of these."""
    return BASE_STYLE.format(theme)


@dataclass(frozen=True)
class Panel:
    """A part of a picture, drawn from (0, 0)."""

    width: float
    height: float
    body: list[str]


WIDE, NARROW, MARGIN, GAP = 800.0, 300.0, 10.0, 30.0  # pixels: of a picture; at its edge; between panels


def arrange(panels: list[Panel], wide: bool, theme: Theme) -> tuple[float, float, list[str]]:
    """Width, height and body of a picture: its panels beside each other, or one below the other."""
    beside, width = (panels, WIDE) if wide else (panels[:1], NARROW)
    room = (width - sum(panel.width for panel in beside)) / (len(beside) + 1)
    x, y = room, MARGIN
    body = []
    for panel in panels:
        body.append(element("g", "\n".join(panel.body), transform=f"translate({number(x)} {number(y)})"))
        if wide:
            x += panel.width + room
        else:
            y += panel.height + GAP
    height = max(panel.height for panel in panels) + 2 * MARGIN if wide else y - GAP + MARGIN
    return width, height, [rectangle(0, 0, width, height, fill=theme.background), *body]


def variants(draw: Callable[[Theme, bool], str]) -> dict[str, str]:
    """The four of a picture, by the name that its file has."""
    return {
        f"{'wide' if wide else 'narrow'}.{theme.name}": draw(theme, wide)
        for wide in (True, False)
        for theme in (LIGHT, DARK)
    }


def kilobytes(count: int) -> str:
    return f"{count / 1000:.1f} kB"


def document(width: float, height: float, title: str, description: str, style: str, body: list[str]) -> str:
    """A whole picture, with a title and a description for those who cannot see it."""
    named = element("title", html.escape(title), id="title") + element("desc", html.escape(description), id="desc")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-labelledby="title desc" '
        f'font-family="{FACE}">\n{named}\n<style>\n{style}</style>\n' + "\n".join(body) + "\n</svg>\n"
    )


def pictures(
    panels: list[Panel], title: str, description: str, key: str, extra: str = "", source: str = SOURCE
) -> dict[str, str]:
    """The four of a picture in the type scale; `key`: what its colors mean; `extra`: classes of its own, with the theme
    as {0}. A page says the key and the source, the description's last line, below the picture."""

    def draw(theme: Theme, wide: bool) -> str:
        width, height, body = arrange(panels, wide, theme)
        style = base_style(theme) + (SCALE + extra).format(theme) + "\n"
        return document(width, height, title, f"{description}\n{key} {source}", style, body)

    return variants(draw)
