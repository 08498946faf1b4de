"""Arrays of numpy's format, as the chapters' programs read and write them with --load and --save: fp32, in C order."""

from __future__ import annotations

import array
from pathlib import Path


def read_values(path: str | Path) -> array.array[float]:
    """All values, without the header that says their shape. Raises OSError where it cannot be read."""
    content = Path(path).read_bytes()
    return array.array("f", content[10 + int.from_bytes(content[8:10], "little") :])
