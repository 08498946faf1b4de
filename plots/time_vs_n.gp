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
eval headline(sprintf("fa2_split_q is %s than naive attention", ratio))
eval provenance(sprintf("%s, d = %d, no mask, the headline at N = %d; median, whiskers p10 to p90. %s", problem('fa2_row'), d, N, source('fa2_row')))
eval description("Time grows with the square of N for every kernel; what changes is the constant.")
x_column = 'seq'; counted = 0
load 'plots/say.gp'
