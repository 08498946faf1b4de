"""The chapters, in their order, and the program of each."""

from __future__ import annotations

PROGRAMS = {
    "00_gpu": "gpu",
    "01_naive": "naive",
    "02_online_softmax": "online_softmax",
    "03_tiled_matmul": "tiled_matmul",
    "04_fa1": "fa1",
    "05_fa2": "fa2",
    "06_backward": "backward",
    "07_transformer": "transformer",
    "08_decode": "decode",
}
