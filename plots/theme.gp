# The look of every picture: load this first.
#   gnuplot -e "theme='light'; fmt='svg'; out='x.svg'; data='x.tsv'" plots/naive.gp
# theme light|dark; fmt svg|png. Colours are Okabe and Ito's, told apart by colour-blind readers too.
if (!exists("theme")) theme = 'light'
if (!exists("fmt")) fmt = 'svg'
orange = '#E69F00'; sky = '#56B4E9'; green = '#009E73'; blue = '#0072B2'; vermilion = '#D55E00'; purple = '#CC79A7'
if (theme eq 'dark') {
	background = '#0d1117'; foreground = '#e6edf3'; dim = '#8b949e'; faint = '#30363d'; blue = '#56B4E9'
} else {
	background = '#ffffff'; foreground = '#1f2328'; dim = '#59636e'; faint = '#d1d9e0'
}
face = 'DejaVu Sans'
if (fmt eq 'png') {
	set terminal pngcairo size 1200,750 background rgb background font face.',16' linewidth 1.6 enhanced
} else {
	set terminal svg size 800,500 background rgb background font face.',13' linewidth 1.2 enhanced
}
if (exists("out")) set output out
small = (fmt eq 'png') ? 13 : 10
large = (fmt eq 'png') ? 20 : 16
set border 3 lc rgb dim lw 1
set tics nomirror textcolor rgb dim scale 0.6
set grid xtics ytics lc rgb faint lw 0.6 lt 1
set key off
set tmargin at screen 0.86
set bmargin at screen 0.12
set xlabel textcolor rgb foreground
set ylabel textcolor rgb foreground
# A headline that states the finding, and below it where the numbers come from. `set title` would clip them.
headline(text) = sprintf("set label 100 \"%s\" at screen 0.02,0.955 left tc rgb foreground font face.',%d'", text, large)
provenance(text) = sprintf("set label 101 \"%s\" at screen 0.02,0.905 left noenhanced tc rgb dim font face.',%d'", text, small)
# The first line of a data file says what made it.
made_by(file) = system(sprintf("sed -n '1s/^# //p' '%s'", file))
