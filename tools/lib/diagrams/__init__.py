"""What tools/diagrams draws: SVG from the trace of a run, never by hand.

run.py     a program is run on the simulated device, and what its blocks read and wrote comes back in order
svg.py     the two themes, and elements as text
hero.py    the README's moving picture: naive attention beside FlashAttention-2
    gpu.py          chapter 00: a launch, where its blocks run, and what one request of a warp brings
    naive.py        chapter 01: what the three kernels take from HBM and put back
    row.py          chapter 02: m and l along a row
    tiles.py        chapter 03: what a block loads for its part of C
    loops.py        chapters 04 to 06: in which order the tiles of S are visited, and what moves
    transformer.py  chapter 07: the steps of a layer with their bytes, and which heads share keys
    decode.py       chapter 08: the splits of a paged cache, and their merge
"""
