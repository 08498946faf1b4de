# Bytes of global memory of the forward pass against N: of naive attention and FlashAttention-2 the band between their
# footprint and what they request, of FlashAttention-1 what it requests. One head, no mask.
# data: a directory with 01_naive.tsv, 04_fa1.tsv and 05_fa2.tsv
height = 480; tall = 560
load 'plots/theme.gp'
naive = '01_naive'; fa1 = '04_fa1'; fa2 = '05_fa2'
where = 'dim=64 causal=0'
load tables(naive.' '.fa1.' '.fa2)
d = last_of('fa2_split_q', 'dim')
# Said of the largest N that both have.
N = at_most(last_of('naive', 'seq'), last_of('fa2_split_q', 'seq'))
largest(kernel, column) = last_of(kernel, 'per_head') * last_of(kernel, column)
best = here('naive', 'footprint') / here('fa2_split_q', 'requested')
# The tiles, from the closed forms: (3Tc + 1) and (2Tr + 2) units of N d.
units(kernel) = largest(kernel, 'model_elements') / (last_of(kernel, 'seq') * d)
Bc = 3 * last_of('fa1_paper', 'seq') / (units('fa1_paper') - 1)
Br = 2 * last_of('fa2_split_q', 'seq') / (units('fa2_split_q') - 2)
eval headline(sprintf("FlashAttention-2 requests %.1f times fewer bytes than naive attention's footprint", best))
eval provenance(sprintf("One head, d = %d, no mask; the headline at N = %d. Bands: from the footprint to what is requested. Points: counted; lines: closed forms, in elements of 4 bytes; Tc = N / %d tiles of keys, Tr = N / %d tiles of queries. %s", d, N, Bc, Br, source('fa2_row')))
eval description("A footprint is what moves with a perfect cache; requested is all that threads ask of global memory. Both grow with the square of N in the end: the ratio between the bands stays.")
Nmin = first_of('naive', 'seq')
Nmax = at_least(last_of('naive', 'seq'), last_of('fa2_split_q', 'seq'))
ymin = 16 * Nmin * d / 1.6
ymax = largest('naive', 'requested') * 1.6
eval panel(1, 1, 215, 5, 'bytes of global memory, per head')
eval set_lengths
set logscale y
set xrange [Nmin / 1.15 : Nmax * 1.7]
set format y bytes
name_x = Nmax * 1.8
ignore = name_line('naive, requested', largest('naive', 'requested'), 'naive_line')
ignore = name_line('naive, footprint: 4N² + 4Nd', largest('naive', 'footprint'), 'naive')
ignore = name_line('FA1, requested: (3Tc + 1)Nd', largest('fa1_paper', 'requested') * (Nmax / last_of('fa1_paper', 'seq')) ** 2, 'fa1_paper')
ignore = name_line('FA2, requested: (2Tr + 2)Nd', largest('fa2_split_q', 'requested'), 'fa2_split_q')
ignore = name_line('FA2, footprint: 4Nd', largest('fa2_split_q', 'footprint'), 'fa2_line')
load 'plots/name_lines.gp'
# The ratio, at N.
at = N * 1.12
low = here('fa2_split_q', 'requested'); high = here('naive', 'footprint')
set arrow 1 from at, low to at, high heads size screen 0.006,90 lc rgb foreground lw 1.5
set label 301 sprintf("%.1f ×", best) at at * 1.04, sqrt(low * high) left tc rgb foreground
set samples 400
both = 'seq per_head*footprint per_head*requested'
plot sample [Nmin:Nmax] 16 * x * d with lines lc rgb color('fa2_split_q') lw 1.4 dt 3, \
     [Nmin:Nmax] 4 * (4 * x * x + 4 * x * d) with lines lc rgb color('naive') lw 1.4 dt 2, \
     rows(naive, 'naive', both) using 1:2:3 with filledcurves lc rgb color('naive') fs transparent solid 0.18 noborder, \
     rows(fa2, 'fa2_split_q', both) using 1:2:3 with filledcurves lc rgb color('fa2_split_q') fs transparent solid 0.18 noborder, \
     rows(naive, 'naive', 'seq per_head*requested') with lines lc rgb color('naive') lw 1.4, \
     [Nmin:Nmax] 4 * x * d * (3 * x / Bc + 1) with lines lc rgb color('fa1_paper') lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * x * d * (2 * x / Br + 2) with lines lc rgb color('fa2_split_q') lw 1.4 dt 2, \
     rows(naive, 'naive', 'seq per_head*footprint') with points lc rgb color('naive') pt 7 ps 1.2, \
     rows(fa1, 'fa1_paper', 'seq per_head*requested') with points lc rgb color('fa1_paper') pt 13 ps 1.4, \
     rows(fa2, 'fa2_split_q', 'seq per_head*requested') with points lc rgb color('fa2_split_q') pt 5 ps 1.2
load 'plots/say.gp'
