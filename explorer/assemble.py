"""Puts a page together: page.html with each `<!-- room: FILE ... -->` replaced by those files' text, and its data."""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = "<!-- data -->"


def small(text: str) -> str:
    """A style or a script without what only its reader needs: comments that begin a line, indents, empty lines."""
    text = re.sub(r"(?ms)^[ \t]*/\*.*?\*/[ \t]*$", "", text)
    return re.sub(r"(?m)^\s+", "", text)


def kernel_colors(runs: list[dict]) -> dict[str, str]:
    """What has each kernel's color in the charts (naive, fa1, fa2), where they are there; others are gray."""
    try:
        text = (HERE.parent / "plots/colors.gp").read_text(encoding="utf-8")
    except OSError:
        return {}
    known = dict(re.findall(r"(\w+)=(\w+)=\d+", text))
    names = [kernel["name"] for run in runs for kernel in run["kernels"]]
    return {name: known[name] for name in names if name in known}


def page(data: dict) -> str:
    """The whole page. Raises OSError."""
    data = {**data, "colors": kernel_colors(data["runs"])}

    def files(room: re.Match[str]) -> str:
        return "".join(small((HERE / name).read_text(encoding="utf-8")) for name in room[1].split())

    frame = re.sub(r"[ \t]*<!-- room: ([^>]+?) -->\n", files, (HERE / "page.html").read_text(encoding="utf-8"))
    # Only strings hold a '<'; no browser then takes it for the end of the script.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return frame.replace(DATA, text.replace("<", "\\u003c"), 1)
