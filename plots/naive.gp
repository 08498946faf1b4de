# Chapter 01: what naive attention asks of global memory and its footprint in HBM, or how long a GPU takes, against
# the sequence length.
# data: the TSV of a sweep of 01_naive/naive
load 'plots/theme.gp'
load tables('')
Nmin = first_of('naive', 'seq'); N = last_of('naive', 'seq'); d = last_of('naive', 'dim')
heads = 1 / last_of('naive', 'per_head')
counted = known(last_of('naive', 'footprint'))
# Everything but 4 N d elements a head is S and P. A GPU counts nothing; then it is said from the closed form.
eval headline(sprintf("At N = %d, %.0f %% of naive attention's HBM footprint is its N × N matrices", N, \
	100 * (1 - 4. * N * d * heads / last_of('naive', 'model_elements'))))
eval provenance(made_by('naive'))
eval description("Requested is what all threads ask for, footprint the distinct bytes that each launch touches.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
if (counted) {
	eval panel(85, 590, 60, height - 75)
	set logscale y
	ymin = first_of('naive', 'footprint') / 2; ymax = last_of('naive', 'requested') * 2
	set yrange [ymin : ymax]
	set ylabel "bytes of global memory"
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('requested', last_of('naive', 'requested'), vermilion_text)
	ignore = name_line('footprint', last_of('naive', 'footprint'), blue_text)
	ignore = name_line('4N² + 4Nd', last_of('naive', 'footprint') / 1.01, dim)
	load 'plots/name_lines.gp'
	plot rows(data, "naive", "seq requested") with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
	     inside(x, Nmin, N, 4 * heads * (4 * x * x + 4 * x * d)) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'naive', 'seq footprint') with points lc rgb blue lw 2 pt 5 ps 1.1
} else {
	eval panel(90, 720, 60, height - 75)
	x_column = 'seq'; series = "naive=naive=vermilion=7"
	load 'plots/times.gp'
}
load 'plots/say.gp'
