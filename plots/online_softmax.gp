# Chapter 02: what the softmax kernels ask of global memory, or how long a GPU takes, against the columns of a row.
# data: the TSV of a sweep of 02_online_softmax/online_softmax
load 'plots/theme.gp'
load tables('')
Cmin = first_of('softmax_online', 'cols'); C = last_of('softmax_online', 'cols'); R = last_of('softmax_online', 'rows')
counted = known(last_of('softmax_online', 'requested'))
three = last_of('softmax_three_pass', 'requested'); two = last_of('softmax_online', 'requested')
eval headline(counted ? sprintf("One pass less: %.0f %% fewer bytes requested, and the same HBM footprint", 100 * (1 - two / three)) \
	: sprintf("The softmax of %d rows, in three passes, two and one", R))
eval provenance((counted ? "Points: counted; lines: closed forms, in elements of 4 bytes, of R rows and C columns. " : "").made_by('softmax_online'))
eval description("The three-pass softmax reads each score three times, the online softmax twice; both touch the same bytes.")
eval "set logscale x; set xtics (256, 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '64k' 65536); set xlabel 'columns of a row'; set xrange [Cmin / xroom : C * xroom]"
if (counted) {
	eval panel(1, 1, 180, 3)
	set logscale y
	footprint = last_of('softmax_online', 'footprint')
	ymin = first_of('softmax_online', 'footprint') / 1.5; ymax = three * 1.5
	set yrange [ymin : ymax]
	set ylabel sprintf("bytes of global memory, %d rows", R)
	set format y bytes
	name_x = C * xroom * 1.06
	ignore = name_line('three passes: 4RC', three, text_colour('softmax_three_pass'))
	ignore = name_line('online: 3RC', two, text_colour('softmax_online'))
	ignore = name_line('footprint of both: 2RC', footprint, dim)
	load 'plots/name_lines.gp'
	plot inside(x, Cmin, C, 16 * R * x) with lines lc rgb color('softmax_three_pass') lw 1.4 dt 2, \
	     inside(x, Cmin, C, 12 * R * x) with lines lc rgb color('softmax_online') lw 1.4 dt 2, \
	     inside(x, Cmin, C, 8 * R * x) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'softmax_three_pass', 'cols requested') with points lc rgb color('softmax_three_pass') lw 2 pt 7 ps 1.1, \
	     rows(data, 'softmax_online', 'cols requested') with points lc rgb color('softmax_online') lw 2 pt 9 ps 1.2, \
	     rows(data, 'softmax_online', 'cols footprint') with points lc rgb dim lw 2 pt 5 ps 1.1
} else {
	x_column = 'cols'; prefix = 'softmax_'
	load 'plots/times.gp'
}
load 'plots/say.gp'
