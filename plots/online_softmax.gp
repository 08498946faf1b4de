# Chapter 02: what the softmax kernels ask of global memory, or how long a GPU takes, against the columns of a row.
# data: the TSV of a sweep of 02_online_softmax/online_softmax
load 'plots/theme.gp'
load tables('')
Cmin = first_of('softmax_online', 'cols'); C = last_of('softmax_online', 'cols'); R = last_of('softmax_online', 'rows')
counted = known(last_of('softmax_online', 'requested'))
three = last_of('softmax_three_pass', 'requested'); two = last_of('softmax_online', 'requested')
eval headline(counted ? sprintf("One pass less: %.0f %% fewer bytes requested, and the same HBM footprint", 100 * (1 - two / three)) \
	: sprintf("The softmax of %d rows, in three passes, two and one", R))
eval provenance(made_by('softmax_online'))
eval description("The three-pass softmax reads each score three times, the online softmax twice; both touch the same bytes.")
set_columns = "set logscale x; set xtics (256, 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '64k' 65536); set xlabel 'columns of a row'; set xrange [Cmin / xroom : C * xroom]"
eval set_columns
if (counted) {
	eval panel(85, 590, 60, height - 75)
	set logscale y
	footprint = last_of('softmax_online', 'footprint')
	ymin = first_of('softmax_online', 'footprint') / 1.5; ymax = three * 1.5
	set yrange [ymin : ymax]
	set ylabel sprintf("bytes of global memory, %d rows", R)
	set format y bytes
	name_x = C * xroom * 1.06
	ignore = name_line('three passes: 4RC', three, vermilion_text)
	ignore = name_line('online: 3RC', two, purple_text)
	ignore = name_line('footprint: 2RC', footprint, blue_text)
	load 'plots/name_lines.gp'
	plot inside(x, Cmin, C, 16 * R * x) with lines lc rgb dim lw 1.4 dt 2, inside(x, Cmin, C, 12 * R * x) with lines lc rgb dim lw 1.4 dt 2, \
	     inside(x, Cmin, C, 8 * R * x) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'softmax_three_pass', 'cols requested') with points lc rgb vermilion lw 2 pt 7 ps 1.1, \
	     rows(data, 'softmax_online', 'cols requested') with points lc rgb purple lw 2 pt 9 ps 1.2, \
	     rows(data, 'softmax_online', 'cols footprint') with points lc rgb blue lw 2 pt 5 ps 1.1
} else {
	eval panel(90, 690, 60, height - 75)
	x_column = 'cols'; series = "softmax_three_pass=three~passes=vermilion=7 softmax_online=online=purple=9 softmax_dot=dot,~with~V=green=5"
	load 'plots/times.gp'
}
load 'plots/say.gp'
