# Chapter 04: what FlashAttention-1 asks of global memory, beside naive attention, against the sequence length.
# data: the TSV of a sweep of 04_fa1/fa1
load 'plots/theme.gp'
load tables('')
x_column = 'seq'
Nmin = first_of('fa1_paper', 'seq'); N = last_of('fa1_paper', 'seq'); d = last_of('fa1_paper', 'dim')
heads = 1 / last_of('fa1_paper', 'per_head')
counted = known(last_of('fa1_paper', 'requested'))
naive_bytes(N) = 4 * heads * (4. * N * N + 4 * N * d)
less = 4 * heads * (2. * N * N + 4 * N * d) / last_of('fa1_paper', 'peak_bytes')
eval headline(counted ? sprintf("A thread per row requests %.1f times fewer bytes than naive attention's footprint", \
	naive_bytes(N) / last_of('fa1_row', 'requested')) \
	: sprintf("FlashAttention-1 holds %.0f times less than naive attention", less))
eval provenance(sprintf("d = %d, the headline at N = %d. Naive: closed form of its footprint, 4N² + 4Nd elements of 4 bytes. %s", d, N, made_by('fa1_paper')))
eval description("What FlashAttention-1 requests beside the footprint of naive attention: a thread that owns a query row keeps O, l and m in registers; Algorithm 1 moves them for every tile of keys.")
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
if (counted) {
	eval panel(1, 1, 185, 3, 'bytes of global memory')
	set logscale y
	ymin = first_of('fa1_row', 'requested') / 2
	ymax = at_least(naive_bytes(N), last_of('fa1_paper', 'requested')) * 2
	set format y bytes
	name_x = N * xroom * 1.06
	ignore = name_line('naive, footprint', naive_bytes(N), 'naive')
	ignore = name_line('fa1_paper, requested', last_of('fa1_paper', 'requested'), 'fa1_paper')
	ignore = name_line('fa1_row, requested', last_of('fa1_row', 'requested'), 'fa1_row')
	load 'plots/name_lines.gp'
	plot inside(x, Nmin, N, naive_bytes(x)) with lines lc rgb color('naive') lw 1.4 dt 2, \
	     rows(data, 'fa1_paper', 'seq requested') with linespoints lc rgb color('fa1_paper') lw 2 pt 13 ps 1.2, \
	     rows(data, 'fa1_row', 'seq requested') with linespoints lc rgb color('fa1_row') lw 2 pt 11 ps 1.1
}
load 'plots/say.gp'
