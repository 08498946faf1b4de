# Bytes requested of global memory against the block size, counted: FA1's tile of keys, FA2's tile of queries. One head, no mask.
# data: a directory with blocks.tsv
load 'plots/theme.gp'
blocks = 'blocks'
where = 'dim=64 causal=0'
load tables(blocks)
d = last_of('fa1_paper', 'dim')
N = last_of('fa1_paper', 'seq')
low = first_of('fa1_paper', 'tile_k'); high = last_of('fa1_paper', 'tile_k')
bytes_at(kernel, key, tile) = number_at(kernel, 'per_head', key, tile) * number_at(kernel, 'requested', key, tile)
eval headline(sprintf("%.0f times wider tiles, %.1f times fewer bytes: requests fall like 1/M, until Q, K, V and O remain", high / low, \
	bytes_at('fa1_paper', 'tile_k', low) / bytes_at('fa1_paper', 'tile_k', high)))
eval provenance(sprintf("Requested by one head, N = %d, d = %d, no mask. Points: counted; lines: closed forms. %s", N, d, made_by('fa1_paper')))
eval description("FA1 is Algorithm 1, against its tile of keys; FA2 against its tile of queries. The dotted guide is the paper's theorem, N²d²/M elements, with M = 4 d Bc floats of fast memory.")
ymin = 16. * N * d / 1.8
ymax = bytes_at('fa1_paper', 'tile_k', low) * 1.6
eval panel(85, 560, 60, height - 75)
set logscale xy
set xrange [low / 1.15 : high * 1.15]
set yrange [ymin : ymax]
set xtics (8, 16, 32, 64, 128, 256, 512)
set xlabel "rows of a tile: keys (FA1, Bc), queries (FA2, Br)"
set ylabel "bytes requested of global memory, a head"
set format y bytes
theorem(x) = 4 * (1. * N) ** 2 * d / (4 * x)
fa1(x) = 4. * N * d * (3 * N / x + 1)
fa2(x) = 4. * N * d * (2 * N / x + 2)
name_x = high * 1.22
ignore = name_line('FA1: (3N/Bc + 1)Nd', fa1(high), orange_text)
ignore = name_line('FA2: (2N/Br + 2)Nd', fa2(high), blue_text)
ignore = name_line('least possible: 4Nd', 16. * N * d, dim)
load 'plots/name_lines.gp'
set label 301 "paper: Θ(N²d²/M)" at low * 2.1, theorem(low * 1.7) * 1.3 left tc rgb dim
set label 302 "N²d²/M, with M = 4dBc floats on chip" at low * 2.1, theorem(low * 1.7) * 1.02 left tc rgb dim font little
plot sample [low:high] 16 * N * d with lines lc rgb dim lw 1.2 dt 3, \
     [low:N / 16.] theorem(x) with lines lc rgb dim lw 1.6 dt 3, \
     [low:high] fa1(x) with lines lc rgb orange lw 1.4 dt 2, \
     [low:high] fa2(x) with lines lc rgb blue lw 1.4 dt 2, \
     rows(blocks, 'fa1_paper', 'tile_k per_head*requested') with points lc rgb orange pt 13 ps 1.4, \
     rows(blocks, 'fa2_row', 'tile_q per_head*requested') with points lc rgb blue pt 5 ps 1.2
load 'plots/say.gp'
