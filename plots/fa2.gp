# Chapter 05: what each FlashAttention-2 requests at the longest sequence, in a group for each tile of queries, with
# FlashAttention-1 at the same tile; above them naive attention's footprint. Or how long a GPU takes.
# data: the TSV of a sweep of 05_fa2/fa2
height = 340; tall = 400
load 'plots/theme.gp'
load tables('')
x_column = 'seq'
N = last_of('fa2_row', 'seq'); d = last_of('fa2_row', 'dim')
heads = 1 / last_of('fa2_row', 'per_head')
counted = known(last_of('fa2_split_q', 'requested'))
naive_bytes = 4 * heads * (4. * N * N + 4 * N * d)
fa1_bytes(T) = 4 * heads * N * d * (3. * ceil(N * 1. / T) + 1)
Br(kernel) = ceil(N * heads / last_of(kernel, 'blocks')) # a block for each tile of queries
faster = last_of('fa2_row', 'median_ms') / last_of('fa2_split_q', 'median_ms')
eval headline(counted ? sprintf("At equal tiles FlashAttention-2 requests %.0f %% fewer bytes than FlashAttention-1", \
	100 * (1 - last_of('fa2_split_q', 'requested') / fa1_bytes(Br('fa2_split_q')))) \
	: sprintf("Register tiles make FlashAttention-2 %.1f times faster", faster))
eval provenance(sprintf("N = %d, d = %d. %s%s", N, d, counted ? sprintf("Br: rows of a tile of queries, the headline at %d. ", Br('fa2_split_q'))."FA1 and naive: closed forms, of matrices alone, FA1's tile of keys as wide as Br. " : "", made_by('fa2_row')))
eval description(counted ? "Bytes of global memory at one sequence length, in a group for each tile of queries: what FlashAttention-1 and 2 request, beside the footprint of naive attention." \
	: "The time of a forward pass: a thread for each query row, and warps that split the query tile.")
if (counted) {
	eval edges(narrow ? 100 : 130, width - 24, 48, height - header - 8)
	set border 1
	unset ytics
	set format x "%g MB"
	set xlabel "bytes of global memory"
	tiles = ''; most = naive_bytes
	do for [kernel in kernels] {
		if (!words(tiles) || !strstrt(tiles, sprintf("%d ", Br(kernel)))) { tiles = tiles.sprintf("%d ", Br(kernel)) }
		most = at_least(most, fa1_bytes(Br(kernel)))
	}
	set xrange [0 : most * (narrow ? 1.5 : 1.15) / 1e6]
	if (narrow) { set xtics 0, 50 }
	bar = "n = n + 1; row = row + 1; set object n rectangle from 0, row - 0.32 to bytes_of_bar / 1e6, row + 0.32 fc rgb color(series) fs solid noborder; \
		set label 400 + n name at screen (panel_left - 8.) / width, first row right tc rgb text_color(series) font little; \
		set label 450 + n gprintf('%.1s %cB', bytes_of_bar) at bytes_of_bar / 1e6, row left offset 0.7, 0 tc rgb foreground font little"
	n = 0; row = 0
	name = 'naive, footprint'; series = 'naive'; bytes_of_bar = naive_bytes
	if (narrow) { name = 'naive' }
	eval bar
	do for [T in tiles] {
		row = row + 1.2
		set label 500 + n "Br = ".T at screen (panel_left - 8.) / width, first row right tc rgb dim font little
		name = 'FA1'; series = 'fa1_paper'; bytes_of_bar = fa1_bytes(real(T))
		eval bar
		do for [kernel in kernels] {
			if (Br(kernel) == int(T)) { name = kernel; series = kernel; bytes_of_bar = last_of(kernel, 'requested'); eval bar }
		}
	}
	set yrange [row + 0.6 : 0.4]
	plot NaN notitle
}
load 'plots/say.gp'
