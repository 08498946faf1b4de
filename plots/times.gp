# The picture of a GPU's times, for the chapters: median, whiskers p10 to p90, a line for each kernel of the data, named at
# its end. Before: headline and provenance; x_column ("seq"); prefix, which the names leave out.
if (!exists("prefix")) { prefix = '' }
if (x_column eq 'seq') { eval set_lengths }
shorter(kernel) = prefix ne '' && strstrt(kernel, prefix) == 1 ? kernel[strlen(prefix) + 1:] : kernel
timed = ''
do for [kernel in kernels] { if (known(last_of(kernel, 'median_ms'))) { timed = timed.' '.kernel } }
eval panel(1, 1, 190, words(timed), 'ms on the GPU, p10 to p90')
ymin = 1e300; ymax = 0; name_x = 0; xmin = 1e300; xmax = 0
do for [kernel in timed] {
	ymin = at_most(ymin, first_of(kernel, 'p10_ms'))
	xmin = at_most(xmin, first_of(kernel, x_column)); xmax = at_least(xmax, last_of(kernel, x_column))
	ymax = at_least(ymax, last_of(kernel, 'p90_ms'))
	name_x = at_least(name_x, last_of(kernel, x_column) * xroom * 1.06)
	ignore = name_line(shorter(kernel), last_of(kernel, 'median_ms'), kernel)
}
ymin = ymin / 1.5; ymax = ymax * 1.5
set logscale y
# Over less than two decades there may be a single power of ten: 2 and 5 are named too.
eval decades
if (ymax / ymin < 100) {
	do for [power = floor(log10(ymin)) : ceil(log10(ymax))] {
		do for [digit in "2 5"] { eval sprintf("set ytics add ('%g' %g)", digit * 10. ** power, digit * 10. ** power) }
	}
}
load 'plots/name_lines.gp'
set xrange [xmin / xroom : xmax * xroom]
wanted = x_column.' median_ms p10_ms p90_ms'
drawing = "plot "
do for [i = 1:words(timed)] {
	kernel = word(timed, i)
	drawing = drawing.sprintf("%srows(data, '%s', wanted) with lines lc rgb '%s' lw 2, rows(data, '%s', wanted) using 1:2:3:4 with yerrorbars lc rgb '%s' pt %d ps 1 lw 1.5", \
		i > 1 ? ", " : "", kernel, color(kernel), kernel, color(kernel), point(kernel))
}
eval drawing
