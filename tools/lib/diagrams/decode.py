"""Chapter 08: which keys of a paged cache each split reads, and what the splits hand to the merge.

Two traces of decode_paged. With one key per split, a block's loads say in which row of the pages its key is: the table.
With SPLITS splits, the rows that a block loads are then keys.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lib.diagrams.run import Access, RunError, traced
from lib.diagrams.svg import Panel, arrow, kilobytes, line, pictures, rectangle, text

N, SPLITS, PAGE, D = 44, 3, 8, 8  # keys, splits of them, keys of a page, head dimension
PAGES = -(-N // PAGE)
WIDTH = 280.0
SHADES = (
    ".g,.h{{fill:{0.blue};fill-opacity:.15;stroke:{0.blue};shape-rendering:crispEdges}}.h{{fill-opacity:.5}}"
    ".at{{fill:{0.background}}}"
)
KEY = f"N = {N}, d = {D}. Blue: read, the keys in a shade for each block; orange: stored for the merge; green: output."
CLASSES = (("g", "m"), ("h", "m"), ("r", "m at"))  # of each split: its shade, and words upon it
WORDS = {**dict(CLASSES), "f": "m", "w": "m on", "o": "m on"}


def options(splits: int) -> list[str]:
    shape = ["--heads", "1", "--kv-heads", "1", "--seq", str(N), "--dim", str(D), "--page", str(PAGE)]
    return ["--kernel", "decode_paged", *shape, "--splits", str(splits)]


def loads(trace: list[Access], tensor: str, size: int) -> dict[int, list[int]]:
    """What each split loads of a tensor, as indices of its elements of `size` bytes."""
    found: dict[int, list[int]] = {}
    for access in trace:
        if (access.kernel, access.tensor, access.op) == ("decode_paged", tensor, "load"):
            indices = [at // size for first, end in access.ranges for at in range(first, end, size)]
            found.setdefault(access.block[1], []).extend(indices)
    return found


def rows_of_keys(root: Path) -> list[int]:
    """The row of K's pages in which each key is. Raises RunError."""
    rows = loads(traced(root / "08_decode/decode", options(N)), "K pages", 4 * D)
    if any(len(rows.get(key, [])) != 1 for key in range(N)):
        raise RunError("decode_paged: with one key per split, a block does not load one row of K")
    return [rows[key][0] for key in range(N)]


@dataclass(frozen=True)
class Split:
    """What a block loads."""

    keys: list[int]
    words: list[int]  # of the table


def splits(root: Path) -> list[Split]:
    """Raises RunError."""
    key_of = {row: key for key, row in enumerate(rows_of_keys(root))}
    trace = traced(root / "08_decode/decode", options(SPLITS))
    rows, words = loads(trace, "K pages", 4 * D), loads(trace, "table", 4)
    return [Split(sorted(key_of[row] for row in rows[split]), words[split]) for split in range(SPLITS)]


NAMES = {"Q": "Q", "K pages": "K, V", "V pages": "K, V", "O": "output O", "table": "table"}
NAMES |= {f"{name} of splits": "m, l, O" for name in "mlO"}


def moved(root: Path) -> dict[str, Counter[str]]:
    """Bytes that both kernels load and store, under the names of the bars."""
    count: dict[str, Counter[str]] = {}
    for access in traced(root / "08_decode/decode", options(SPLITS)):
        if access.kernel != "append_rows":  # fills the pages, before
            count.setdefault(NAMES[access.tensor], Counter())[access.op] += access.requested
    return count


def box(x: float, y: float, width: float, words: str, class_: str = "f") -> list[str]:
    """Its words are in the middle; x is too."""
    return [rectangle(x - width / 2, y, width, 26, class_=class_, rx=4), text(x, y + 18, words, class_=WORDS[class_])]


