# Chapter 09: what the forward pass requests with a causal window of W keys, against the sequence length.
# data: the TSV of a sweep of 09_variants/variants; the points of a window of N keys, which hides nothing, are those without one
tall = 440
where = 'dim=first causal=first'
load 'plots/theme.gp'
load tables('')
Nmin = first_of('forward', 'seq'); N = last_of('forward', 'seq'); d = last_of('forward', 'dim')
heads = 1 / last_of('forward', 'per_head')
T = d <= 64 ? 64. : 32. # the kernel's own tile
counted = known(last_of('forward', 'requested'))
# Keys that the tiles of T queries load: T more for each tile, up to W + T.
full(n) = n < T ? n : n * (n / T + 1) / 2
kappa(n, W) = n <= W ? full(n) : full(W) + (n - W) / T * (W + T)
requested(n, W) = 4 * heads * (2 * n * d + 2 * d * kappa(n, W))
eval headline(sprintf("A causal window requests %.1f times fewer bytes than all keys: N W, not N²", \
	requested(N, N) / requested(N, 64)))
eval provenance(sprintf("d = %d, the headline of 64 keys at N = %d. %s. %s", d, N, counted ? "Points: counted; lines: closed forms" : "Lines: closed forms", made_by('forward')))
eval description(sprintf("A tile of %d queries loads whole tiles of keys: W + %d of them, whatever N is. Without a window it loads all keys up to its own.", T, T))
eval set_lengths
set xrange [Nmin / xroom : N * xroom]
eval panel(1, 1, 120, 3, 'bytes requested, forward')
set logscale y
ymin = requested(Nmin, 64) / 2; ymax = requested(N, N) * 2.2
set format y bytes
name_x = N * xroom * 1.06
ignore = name_line('all keys', requested(N, N), 'naive_line')
ignore = name_line('window 256', requested(N, 256), 'fa2_line')
ignore = name_line('window 64', requested(N, 64), 'fa2_line')
load 'plots/name_lines.gp'
curves = "inside(x, Nmin, N, requested(x, N)) with lines lc rgb color('naive_line') lw 1.4 dt 2, inside(x, Nmin, N, requested(x, 256)) with lines lc rgb color('fa2_line') lw 1.4 dt 2, "
curves = curves."inside(x, Nmin, N, requested(x, 64)) with lines lc rgb color('fa2_line') lw 1.4 dt 2"
points = counted ? ", rows(data, 'forward', 'seq requested') with points lc rgb dim pt 7 ps 1" : ''
set samples 400
eval "plot ".curves.points
load 'plots/say.gp'
