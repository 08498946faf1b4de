# Device memory held at once against N, forward and backward. One head.
# data: a directory with 01_naive.tsv, 04_fa1.tsv, 05_fa2.tsv and 06_backward.tsv
load 'plots/theme.gp'
naive = '01_naive'; fa1 = '04_fa1'; fa2 = '05_fa2'; backward = '06_backward'
where = 'dim=64 causal=0'
load tables(naive.' '.fa1.' '.fa2.' '.backward)
d = last_of('fa2_row', 'dim')
N = at_most(last_of('naive', 'seq'), last_of('fa2_row', 'seq'))
gain = here('naive', 'peak_bytes') / here('fa2_row', 'peak_bytes')
eval headline(sprintf("Memory grows with N, not N²: without S and P %.1f times less", gain))
eval provenance(sprintf("Allocated on the device at most, of one head, d = %d; the headline at N = %d. Points: what the harness allocated; lines: closed forms, in elements of 4 bytes. %s", d, N, source('fa2_row')))
eval description("Naive attention holds S and P, the naive backward P, dP and dS; the other kernels hold their inputs and outputs only.")
Nmin = first_of('naive', 'seq')
Nmax = at_least(last_of('naive', 'seq'), last_of('fa2_row', 'seq'))
ymin = 16 * Nmin * d / 1.6
ymax = 4 * (2. * Nmax * Nmax + 4 * Nmax * d) * 2.2
eval panel(1, 1, 225, 4, 'bytes of device memory, per head')
eval set_lengths
set logscale y
set xrange [Nmin / 1.15 : Nmax * 1.15]
set format y bytes
name_x = Nmax * 1.22
ignore = name_line('backward_naive: 3N² + 8Nd', 4 * (3. * Nmax * Nmax + 8 * Nmax * d + 2 * Nmax), 'backward_naive')
ignore = name_line('naive: 2N² + 4Nd', 4 * (2. * Nmax * Nmax + 4 * Nmax * d), 'naive')
ignore = name_line('backward_split, _atomic: 8Nd', 4 * (8. * Nmax * d), 'backward_split')
ignore = name_line('FA1 and FA2: 4Nd', 4 * (4. * Nmax * d), 'fa2_split_q')
load 'plots/name_lines.gp'
peak = 'seq per_head*peak_bytes'
plot sample [Nmin:Nmax] 4 * (3 * x * x + 8 * x * d + 2 * x) with lines lc rgb color('backward_naive') lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * (2 * x * x + 4 * x * d) with lines lc rgb color('naive') lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * (8 * x * d + 2 * x) with lines lc rgb color('backward_split') lw 1.4 dt 2, \
     [Nmin:Nmax] 4 * (4 * x * d + x) with lines lc rgb color('fa2_split_q') lw 1.4 dt 2, \
     rows(backward, 'backward_naive', peak) with points lc rgb color('backward_naive') pt 11 ps 1.2, \
     rows(backward, 'backward_split', peak) with points lc rgb color('backward_split') pt 9 ps 1.3, \
     rows(backward, 'backward_atomic', peak) with points lc rgb color('backward_atomic') pt 8 ps 1.9, \
     rows(naive, 'naive', peak) with points lc rgb color('naive') pt 7 ps 1.2, \
     rows(fa1, 'fa1_paper', peak) with points lc rgb color('fa1_paper') pt 12 ps 1.9, \
     rows(fa2, 'fa2_split_q', peak) with points lc rgb color('fa2_split_q') pt 5 ps 1
load 'plots/say.gp'
