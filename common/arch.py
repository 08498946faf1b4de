#!/usr/bin/env python3
"""The architecture to build for: arch.py NVCC prints sm_90, say.

The GPU's own; of one that is newer than this nvcc, the newest that nvcc knows below it: the program carries PTX, which
the driver compiles for that GPU. Without a GPU sm_90, or the newest below it that nvcc knows. A GPU older than all that
nvcc knows keeps its own: nvcc's message says what is wrong better than we can. Called: common/chapter.mk.
"""

from __future__ import annotations

import re
import subprocess
import sys


def output_of(*command: str) -> str:
    """Nothing from a command that is not there."""
    try:
        return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except OSError:
        return ""


if __name__ == "__main__":
    gpus = output_of("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader")
    capability = re.sub(r"[^0-9]", "", gpus.partition("\n")[0])
    wanted = int(capability or 90)
    known = re.findall(r"^ *sm_(\d+) *$", output_of(sys.argv[1], "--list-gpu-code"), re.MULTILINE)
    print(f"sm_{max((int(code) for code in known if int(code) <= wanted), default=wanted)}")
