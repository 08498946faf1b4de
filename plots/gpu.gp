# Chapter 00: the bytes that a copy has brought and written back, in sectors of 32, against the columns of the matrix.
# data: the TSV of a sweep of 00_gpu/gpu
load 'plots/theme.gp'
load tables('')
x_column = 'cols'
of(name, column) = last_of(name, column)
Cmin = first_of('copy', 'cols'); C = of('copy', 'cols'); R = of('copy', 'rows')
counted = known(of('copy', 'requested'))
slower = of('copy_strided', 'median_ms') / of('copy', 'median_ms')
eval headline(counted ? sprintf("A copy down the columns asks for the same bytes and brings %.0f times as many", \
	of('copy_strided', 'sectors') / of('copy', 'sectors')) : sprintf("A copy down the columns takes %.1f times as long", slower))
eval provenance(sprintf("The headline at %d columns. ", C).(counted ? "Dashed: what is asked for, 2RC elements of 4 bytes. " : "").made_by('copy'))
eval description("Rows of one column lie side by side, whatever the order; from eight columns on each lane of copy_strided needs a sector of its own.")
set_columns = "set logscale x; set xtics (1, 2, 4, 8, 16, 32, 64); set xlabel 'columns of a row'; set xrange [Cmin / xroom : C * xroom]"
eval set_columns
if (counted) {
	eval panel(1, 1, 150, 2, sprintf('bytes in sectors of 32, %d rows', R))
	set logscale y
	ymin = first_of('copy', 'requested') / 1.5; ymax = of('copy_strided', 'sectors') * 1.5
	set format y bytes
	name_x = C * xroom * 1.06
	ignore = name_line('copy_strided', of('copy_strided', 'sectors'), 'copy_strided')
	ignore = name_line('copy, copy_float4', of('copy', 'sectors'), 'copy')
	load 'plots/name_lines.gp'
	plot inside(x, Cmin, C, 8 * R * x) with lines lc rgb dim lw 1.4 dt 2, \
	     rows(data, 'copy_strided', 'cols sectors') with linespoints lc rgb color('copy_strided') lw 2 pt 7 ps 1.1, \
	     rows(data, 'copy', 'cols sectors') with points lc rgb color('copy') lw 2 pt 5 ps 1.1
}
load 'plots/say.gp'
