#!/usr/bin/env python3
"""How smoothly a page plays, by Chromium's own trace: frames and layouts a second.

    tests/explorer/frames.py PAGE [SLOWER]    the race of a page of `make explorer`, for five seconds; SLOWER: how many
                                              times the processor is slowed down, default 6

Reads: PAGE. Prints a line of JSON. Called: by hand, test_page.py. Exit status: 0; 1 nothing played; 2 usage.
"""

from __future__ import annotations

import collections
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from browser import Page

# Of the renderer's main thread, and of the frames that reach the screen.
CATEGORIES = "cc,devtools.timeline,disabled-by-default-devtools.timeline,disabled-by-default-devtools.timeline.frame"


def measure(page: Page, seconds: float) -> dict[str, float]:
    """Traces a page that plays. A second: frames that reached the screen, those that the page's script played, layouts,
    recalculations of styles, milliseconds of layout. And how many milliseconds of the main thread's processor a frame
    takes, which another program beside it does not change."""
    page.call("Tracing.start", categories=CATEGORIES, transferMode="ReportEvents")
    start = time.monotonic()
    time.sleep(seconds)
    page.call("Tracing.end")
    took = time.monotonic() - start
    parts = page.take("Tracing.dataCollected", "Tracing.tracingComplete")
    events = [event for part in parts for event in part["value"]]
    own = {event["pid"] for event in events if event["name"] == "FireAnimationFrame"}  # the page's process
    mine = [event for event in events if event["pid"] in own and event["ph"] in "XBI"]
    count = collections.Counter(event["name"] for event in mine)
    layout = sum(event.get("dur", 0) for event in mine if event["name"] == "Layout") / 1000
    names = {"frames": "DrawFrame", "played": "FireAnimationFrame", "layouts": "Layout", "styles": "UpdateLayoutTree"}
    found = {name: count[event] for name, event in names.items()} | {"milliseconds": layout}
    busy = sum(event.get("tdur", 0) for event in mine if event["name"] == "ProxyMain::BeginMainFrame") / 1000
    each = {"busy": round(busy / max(count["FireAnimationFrame"], 1), 2)}
    return {name: round(value / took, 1) for name, value in found.items()} | each


def main() -> int:
    if not 2 <= len(sys.argv) <= 3:
        print("usage: frames.py PAGE [SLOWER]", file=sys.stderr)
        return 2
    slower = float(sys.argv[2]) if len(sys.argv) > 2 else 6
    with Page(Path(sys.argv[1]), "#s=1") as page:
        page.call("Emulation.setCPUThrottlingRate", rate=slower)
        page.key("Space")
        time.sleep(1)
        found = measure(page, 5)
    print(json.dumps({"slower": slower, **found}))
    return 0 if found["played"] else 1


if __name__ == "__main__":
    sys.exit(main())