def flow(parts: list[Split]) -> Panel:
    """The query goes to each block; what they leave goes through the merge."""
    body = [
        text(0, 18, f"One query, {N} keys, {SPLITS} splits", class_="t"),
        text(0, 42, "a block per split, all at the same time", class_="d"),
    ]
    middle, wide = WIDTH / 2, 88.0
    body += [
        *box(middle, 62, 90, "query Q", "r"),
        *box(middle, 288, 170, "merge"),
        *box(middle, 338, 90, "output O", "o"),
    ]
    for n, part in enumerate(parts):
        color, words = CLASSES[n]
        x = wide / 2 + n * (WIDTH - wide) / (SPLITS - 1)
        body += [line(middle + (n - 1) * 30, 88, x, 130), rectangle(x - wide / 2, 130, wide, 48, class_=color)]
        body.append(text(x, 150, f"block {n}", class_=words))
        body.append(text(x, 169, f"keys {part.keys[0]}–{part.keys[-1]}", class_=words))
        body += [arrow(x, 178, x, 208), *box(x, 210, 70, "m, l, O", "w"), line(x, 236, middle + (n - 1) * 50, 288)]
    body.append(arrow(middle, 314, middle, 336))
    body.append(text(0, 392, "m, l and O of a split are of its keys alone.", class_="d"))
    body.append(text(0, 410, "Split s has the weight exp(m_s − m).", class_="d"))
    return Panel(WIDTH, 420, body)


def piece(at: int, keys: int, y: float, split: int) -> list[str]:
    """Neighbors in a page that a split reads, with its number; keys and pages are PAGE places of the strip apart."""
    color, words = CLASSES[split]
    place = WIDTH / (PAGES * PAGE)
    x, width = at * place + 1.5 * (at % PAGE == 0), keys * place
    width -= 1.5 * (at % PAGE == 0) + 1.5 * ((at + keys) % PAGE == 0)
    return [rectangle(x, y, width, 26, class_=color), text(x + width / 2, y + 18, str(split), class_=words)]


def paged(parts: list[Split], rows: list[int], count: dict[str, Counter[str]]) -> Panel:
    """Keys in their order, and where their pages lie; below, the bytes."""
    words = sum(len(part.words) for part in parts)
    body = [
        text(0, 18, "The keys lie in pages of the cache", class_="t"),
        text(0, 42, f"{PAGES} pages of {PAGE} keys; a table has their places", class_="d"),
        text(0, 74, "The number in a cell: the block that reads it", class_="d"),
        text(0, 98, f"keys 0 to {N - 1}, in their order", class_="d"),
    ]
    top, below, wide = 106.0, 176.0, WIDTH / PAGES
    for page in range(PAGES):
        place = rows[page * PAGE] // PAGE
        filled = min(PAGE, N - page * PAGE) / PAGE / 2  # to the middle of its keys
        body.append(line((page + filled) * wide, top + 27, (place + filled) * wide, below - 1))
        body.append(rectangle(place * wide + 1.5, below, wide - 3, 26, class_="f"))
    for split, part in enumerate(parts):
        for page in part.words:
            keys = [key for key in part.keys if key // PAGE == page]
            for at, y in ((keys[0], top), (rows[keys[0]], below)):
                body += piece(at, len(keys), y, split)
    body.append(text(0, below + 46, "the pages as they lie in memory", class_="d"))
    body.append(text(0, below + 70, "Where two splits share a page, both look it", class_="d"))
    body.append(text(0, below + 89, f"up: {words} words of the table for {PAGES} pages.", class_="d"))
    body.append(text(0, 304, "Asked of global memory", class_="t"))
    notes = {"K, V": "once", "m, l, O": "out and in", "Q": f"{SPLITS} times"}
    sums = Counter({name: sum(of_name.values()) for name, of_name in count.items()})
    for n, (name, of_name) in enumerate(sums.most_common()):
        y, x = 314 + 22.0 * n, 84.0
        body.append(text(76, y + 13, name, class_="e"))
        for op, class_ in (("store", "o" if name == NAMES["O"] else "w"), ("load", "r")):
            if width := 84 * count[name][op] / max(sums.values()):
                body.append(rectangle(x, y + 1, width, 15, class_=class_))
            x += width
        said = kilobytes(of_name) if of_name >= 1000 else f"{of_name} B"
        body.append(text(x + 6, y + 13, f"{said}, {notes[name]}" if name in notes else said, class_="d"))
    return Panel(WIDTH, 420, body)


def draw(root: Path) -> dict[str, str]:
    """The picture's variants. Raises RunError."""
    parts, rows, count = splits(root), rows_of_keys(root), moved(root)
    title = (
        f"{SPLITS} blocks share the keys of one query: each leaves m, l and O of its part, and a merge makes the output"
    )
    description = (
        f"Left, one query goes to {SPLITS} blocks; each reads its part of the keys and leaves m, l and O, and a merge "
        f"makes one output of them. Right, the same keys in {PAGES} pages: in their order, and where the pages lie in "
        f"memory; below, the bytes that both kernels ask of global memory, d = {D}."
    )
    return pictures([flow(parts), paged(parts, rows, count)], title, description, KEY, SHADES)
