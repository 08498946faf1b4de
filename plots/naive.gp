# Chapter 01: the shares of naive attention's footprint that are S and P, stored and read again, and that are Q, K, V and
# O, stacked, for each sequence length; or how long a GPU takes.
# data: the TSV of a sweep of 01_naive/naive
height = 340; tall = 370
load 'plots/theme.gp'
load tables('')
x_column = 'seq'
N = last_of('naive', 'seq'); d = last_of('naive', 'dim')
heads = 1 / last_of('naive', 'per_head')
counted = known(last_of('naive', 'footprint'))
# Everything but 4 N d elements a head is S and P. A GPU counts nothing; then it is said from the closed form.
eval headline(sprintf("%.0f %% of naive attention's HBM footprint is its N × N matrices", \
	100 * (1 - 4. * N * d * heads / last_of('naive', 'model_elements'))))
eval provenance(sprintf("The headline at N = %d, d = %d. ", N, d).(counted ? "Distinct bytes of each launch, summed. " : "").made_by('naive'))
eval description("S and P are written by one kernel and read by the next; their share of the bytes grows with N, because they are N × N and the others N × d.")
if (counted) {
	count = words(cells('naive', 'seq'))
	eval edges(left_edge, width - (narrow ? 12 : 130), 72, height - header - (narrow ? 78 : 43))
	above(line) = (panel_top + 14. + 17 * line) / height
	set label 99 "share of the footprint; above a bar: S and P" at screen 12. / width, screen above(1) left tc rgb foreground font little
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
		inputs = share + (100 - share) * 3 / 4
		set object 4 * i rectangle from i - 0.36, 0 to i + 0.36, share / 2 fc rgb named('stored') fs solid noborder
		set object 4 * i + 1 rectangle from i - 0.36, share / 2 to i + 0.36, share fc rgb named('read') fs solid noborder
		set object 4 * i + 2 rectangle from i - 0.36, share to i + 0.36, inputs fc rgb named('read') fs transparent solid 0.35 border lc rgb named('read')
		set object 4 * i + 3 rectangle from i - 0.36, inputs to i + 0.36, 100 fc rgb named('output') fs solid noborder
		set label 300 + i sprintf("%.0f %%", share) at i, screen (panel_top + 9.) / height center tc rgb foreground font (narrow ? little : normal)
	}
	if (narrow) {
		set label 390 "Q, K, V: input" at screen 12. / width, screen above(3) left tc rgb named_text('read') font little
		set label 391 "O: output" at screen 150. / width, screen above(3) left tc rgb named_text('output') font little
		set label 392 "S and P: stored" at screen 12. / width, screen above(2) left tc rgb named_text('stored') font little
		set label 393 "S and P: read" at screen 150. / width, screen above(2) left tc rgb named_text('read') font little
	} else {
		set label 390 "O: output" at count + 0.6, screen (panel_top + 8.) / height left tc rgb named_text('output')
		set label 391 "Q, K, V: input" at count + 0.6, screen (panel_top - 9.) / height left tc rgb named_text('read')
		set label 392 "S and P: read" at count + 0.6, share * 3 / 4 left tc rgb named_text('read')
		set label 393 "S and P: stored" at count + 0.6, share / 4 left tc rgb named_text('stored')
	}
	plot NaN notitle
}
load 'plots/say.gp'
