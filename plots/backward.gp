# Chapter 06: what three backward passes move through HBM, or how long a GPU takes, against the sequence length.
# data: the TSV of a sweep of 06_backward/backward
load 'plots/theme.gp'
load tables('')
of(name, column) = last_of('backward_'.name, column)
Nmin = first_of('backward_naive', 'seq'); N = of('naive', 'seq'); d = of('naive', 'dim')
heads = 1 / of('naive', 'per_head')
counted = known(of('split', 'footprint'))
less = of('naive', 'peak_bytes') / of('split', 'peak_bytes')
eval headline(counted ? sprintf("At N = %d, d = %d, recomputing P cuts the backward's HBM footprint by %.0f %%", N, d, \
	100 * (1 - of('split', 'footprint') / of('naive', 'footprint'))) \
	: sprintf("At N = %d, d = %d, recomputing P holds %.0f times less than the naive backward", N, d, less))
eval provenance(made_by('backward_naive'))
eval description("Naive keeps P, dP and dS in HBM; split and atomic recompute P tile by tile. Footprint: the distinct bytes that each launch touches.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
if (counted) {
	eval panel(85, 590, 60, height - 75)
	set logscale y
	ymin = first_of('backward_atomic', 'footprint') / 2; ymax = of('naive', 'footprint') * 2
	set yrange [ymin : ymax]
	set ylabel "HBM footprint"
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('naive: 8N² + 10Nd', of('naive', 'footprint'), vermilion_text)
	ignore = name_line('split: 13Nd', of('split', 'footprint'), blue_text)
	ignore = name_line('atomic: 10Nd', of('atomic', 'footprint'), green_text)
	load 'plots/name_lines.gp'
	set label 199 "lines: the closed forms" at graph 0.04, 0.95 left tc rgb dim font little
	plot inside(x, Nmin, N, 4 * heads * (8 * x * x + 10 * x * d)) with lines lc rgb vermilion lw 1.4 dt 2, \
	     inside(x, Nmin, N, 4 * heads * 13 * x * d) with lines lc rgb blue lw 1.4 dt 2, \
	     inside(x, Nmin, N, 4 * heads * 10 * x * d) with lines lc rgb green lw 1.4 dt 2, \
	     rows(data, 'backward_naive', 'seq footprint') with points lc rgb vermilion pt 7 ps 1.1, \
	     rows(data, 'backward_split', 'seq footprint') with points lc rgb blue pt 5 ps 1.1, \
	     rows(data, 'backward_atomic', 'seq footprint') with points lc rgb green pt 9 ps 1.2
} else {
	eval panel(90, 720, 60, height - 75)
	x_column = 'seq'; series = "backward_naive=naive=vermilion=7 backward_split=split=blue=5 backward_atomic=atomic=green=9"
	load 'plots/times.gp'
}
load 'plots/say.gp'
