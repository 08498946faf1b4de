# Bytes of global memory of the forward pass against N: counted, and as the closed forms say. One head, no mask.
# data: a directory with 01_naive.tsv, 04_fa1.tsv and 05_fa2.tsv
load 'plots/theme.gp'
naive = '01_naive'; fa1 = '04_fa1'; fa2 = '05_fa2'
where = 'dim=64 causal=0'
load tables(naive.' '.fa1.' '.fa2)
d = last_of('fa2_split_q', 'dim')
# Said of the largest N that all three have.
N = at_most(last_of('naive', 'seq'), at_most(last_of('fa1_paper', 'seq'), last_of('fa2_split_q', 'seq')))
here(kernel, column) = number_at(kernel, 'per_head', 'seq', N) * number_at(kernel, column, 'seq', N)
largest(kernel, column) = last_of(kernel, 'per_head') * last_of(kernel, column)
naive_bytes = here('naive', 'footprint')
fa2_bytes = here('fa2_split_q', 'requested')
# The tiles, from the closed forms: (3Tc + 1) and (2Tr + 2) units of N d.
Bc = N / ((here('fa1_paper', 'model_elements') / (N * d) - 1) / 3)
Br = N / (here('fa2_split_q', 'model_elements') / (2 * N * d) - 1)
# Two ends: naive with a cache that forgets nothing, and without any.
eval headline(sprintf("At N = %d naive moves %.1f (footprint) to %.0f times (requested) what FlashAttention-2 requests", N, \
	naive_bytes / fa2_bytes, here('naive', 'requested') / fa2_bytes))
eval provenance(sprintf("One head, d = %d, no mask. Points: counted, statistics included; lines: closed forms of Q, K, V, S, P, O. %s", d, source('fa2_row')))
eval description("Naive: its footprint, what moves with a perfect cache. The others: all that their threads request of global memory. Every line has slope 2 in the end; only constants differ.")
Nmin = first_of('naive', 'seq')
Nmax = at_least(last_of('naive', 'seq'), last_of('fa2_split_q', 'seq'))
ymin = 16 * Nmin * d / 1.6
ymax = largest('naive', 'footprint') * 1.6
eval panel(85, 560, 60, height - 75)
eval set_lengths
set logscale y
set xrange [Nmin / 1.15 : Nmax * 1.15]
set yrange [ymin : ymax]
set ylabel "bytes of global memory, a head"
set format y bytes
name_x = Nmax * 1.22
ignore = name_line('naive, footprint: 4N² + 4Nd', largest('naive', 'footprint'), vermilion_text)
ignore = name_line(sprintf("FA1, requested: (3Tc + 1)Nd"), largest('fa1_paper', 'requested') * (Nmax / N) ** 2, orange_text)
ignore = name_line(sprintf("   Algorithm 1, Bc = %d", Bc), largest('fa1_paper', 'requested') * (Nmax / N) ** 2 / 1.01, dim)
ignore = name_line(sprintf("FA2, requested: (2Tr + 2)Nd"), largest('fa2_split_q', 'requested'), blue_text)
ignore = name_line(sprintf("   Br = %d", Br), largest('fa2_split_q', 'requested') / 1.01, dim)
ignore = name_line('least possible: 4Nd', 16 * Nmax * d, dim)
load 'plots/name_lines.gp'
set samples 400
plot sample [Nmin:Nmax] 16 * x * d with lines lc rgb dim lw 1.4 dt 3, \
     [Nmin:Nmax] 4 * (4 * x * x + 4 * x * d) with lines lc rgb vermilion lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * x * d * (3 * x / Bc + 1) with lines lc rgb orange lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * x * d * (2 * x / Br + 2) with lines lc rgb blue lw 1.4 dt 2, \
     rows(naive, 'naive', 'seq per_head*footprint') with points lc rgb vermilion pt 7 ps 1.2, \
     rows(fa1, 'fa1_paper', 'seq per_head*requested') with points lc rgb orange pt 13 ps 1.4, \
     rows(fa2, 'fa2_split_q', 'seq per_head*requested') with points lc rgb blue pt 5 ps 1.2
load 'plots/say.gp'
