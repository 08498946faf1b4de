# The look of every picture, and the few functions the scripts share: load this first.
#   gnuplot -e "theme='light'; out='x.svg'; data='x.tsv'" plots/naive.gp
# theme light|dark; fmt svg|png; shape wide|narrow, the second for phones. Before: `height`, and `tall`, that of the narrow one.
# Sizes are pixels, of the SVG and of the page: it shows a chart at its own width, 800 or 300. Words have 12 to 14.
set encoding utf8
set minussign
load 'plots/data.gp'
if (!exists("theme")) theme = 'light'
if (!exists("fmt")) fmt = 'svg'
if (!exists("shape")) shape = 'wide'
narrow = shape eq 'narrow'
if (!exists("height")) height = 420
if (!exists("tall")) tall = 420
if (narrow) { height = tall }
width = narrow ? 300 : 800
# Okabe and Ito's colors, told apart by color-blind readers too; each series has its own point as well. Orange is darker
# than theirs on white, for contrast.
orange = '#C98500'; green = '#009E73'; blue = '#0072B2'; vermilion = '#D55E00'; purple = '#CC79A7'
# Words in these colors need more contrast than lines do.
orange_text = orange; purple_text = purple; green_text = green; vermilion_text = vermilion
if (theme eq 'dark') {
	background = '#0d1117'; foreground = '#e6edf3'; dim = '#9198a1'; faint = '#30363d'; blue = '#56B4E9'; orange = '#E69F00'; orange_text = orange
	green_text = '#1FB88B'; vermilion_text = '#F0782A'
} else {
	background = '#ffffff'; foreground = '#1f2328'; dim = '#59636e'; faint = '#d1d9e0'
	orange_text = '#8F6200'; purple_text = '#A0527D'; green_text = '#007A59'; vermilion_text = '#C05400'
}
face = 'DejaVu Sans'
# The type scale. tools/draw makes the face "DejaVu Sans:Bold" one that SVG knows.
title_font = face.':Bold,14'; normal = face.',13'; little = face.',12'
if (fmt eq 'png') {
	# Half as large again; its sizes are points of 4/3 pixels.
	set terminal pngcairo size 1.5 * width, 1.5 * height background rgb background font normal \
		fontscale 1.5 * 0.75 pointscale 1.9 linewidth 1.7 noenhanced
} else {
	set terminal svg size width, height background rgb background font normal linewidth 1.2 noenhanced
}
if (exists("out")) set output out
set border 3 lc rgb dim lw 1
set tics nomirror textcolor rgb dim font little scale 0.6
# Our y axes with numbers are logarithmic. Where such an axis has fewer than three powers of ten, gnuplot 6 numbers it in
# equal steps, and the upper numbers cover each other: there the marks are set here, as earlier ones set them.
decades = GPVAL_VERSION < 6 ? "set ytics auto" : "set ytics (1e-12); set for [power = -11:15] ytics add (10. ** power); \
	set for [power = -12:15] for [digit = 2:9] ytics add ('' digit * 10. ** power 1)"
eval decades
set grid xtics ytics lc rgb faint lw 0.6 lt 1
set key off
set xlabel textcolor rgb foreground font little offset 0,0.5

# A panel's edges, in pixels from the left and from the bottom.
edges(left, right, bottom, top) = sprintf("set lmargin at screen %.5f; set rmargin at screen %.5f; set bmargin at screen %.5f; set tmargin at screen %.5f; panel_height = %g; panel_bottom = %g; panel_top = %g; panel_left = %g; panel_right = %g", \
	left * 1. / width, right * 1. / width, bottom * 1. / height, top * 1. / height, (top - bottom) * 1., bottom * 1., top * 1., left * 1., right * 1.)
# The i-th of n panels, beside each other or, narrow, one below the other: `room` pixels to its right, or as many `lines`
# above it, are for the names of its lines. Above the y axis is its name.
left_edge = narrow ? 56 : 70
panel(i, n, room, lines, axis) = (narrow \
	? edges(left_edge, width - 12, height - header - i * (height - header) / n + 48, height - header - (i - 1) * (height - header) / n - 17 * lines - 26) \
	: edges((i - 1) * width / n + left_edge, i * width / n - room, 48, height - header - 26)).sprintf("; eval axis_name('%s')", axis)
axis_name(words) = sprintf("set label 99 \"%s\" at screen (panel_left - left_edge + 12.) / width, screen (panel_top + 14.) / height left tc rgb foreground font little", words)
# Before the next panel of the same picture: its own words and arrows, its own ranges.
fresh = "unset label; unset arrow; unset object; set format x '%g'; set format y '%g'; set autoscale"

# A headline that states the finding, which is the title for screen readers, too; what the picture shows, for them; and
# where its numbers come from, which a page says below the picture.
provenance_text = ''; description_text = ''
headline_width = narrow ? 29 : 84
line(text, at, n) = n == 1 ? text[1 : break_at(text, at)] : line(text[break_at(text, at) + 1 :], at, n - 1)
lines_in(text, at) = strlen(text) == 0 ? 0 : 1 + lines_in(text[break_at(text, at) + 1 :], at)
headline(text) = sprintf("headline_text = \"%s\"; header = 12 + 19 * lines_in(headline_text, headline_width); do for [n = 1:lines_in(headline_text, headline_width)] { set label 100 + n line(headline_text, headline_width, n) at screen 12. / width, screen 1 - (2. + 19 * n) / height left tc rgb foreground font title_font }", text)
provenance(text) = sprintf("provenance_text = \"%s\"", text)
description(text) = sprintf("description_text = \"%s\"", text)

# 128 ... 16384, as they are said.
set_lengths = "set logscale x; set xtics (32, 64, 128, 256, 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '16k' 16384, '64k' 65536); set xlabel 'sequence length N (tokens)'"
# Bytes over decades; the x axis goes on by this factor to the right of the data, where names stand.
xroom = 1.15
bytes = "%.0s %cB"

# Names at the ends of lines: add each with name_line(text, y, series), then load 'plots/name_lines.gp' with the panel's
# yrange known: ymin, ymax, which it sets. They are moved apart until none covers another.
array name_text[40]; array name_y[40]; array name_series[40]
names = 0
name_line(text, y, series) = (known(y) ? (names = names + 1, name_text[names] = text, name_y[names] = y, name_series[names] = series, 1) : 0)
load 'plots/colors.gp'
