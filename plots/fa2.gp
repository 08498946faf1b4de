# Chapter 05: what each FlashAttention-2 requests at the longest sequence, beside naive attention's footprint and
# FlashAttention-1 at the same tiles, on a linear scale; or how long a GPU takes.
# data: the TSV of a sweep of 05_fa2/fa2
height = 360; tall = 380
load 'plots/theme.gp'
load tables('')
T = 128
N = last_of('fa2_row', 'seq'); d = last_of('fa2_row', 'dim')
heads = 1 / last_of('fa2_row', 'per_head')
counted = known(last_of('fa2_split_q', 'requested'))
naive_bytes = 4 * heads * (4. * N * N + 4 * N * d)
fa1_bytes = 4 * heads * N * d * (3. * ceil(N * 1. / T) + 1)
faster = last_of('fa2_row', 'median_ms') / last_of('fa2_split_q', 'median_ms')
eval headline(counted ? sprintf("At N = %d the swapped loops request %.0f %% less than FA1 at equal tiles", N, \
	100 * (1 - last_of('fa2_split_q', 'requested') / fa1_bytes)) \
	: sprintf("At N = %d register tiles make FlashAttention-2 %.1f times faster", N, faster))
eval provenance((counted ? sprintf("d = %d. FA1 and naive: closed forms, FA1 at 128 x 128. Br: rows of a tile of queries. ", d) : "").made_by('fa2_row'))
eval description(counted ? "Bytes of global memory at one sequence length: what the two FlashAttentions request, beside the footprint of naive attention." \
	: "The time of a forward pass: a thread for each query row, and warps that split the query tile.")
if (counted) {
	K = words(kernels); MB = 1e6
	eval edges(narrow ? 110 : 165, width - (narrow ? 20 : 60), 60, height - header - 8)
	set border 1
	set yrange [K + 2.6 : 0.4]
	unset ytics
	set xrange [0 : naive_bytes * (narrow ? 1.9 : 1.28) / MB]
	Br(kernel) = ceil(N * heads / last_of(kernel, 'blocks')) # a block for each tile of queries
	set format x "%g MB"
	set xlabel "bytes of global memory"
	if (narrow) { set xtics 0, 10 ** ceil(log10(naive_bytes / MB)) / 2 }
	set label 401 "naive, footprint" at screen (panel_left - 8.) / width, first 1 right tc rgb text_colour('naive') font little
	set label 402 "FA1, requested" at screen (panel_left - 8.) / width, first 2 right tc rgb text_colour('fa1_paper') font little
	set object 1 rectangle from 0, 0.7 to naive_bytes / MB, 1.3 fc rgb color('naive') fs solid noborder
	set object 2 rectangle from 0, 1.7 to fa1_bytes / MB, 2.3 fc rgb color('fa1_paper') fs solid noborder
	set label 451 gprintf('%.1s %cB', naive_bytes) at naive_bytes / MB, 1 left offset 0.7, 0 tc rgb foreground font little
	set label 452 gprintf('%.1s %cB', fa1_bytes) at fa1_bytes / MB, 2 left offset 0.7, 0 tc rgb foreground font little
	do for [i = 1:K] {
		kernel = word(kernels, i); count = last_of(kernel, 'requested')
		set label 402 + i kernel at screen (panel_left - 8.) / width, first i + 2 right tc rgb text_colour(kernel) font little
		set object 2 + i rectangle from 0, i + 1.7 to count / MB, i + 2.3 fc rgb color(kernel) fs solid noborder
		set label 452 + i gprintf('%.1s %cB', count).sprintf(", Br = %d", Br(kernel)) at count / MB, i + 2 left offset 0.7, 0 tc rgb foreground font little
	}
	plot NaN notitle
} else {
	eval set_lengths
	x_column = 'seq'
	load 'plots/times.gp'
}
load 'plots/say.gp'
