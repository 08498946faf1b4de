# Sets the y range, ymin ... ymax, and writes the names collected with name_line() at x = name_x, each near the end of its
# line (log scale), apart by at least name_gap pixels; in a narrow picture above the panel, in the order of the lines' ends,
# behind their points. Forgets them.
set yrange [ymin : ymax]
if (!exists("name_gap")) { name_gap = 15 }
per_pixel = log10(ymax / ymin) / panel_height
do for [i = 1:names] { name_y[i] = log10(name_y[i] / ymin) / per_pixel }
# In order from below; two at the same place stay in the order they were added.
do for [round = 1:names] {
	do for [i = 1:names-1] {
		if (name_y[i] < name_y[i + 1]) {
			y = name_y[i]; name_y[i] = name_y[i + 1]; name_y[i + 1] = y
			t = name_text[i]; name_text[i] = name_text[i + 1]; name_text[i + 1] = t
			s = name_series[i]; name_series[i] = name_series[i + 1]; name_series[i + 1] = s
		}
	}
}
do for [round = 1:200] {
	do for [i = 1:names-1] {
		lack = name_gap - (name_y[i] - name_y[i + 1])
		if (lack > 0.01) { name_y[i] = name_y[i] + lack / 2; name_y[i + 1] = name_y[i + 1] - lack / 2 }
	}
	if (names > 0 && name_y[1] > panel_height - 4) { name_y[1] = panel_height - 4 }
	if (names > 0 && name_y[names] < 6) { name_y[names] = 6 }
}
# Of gnuplot's points 4 to 13.
glyph(point) = point < 4 ? '' : substr('□■○●△▲▽▼◇◆', point - 3, point - 3).' '
do for [i = 1:names] {
	if (narrow) {
		set label 200 + i glyph(point(name_series[i])).name_text[i] at screen 12. / width, screen (panel_top + 17. * (names - i) + 33) / height left tc rgb text_color(name_series[i]) font little
	} else {
		set label 200 + i name_text[i] at name_x, ymin * 10 ** (name_y[i] * per_pixel) left tc rgb text_color(name_series[i]) font (name_gap < 15 ? little : normal)
	}
}
names = 0
