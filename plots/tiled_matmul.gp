# Chapter 03: what the five products ask for, and what leaves the SM, against the size of square matrices.
# data: the TSV of a sweep of 03_tiled_matmul/tiled_matmul
tall = 800
load 'plots/theme.gp'
load tables('')
x_column = 'n'; prefix = 'matmul_'
kernel(name) = prefix.name
of(name, column) = last_of(kernel(name), column)
nmin = first_of('matmul_naive', 'n'); n = of('naive', 'n')
counted = known(of('naive', 'requested'))
faster(gain) = gain >= 1 ? sprintf("%.1f times faster", gain) : sprintf("%.1f times slower", 1 / gain)
eval headline(counted ? sprintf("Register tiles cut the requested bytes %.0f-fold", \
	of('naive', 'requested') / of('registers', 'requested')) \
	: sprintf("The kernel with register tiles is %s than the first", faster(of('naive', 'median_ms') / of('registers', 'median_ms'))))
eval provenance(sprintf("The headline at n = %d. ", n).(counted ? "Points: counted; dashed lines: closed forms. " : "").made_by('matmul_naive'))
eval description("Requested bytes fall with the tile's width; sectors, bytes that leave the SM if nothing is cached, fall with coalescing too.")
set_sizes = "set logscale xy; set xtics (64, 128, 256, 384, 512, '1k' 1024, '2k' 2048, '4k' 4096); set xlabel 'm = n = k'; set xrange [nmin / xroom : n * xroom]"
eval set_sizes
if (counted) {
	set multiplot
	ymin = 0.6 * first_of('matmul_registers', 'requested'); ymax = 2 * of('naive', 'sectors')
	eval panel(1, 2, 130, 3, 'bytes requested of global memory')
	set format y bytes
	name_x = n * xroom * 1.06
	ignore = name_line('naive, coalesced', of('naive', 'requested'), kernel('naive'))
	ignore = name_line('tiled, padded', of('tiled', 'requested'), kernel('tiled'))
	ignore = name_line('registers', of('registers', 'requested'), kernel('registers'))
	load 'plots/name_lines.gp'
	# Of the sizes that were run: between them a closed form climbs in steps, one a tile.
	plot rows(data, kernel('naive'), 'n model_requested') with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, kernel('tiled'), 'n model_requested') with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, kernel('registers'), 'n model_requested') with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, kernel('naive'), 'n requested') with points lc rgb color(kernel('naive')) lw 2 pt 7 ps 1.1, \
	     rows(data, kernel('tiled'), 'n requested') with points lc rgb color(kernel('tiled')) lw 2 pt 5 ps 1.1, \
	     rows(data, kernel('registers'), 'n requested') with points lc rgb color(kernel('registers')) lw 2 pt 9 ps 1.3
	eval fresh
	eval set_sizes
	eval panel(2, 2, 115, 4, 'bytes in sectors of 32')
	set format y bytes
	ignore = name_line('naive', of('naive', 'sectors'), kernel('naive'))
	ignore = name_line('coalesced', of('coalesced', 'sectors'), kernel('coalesced'))
	ignore = name_line('tiled, padded', of('tiled', 'sectors'), kernel('tiled'))
	ignore = name_line('registers', of('registers', 'sectors'), kernel('registers'))
	load 'plots/name_lines.gp'
	plot rows(data, kernel('naive'), 'n sectors') with linespoints lc rgb color(kernel('naive')) lw 2 pt 7 ps 1, \
	     rows(data, kernel('coalesced'), 'n sectors') with linespoints lc rgb color(kernel('coalesced')) lw 2 pt 13 ps 1.2, \
	     rows(data, kernel('tiled'), 'n sectors') with linespoints lc rgb color(kernel('tiled')) lw 2 pt 5 ps 1, \
	     rows(data, kernel('registers'), 'n sectors') with linespoints lc rgb color(kernel('registers')) lw 2 pt 9 ps 1.2
	unset multiplot
}
load 'plots/say.gp'
