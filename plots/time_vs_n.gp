# A GPU's time of the forward pass against N, each kernel of chapters 01, 04 and 05. No mask.
# data: a directory with 01_naive.tsv, 04_fa1.tsv and 05_fa2.tsv
load 'plots/theme.gp'
naive = '01_naive'; fa1 = '04_fa1'; fa2 = '05_fa2'
where = 'dim=64 causal=0'
load tables(naive.' '.fa1.' '.fa2)
problem(kernel) = sprintf("B = %g, H = %g", last_of(kernel, 'batch'), last_of(kernel, 'heads'))
if (problem('naive') ne problem('fa2_row') || problem('fa1_paper') ne problem('fa2_row')) {
	print "the chapters' files are not of one problem: make bench"
	exit status 1
}
d = last_of('fa2_row', 'dim')
N = at_most(last_of('naive', 'seq'), at_most(last_of('fa1_paper', 'seq'), last_of('fa2_split_q', 'seq')))
gain = number_at('naive', 'median_ms', 'seq', N) / number_at('fa2_split_q', 'median_ms', 'seq', N)
ratio = gain >= 1 ? sprintf("%.1f times faster", gain) : sprintf("%.1f times slower", 1 / gain)
eval headline(sprintf("At N = %d fa2_split_q is %s than naive attention", N, ratio))
eval provenance(sprintf("%s, d = %d, no mask; median, whiskers p10 to p90. %s", problem('fa2_row'), d, source('fa2_row')))
eval description("Time grows with the square of N for every kernel; what changes is the constant.")
Nmin = first_of('naive', 'seq')
Nmax = at_least(last_of('naive', 'seq'), last_of('fa2_split_q', 'seq'))
ymin = at_most(at_most(first_of('naive', 'p10_ms'), first_of('fa2_split_q', 'p10_ms')), at_most(first_of('fa1_paper', 'p10_ms'), first_of('fa1_row_dynamic', 'p10_ms'))) / 1.5
ymax = at_least(at_least(last_of('naive', 'p90_ms'), last_of('fa2_row', 'p90_ms')), at_least(last_of('fa1_paper', 'p90_ms'), last_of('fa1_row', 'p90_ms'))) * 1.5
eval panel(85, 620, 60, height - 75)
eval set_lengths
set logscale y
set xrange [Nmin / 1.15 : Nmax * 1.15]
set yrange [ymin : ymax]
set ylabel "ms on the GPU"
name_x = Nmax * 1.22
ignore = name_line('naive (01)', last_of('naive', 'median_ms'), vermilion_text)
ignore = name_line('fa1_paper (04)', last_of('fa1_paper', 'median_ms'), orange_text)
ignore = name_line('fa1_row (04)', last_of('fa1_row', 'median_ms'), purple_text)
ignore = name_line('fa1_row_dynamic (04)', last_of('fa1_row_dynamic', 'median_ms'), dim)
ignore = name_line('fa2_row (05)', last_of('fa2_row', 'median_ms'), green_text)
ignore = name_line('fa2_split_q (05)', last_of('fa2_split_q', 'median_ms'), blue_text)
load 'plots/name_lines.gp'
# A guide to the eye, below all lines.
guide(x) = ymin * 1.25 * (x / (Nmax / 4.)) ** 2
set label 301 "slope 2: ∝ N²" at Nmax / 1.5, guide(Nmax / 1.5) / 1.45 left tc rgb dim font little
times = 'seq median_ms p10_ms p90_ms'
plot sample [Nmax / 4. : Nmax] guide(x) with lines lc rgb dim lw 1.2 dt 3, \
     rows(naive, 'naive', times) using 1:2:3:4 with yerrorbars lc rgb vermilion pt 7 ps 1.1 lw 1.5, \
     rows(naive, 'naive', times) with lines lc rgb vermilion lw 2, \
     rows(fa1, 'fa1_paper', times) using 1:2:3:4 with yerrorbars lc rgb orange pt 13 ps 1.2 lw 1.5, \
     rows(fa1, 'fa1_paper', times) with lines lc rgb orange lw 2, \
     rows(fa1, 'fa1_row', times) using 1:2:3:4 with yerrorbars lc rgb purple pt 11 ps 1.1 lw 1.5, \
     rows(fa1, 'fa1_row', times) with lines lc rgb purple lw 2, \
     rows(fa1, 'fa1_row_dynamic', times) using 1:2:3:4 with yerrorbars lc rgb dim pt 6 ps 1 lw 1.5, \
     rows(fa1, 'fa1_row_dynamic', times) with lines lc rgb dim lw 1.5 dt 2, \
     rows(fa2, 'fa2_row', times) using 1:2:3:4 with yerrorbars lc rgb green pt 9 ps 1.2 lw 1.5, \
     rows(fa2, 'fa2_row', times) with lines lc rgb green lw 2, \
     rows(fa2, 'fa2_split_q', times) using 1:2:3:4 with yerrorbars lc rgb blue pt 5 ps 1 lw 1.5, \
     rows(fa2, 'fa2_split_q', times) with lines lc rgb blue lw 2
load 'plots/say.gp'
