# Chapter 06: what three backward passes move through HBM, or how long a GPU takes, against the sequence length.
# data: the TSV of a sweep of 06_backward/backward
load 'plots/theme.gp'
load tables('')
x_column = 'seq'; prefix = 'backward_'
of(name, column) = last_of(prefix.name, column)
Nmin = first_of('backward_naive', 'seq'); N = of('naive', 'seq'); d = of('naive', 'dim')
heads = 1 / of('naive', 'per_head')
counted = known(of('split', 'footprint'))
less = of('naive', 'peak_bytes') / of('split', 'peak_bytes')
eval headline(counted ? sprintf("Recomputing P cuts the footprint of the backward pass by %.0f %%", \
	100 * (1 - of('split', 'footprint') / of('naive', 'footprint'))) \
	: sprintf("Recomputing P holds %.0f times less than the naive backward pass", less))
eval provenance((counted ? sprintf("d = %d, the headline at N = %d. Points: counted; lines: closed forms, in elements of 4 bytes. ", d, N) : "").made_by('backward_naive'))
eval description("Naive keeps P, dP and dS in HBM; split and atomic recompute P tile by tile. Footprint: the distinct bytes that each launch touches.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
if (counted) {
	eval panel(1, 1, 140, 3, 'bytes of HBM footprint')
	set logscale y
	ymin = first_of('backward_atomic', 'footprint') / 2; ymax = of('naive', 'footprint') * 2
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('naive: 8N² + 10Nd', of('naive', 'footprint'), 'backward_naive')
	ignore = name_line('split: 13Nd', of('split', 'footprint'), 'backward_split')
	ignore = name_line('atomic: 10Nd', of('atomic', 'footprint'), 'backward_atomic')
	load 'plots/name_lines.gp'
	plot inside(x, Nmin, N, 4 * heads * (8 * x * x + 10 * x * d)) with lines lc rgb color('backward_naive') lw 1.4 dt 2, \
	     inside(x, Nmin, N, 4 * heads * 13 * x * d) with lines lc rgb color('backward_split') lw 1.4 dt 2, \
	     inside(x, Nmin, N, 4 * heads * 10 * x * d) with lines lc rgb color('backward_atomic') lw 1.4 dt 2, \
	     rows(data, 'backward_naive', 'seq footprint') with points lc rgb color('backward_naive') pt point('backward_naive') ps 1.1, \
	     rows(data, 'backward_split', 'seq footprint') with points lc rgb color('backward_split') pt point('backward_split') ps 1.1, \
	     rows(data, 'backward_atomic', 'seq footprint') with points lc rgb color('backward_atomic') pt point('backward_atomic') ps 1.2
}
load 'plots/say.gp'
