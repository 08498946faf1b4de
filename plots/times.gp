# A panel of a GPU's times, for the chapters' pictures: median, whiskers p10 to p90, a line a kernel, named at its end.
# Before: the panel's edges; data; x_column ("seq"); series, words "kernel=name=color=point" (~ in a name is a
# blank).
field(text, n) = n == 1 ? before(text, '=') : field(after(text, '='), n - 1)
spaced(text) = strstrt(text, '~') ? before(text, '~').' '.spaced(after(text, '~')) : text
part(i, n) = spaced(field(word(series, i), n))
paint(name) = name eq 'vermilion' ? vermilion : name eq 'orange' ? orange : name eq 'purple' ? purple : name eq 'green' ? green : name eq 'blue' ? blue : dim
paint_text(name) = name eq 'vermilion' ? vermilion_text : name eq 'orange' ? orange_text : name eq 'purple' ? purple_text : name eq 'green' ? green_text : name eq 'blue' ? blue_text : dim
ymin = 1e300; ymax = 0; name_x = 0
do for [i = 1:words(series)] {
	ymin = at_most(ymin, first_of(part(i, 1), 'p10_ms'))
	ymax = at_least(ymax, last_of(part(i, 1), 'p90_ms'))
	name_x = at_least(name_x, last_of(part(i, 1), x_column) * xroom * 1.06)
	ignore = name_line(part(i, 2), last_of(part(i, 1), 'median_ms'), paint_text(part(i, 3)))
}
ymin = ymin / 1.5; ymax = ymax * 1.5
set logscale y
set yrange [ymin : ymax]
set ylabel "ms on the GPU"
# Over less than two decades there may be a single power of ten: 2 and 5 are named too.
eval decades
if (ymax / ymin < 100) {
	do for [power = floor(log10(ymin)) : ceil(log10(ymax))] {
		do for [digit in "2 5"] { eval sprintf("set ytics add ('%g' %g)", digit * 10. ** power, digit * 10. ** power) }
	}
}
load 'plots/name_lines.gp'
set label 199 "median, whiskers p10 to p90" at graph 1, screen (panel_bottom + 10.) / height right tc rgb dim font little
wanted = x_column.' median_ms p10_ms p90_ms'
drawing = "plot "
do for [i = 1:words(series)] {
	drawing = drawing.sprintf("%srows(data, '%s', wanted) with lines lc rgb '%s' lw 2, rows(data, '%s', wanted) using 1:2:3:4 with yerrorbars lc rgb '%s' pt %s ps 1 lw 1.5", \
		i > 1 ? ", " : "", part(i, 1), paint(part(i, 3)), part(i, 1), paint(part(i, 3)), part(i, 4))
}
eval drawing
