# Chapter 04: what FlashAttention-1 asks of global memory and what it keeps there, against the sequence length.
# data: the TSV of a sweep of 04_fa1/fa1
load 'plots/theme.gp'
load tables('')
Nmin = first_of('fa1_paper', 'seq'); N = last_of('fa1_paper', 'seq'); d = last_of('fa1_paper', 'dim')
heads = 1 / last_of('fa1_paper', 'per_head')
counted = known(last_of('fa1_paper', 'requested'))
naive_bytes(N) = 4 * heads * (4. * N * N + 4 * N * d)
naive_peak(N) = 4 * heads * (2. * N * N + 4 * N * d)
less = naive_peak(N) / last_of('fa1_paper', 'peak_bytes')
eval headline(counted ? sprintf("At N = %d fa1_row holds %.0f times less than naive and requests %.0f %% of its bytes", N, \
	less, 100 * last_of('fa1_row', 'requested') / naive_bytes(N)) \
	: sprintf("At N = %d FlashAttention-1 holds %.0f times less than naive attention", N, less))
eval provenance(sprintf("Naive: closed forms of its footprint and its memory. %s", made_by('fa1_paper')))
eval description("Left, bytes of global memory: what FlashAttention-1 requests beside the footprint of naive attention. Right, device memory held at once.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
set multiplot
eval panel(85, 300, 60, height - 75)
if (counted) {
	set logscale y
	ymin = first_of('fa1_row', 'requested') / 2
	ymax = at_least(naive_bytes(N), last_of('fa1_paper', 'requested')) * 2
	set yrange [ymin : ymax]
	set ylabel "bytes of global memory"
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('naive', naive_bytes(N), dim)
	ignore = name_line('footprint', naive_bytes(N) / 1.01, dim)
	ignore = name_line('fa1_paper', last_of('fa1_paper', 'requested') / 1.02, orange_text)
	ignore = name_line('requested', last_of('fa1_paper', 'requested') / 1.03, dim)
	ignore = name_line('fa1_row', last_of('fa1_row', 'requested'), purple_text)
	ignore = name_line('requested', last_of('fa1_row', 'requested') / 1.01, dim)
	load 'plots/name_lines.gp'
	plot inside(x, Nmin, N, naive_bytes(x)) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'fa1_paper', 'seq requested') with linespoints lc rgb orange lw 2 pt 13 ps 1.2, \
	     rows(data, 'fa1_row', 'seq requested') with linespoints lc rgb purple lw 2 pt 11 ps 1.1
} else {
	x_column = 'seq'; series = "fa1_paper=fa1_paper=orange=13 fa1_row=fa1_row=purple=11 fa1_row_dynamic=fa1_row_dyn.=dim=6"
	load 'plots/times.gp'
}
eval fresh
eval set_lengths
set logscale y
set xrange [Nmin / xroom : N * xroom]
eval panel(495, 665, 60, height - 75)
set ylabel "device memory held at once"
set format y bytes
ymin = first_of('fa1_paper', 'peak_bytes') / 2; ymax = naive_peak(N) * 2
set yrange [ymin : ymax]
name_x = N * xroom * 1.06
ignore = name_line('naive, 2N² + 4Nd', naive_peak(N), dim)
ignore = name_line('fa1, 4Nd', last_of('fa1_paper', 'peak_bytes'), orange_text)
load 'plots/name_lines.gp'
plot inside(x, Nmin, N, naive_peak(x)) with lines lc rgb dim lw 1.4 dt 2, \
     rows(data, 'fa1_paper', 'seq peak_bytes') with linespoints lc rgb orange lw 2 pt 13 ps 1.2
unset multiplot
load 'plots/say.gp'
