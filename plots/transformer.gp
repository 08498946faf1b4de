# Chapter 07: what a decoded token of SmolLM2-135M asks of global memory at context n: weights, keys and values, activations.
# data: the TSV of a sweep of 07_transformer/transformer, of which it takes the rows of one query
tall = 470
where = 'seq=1 dim=first'
load 'plots/theme.gp'
load tables('')
nmin = first_of('strided', 'keys'); nmax = last_of('strided', 'keys')
heads = last_of('strided', 'heads'); kv_heads = last_of('strided', 'kv_heads'); d = last_of('strided', 'dim')
counted = known(last_of('strided', 'requested'))
# The model: 30 layers whose attention has the sweep's shape; 4-bit weights but for an embedding of 8 bits, fp32 norms.
L = 30.; vocabulary = 49152.; q4_1 = 20. / 32; q8_0 = 34. / 32
C = heads * d; C_kv = kv_heads * d; F = 8. / 3 * C
weights = L * q4_1 * (2 * C * C + 2 * C_kv * C + 3 * F * C) + q8_0 * vocabulary * C + 4 * (2 * L + 1) * C
# 07_transformer/pass.c has these sums: x of each block of rows (4; of the vocabulary 32), y and residuals of the projections;
# RoPE; SwiGLU; norms; Q and O.
for_x = L * (2 * C + 2 * C_kv + 3 * F) / 4 * C + vocabulary / 32 * C
activations = 4 * (for_x + L * (5 * C + 2 * F) + vocabulary + L * (3 * C + C_kv) + L * 3 * F + (2 * L + 1) * 3 * C + L * 2 * C)
requested(n) = 4 * L * 2 * C * n
footprint(n) = 4 * L * 2 * C_kv * n
passes_requested = ceil(weights / requested(1.)); passes_footprint = ceil(weights / footprint(1.))
eval headline(sprintf("From %.0f tokens on attention asks for more bytes than all weights", passes_requested))
eval provenance(sprintf("A token of SmolLM2-135M at context n. Lines: closed forms, in elements of 4 bytes%s. %s", \
	counted ? "; points: 30 times one layer, counted, Q and O included" : "", made_by('strided')))
eval description(sprintf("Weights and activations are the same for every token; keys and values grow. Each head reads its group's keys for itself: the distinct bytes are %.0f times fewer, and pass the weights at n = %.0f.", \
	heads / kv_heads, passes_footprint))
xmin = at_most(nmin, 64); xmax = at_least(nmax, 8192)
eval panel(1, 1, 200, 4, 'bytes of global memory, per token')
eval set_lengths
set xlabel 'context n (tokens)'
set logscale y
ymin = footprint(xmin) / 2; ymax = requested(xmax) * 2
set xrange [xmin / xroom : xmax * xroom]
set format y bytes
name_x = xmax * xroom * 1.06
ignore = name_line('keys, values: requested', requested(xmax), 'cache')
ignore = name_line('keys, values: footprint', footprint(xmax), 'distinct_cache')
ignore = name_line(sprintf("weights, as stored: %.3g MB", weights * 1e-6), weights, 'weights')
ignore = name_line(sprintf("activations: %.3g MB", activations * 1e-6), activations, 'activations')
load 'plots/name_lines.gp'
set arrow 1 from passes_requested, ymin to passes_requested, weights nohead lc rgb dim lw 1 dt 3
set arrow 2 from passes_footprint, ymin to passes_footprint, weights nohead lc rgb dim lw 1 dt 3
set label 11 sprintf("n = %.0f ", passes_requested) at passes_requested / 1.03, ymin * 1.6 right tc rgb dim font little
set label 12 sprintf(" n = %.0f", passes_footprint) at passes_footprint * 1.03, ymin * 1.6 left tc rgb dim font little
curves = "inside(x, xmin, xmax, weights) with lines lc rgb color('weights') lw 2, inside(x, xmin, xmax, activations) with lines lc rgb color('activations') lw 2, "
curves = curves."inside(x, xmin, xmax, requested(x)) with lines lc rgb color('cache') lw 1.4 dt 2, inside(x, xmin, xmax, footprint(x)) with lines lc rgb color('cache') lw 1.4 dt 2"
points = counted ? ", rows(data, 'strided', 'keys requested') using 1:(L * $2) with points lc rgb color('cache') pt 5 ps 1.1, rows(data, 'strided', 'keys footprint') using 1:(L * $2) with points lc rgb color('cache') pt 9 ps 1.3" : ''
set samples 400
eval "plot ".curves.points
load 'plots/say.gp'
