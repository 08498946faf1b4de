# Chapter 01: the shares of naive attention's footprint that are S and P and that are Q, K, V and O, stacked, for each
# sequence length; or how long a GPU takes.
# data: the TSV of a sweep of 01_naive/naive
height = 330; tall = 360
load 'plots/theme.gp'
load tables('')
N = last_of('naive', 'seq'); d = last_of('naive', 'dim')
heads = 1 / last_of('naive', 'per_head')
counted = known(last_of('naive', 'footprint'))
# Everything but 4 N d elements a head is S and P. A GPU counts nothing; then it is said from the closed form.
eval headline(sprintf("%.0f %% of naive attention's HBM footprint is its N × N matrices", \
	100 * (1 - 4. * N * d * heads / last_of('naive', 'model_elements'))))
eval provenance((counted ? sprintf("Distinct bytes of each launch, summed; N up to %d, d = %d. ", N, d) : "").made_by('naive'))
eval description("S and P are written by one kernel and read by the next; their share of the bytes grows with N, because they are N × N and the others N × d.")
if (counted) {
	count = words(cells('naive', 'seq'))
	eval edges(left_edge, width - (narrow ? 12 : 100), 72, height - header - (narrow ? 43 : 26))
	eval axis_name("share of the footprint's bytes")
	set xrange [0.4 : count + 0.6]
	set yrange [0 : 100]
	set ytics 0, 20, 100
	set format y "%g %%"
	set xlabel 'sequence length N; below: the footprint' offset 0,-0.6
	set xtics () scale 0
	unset grid
	set border 1
	do for [i = 1:count] {
		n = number(cells('naive', 'seq'), i)
		share = 100 * (1 - 16. * n * d * heads / number(cells('naive', 'footprint'), i))
		total = number(cells('naive', 'footprint'), i)
		set xtics add (sprintf("%d\n", n).gprintf(narrow ? "%.0s %cB" : "%.1s %cB", total) i)
		set object 2 * i rectangle from i - 0.36, 0 to i + 0.36, share fc rgb vermilion fs solid noborder
		set object 2 * i + 1 rectangle from i - 0.36, share to i + 0.36, 100 fc rgb blue fs solid noborder
		set label 300 + i sprintf("%.0f %%", share) at i, share / 2 center tc rgb '#000000' font (narrow ? little : normal) front
	}
	if (narrow) {
		set label 390 "Q, K, V, O" at screen left_edge * 1. / width, screen (panel_top + 31.) / height left tc rgb blue font little
		set label 391 "S and P, stored" at screen (left_edge + 90.) / width, screen (panel_top + 31.) / height left tc rgb vermilion_text font little
	} else {
		set label 390 "Q, K, V, O" at count + 0.6, (100 + share) / 2 left tc rgb blue
		set label 391 "S and P" at count + 0.6, share / 2 left tc rgb vermilion_text
	}
	plot NaN notitle
} else {
	eval set_lengths
	x_column = 'seq'
	load 'plots/times.gp'
}
load 'plots/say.gp'
