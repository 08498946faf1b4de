# Chapter 05: what FlashAttention-2 asks of global memory beside FlashAttention-1 at the same tiles; or
# how long a GPU takes.
# data: the TSV of a sweep of 05_fa2/fa2
load 'plots/theme.gp'
load tables('')
T = 128
Nmin = first_of('fa2_row', 'seq'); N = last_of('fa2_row', 'seq'); d = last_of('fa2_row', 'dim')
heads = 1 / last_of('fa2_row', 'per_head')
counted = known(last_of('fa2_split_q', 'requested'))
naive_bytes(N) = 4 * heads * (4. * N * N + 4 * N * d)
fa1_bytes(N) = 4 * heads * N * d * (3. * ceil(N * 1. / T) + 1)
faster = last_of('fa2_row', 'median_ms') / last_of('fa2_split_q', 'median_ms')
eval headline(counted ? sprintf("At N = %d the swapped loops request %.0f %% less than FA1 at equal tiles", N, \
	100 * (1 - last_of('fa2_split_q', 'requested') / fa1_bytes(N))) \
	: sprintf("At N = %d register tiles make FlashAttention-2 %.1f times faster", N, faster))
eval provenance((counted ? "FA1 and naive: closed forms, FA1 at 128 x 128. " : "").made_by('fa2_row'))
eval description(counted ? "Bytes of global memory: what the two FlashAttentions request, beside the footprint of naive attention." \
	: "The time of a forward pass: a thread for each query row, and warps that split the query tile.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
if (counted) {
	eval panel(85, 590, 60, height - 75)
	set logscale y
	ymin = first_of('fa2_split_q', 'requested') / 2; ymax = naive_bytes(N) * 2
	set yrange [ymin : ymax]
	set ylabel "bytes of global memory"
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('naive, footprint', naive_bytes(N), dim)
	ignore = name_line('FA1, requested', fa1_bytes(N), orange_text)
	ignore = name_line('FA2, requested', last_of('fa2_split_q', 'requested'), blue_text)
	load 'plots/name_lines.gp'
	plot inside(x, Nmin, N, naive_bytes(x)) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'fa2_split_q', 'seq') using 1:(fa1_bytes($1)) with linespoints lc rgb orange lw 2 pt 12 ps 1.3 dt 2, \
	     rows(data, 'fa2_split_q', 'seq requested') with linespoints lc rgb blue lw 2 pt 5 ps 1.1
} else {
	eval panel(90, 690, 60, height - 75)
	x_column = 'seq'; series = "fa2_row=fa2_row=green=9 fa2_split_q=fa2_split_q=blue=5"
	load 'plots/times.gp'
}
load 'plots/say.gp'
