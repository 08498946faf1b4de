# Bytes requested of global memory against the block size, counted: FA1's tile of keys, FA2's tile of queries. One head, no mask.
# data: a directory with blocks.tsv
tall = 440
load 'plots/theme.gp'
blocks = 'blocks'
where = 'dim=64 causal=0'
load tables(blocks)
d = last_of('fa1_paper', 'dim')
N = last_of('fa1_paper', 'seq')
low = first_of('fa1_paper', 'tile_k'); high = last_of('fa1_paper', 'tile_k')
bytes_at(kernel, key, tile) = number_at(kernel, 'per_head', key, tile) * number_at(kernel, 'requested', key, tile)
eval headline(sprintf("Wider tiles cut the bytes that FlashAttention-1 requests %.1f-fold", \
	bytes_at('fa1_paper', 'tile_k', low) / bytes_at('fa1_paper', 'tile_k', high)))
eval provenance(sprintf("Requested by one head, N = %d, d = %d, no mask; the headline from Bc = %d to %d. Points: counted; lines: closed forms, in elements of 4 bytes. %s", N, d, low, high, made_by('fa1_paper')))
eval description("FA1 is Algorithm 1, against its tile of keys; FA2 against its tile of queries. Slope -1 is the paper's theorem: N²d²/M elements, M floats of fast memory, in proportion to the tile.")
ymin = 16. * N * d / 1.8
ymax = bytes_at('fa1_paper', 'tile_k', low) * 1.6
eval panel(1, 1, 185, 3, 'bytes requested of global memory')
set logscale xy
set xrange [low / 1.15 : high * 1.15]
set xtics (8, 16, 32, 64, 128, 256, 512)
set xlabel narrow ? "rows of a tile, Bc or Br" : "rows of a tile: keys (FA1, Bc), queries (FA2, Br)"
set format y bytes
fa1(x) = 4. * N * d * (3 * N / x + 1)
fa2(x) = 4. * N * d * (2 * N / x + 2)
name_x = high * 1.22
ignore = name_line('FA1: (3N/Bc + 1)Nd', fa1(high), 'fa1_paper')
ignore = name_line('FA2: (2N/Br + 2)Nd', fa2(high), 'fa2_row')
ignore = name_line('least possible: 4Nd', 16. * N * d, 'least')
load 'plots/name_lines.gp'
# The slope, below both lines.
corner = fa2(2.2 * low) / 3.2
set object 1 polygon from 1.1 * low, 2 * corner to 2.2 * low, corner to 1.1 * low, corner to 1.1 * low, 2 * corner fs empty border lc rgb foreground lw 1.4
set label 301 "½ the bytes" at 1.66 * low, corner * 1.6 left tc rgb foreground font little
set label 302 "2 × the tile" at 1.1 * low, corner / 1.14 left tc rgb foreground font little
plot sample [low:high] 16 * N * d with lines lc rgb dim lw 1.2 dt 3, \
     [low:high] fa1(x) with lines lc rgb color('fa1_paper') lw 1.4 dt 2, \
     [low:high] fa2(x) with lines lc rgb color('fa2_row') lw 1.4 dt 2, \
     rows(blocks, 'fa1_paper', 'tile_k per_head*requested') with points lc rgb color('fa1_paper') pt 13 ps 1.4, \
     rows(blocks, 'fa2_row', 'tile_q per_head*requested') with points lc rgb color('fa2_row') pt point('fa2_row') ps 1.2
load 'plots/say.gp'
