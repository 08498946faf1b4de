# Chapter 08: what a decoded token asks of global memory against the splits of its keys, and how many SMs have work.
# data: the TSV of a sweep of 08_decode/decode
tall = 440
where = 'dim=first'
load 'plots/theme.gp'
load tables('')
nmin = first_of('decode_split', 'seq'); nmax = last_of('decode_split', 'seq')
Smin = first_of('decode_split', 'splits'); Smax = last_of('decode_split', 'splits')
H = last_of('decode_split', 'heads'); G = last_of('decode_split', 'kv_heads'); d = last_of('decode_split', 'dim')
counted = known(last_of('decode_split', 'requested'))
# The GPU of the data; an H100 where the data does not say how many SMs that has.
SMs = last_of('decode_split', 'sms')
gpu = known(SMs) ? decode_split__gpu : 'H100 SXM'
if (!known(SMs)) { SMs = 132. }
fills = ceil(SMs / G)
requested(n, S) = 4 * (2 * n * G * d + S * H * d + 2 * S * H * (d + 2) + H * d)
alone(n) = 4 * 2 * n * G * d
grouped(n) = alone(n) + 4 * 2 * H * d
more(n) = 100 * (requested(n, fills) / alone(n) - 1)
eval headline(sprintf("%.0f splits give every SM of the %s work", fills, gpu))
eval provenance(sprintf("%.0f splits of %.0f blocks for %.0f SMs request %.1f %% more bytes than keys and values alone at N = %.0f, %.0f %% at %.0f. One token, one layer; %.0f heads on %.0f, d = %.0f. Lines: closed forms%s. %s", \
	fills, G, SMs, more(nmax), nmax, more(nmin), nmin, H, G, d, counted ? "; points: counted" : "", made_by('decode_split')))
eval description(sprintf("Keys and values are asked for once, whatever the splits; Q, O, m and l once more for each. One split leaves %.0f of %.0f SMs with work, %.0f give all of them a block.", \
	G, SMs, fills))
xmin = Smin; xmax = Smax
eval panel(1, 1, 190, 4, 'bytes requested, per token and layer')
eval edges(panel_left, panel_right, panel_bottom + 24, panel_top)
set logscale xy
# Below each number of splits, how many SMs have a block.
busy(S) = G * S < SMs ? G * S : SMs
set xtics ()
do for [S in '1 4 16 44 88 176'] { set xtics add (sprintf("%s\n%.0f", S, busy(real(S))) real(S)) }
set xlabel 'splits S; below: SMs with work' offset 0,-0.6
set xrange [xmin / xroom : xmax * xroom]
ymin = alone(nmin) / 2; ymax = requested(nmax, xmax) * 2
set format y bytes
name_x = xmax * xroom * 1.1
nmiddle = 4 * nmin
ignore = name_line(sprintf("N = %.0f", nmax), requested(nmax, xmax), 'fa2_line')
ignore = name_line(sprintf("N = %.0f", nmiddle), requested(nmiddle, xmax), 'fa2_line')
ignore = name_line(sprintf("N = %.0f", nmin), requested(nmin, xmax), 'fa2_line')
ignore = name_line("dotted: K and V alone", alone(nmin), 'least')
load 'plots/name_lines.gp'
set arrow 1 from fills, ymin to fills, ymax nohead lc rgb dim lw 1 dt 3
curves = "requested(nmax, x) with lines lc rgb color('decode_split') lw 1.4, requested(nmiddle, x) with lines lc rgb color('decode_split') lw 1.4, requested(nmin, x) with lines lc rgb color('decode_split') lw 1.4, "
curves = curves."alone(nmax) with lines lc rgb dim lw 1 dt 3, alone(nmiddle) with lines lc rgb dim lw 1 dt 3, alone(nmin) with lines lc rgb dim lw 1 dt 3"
points = counted ? ", rows(data, 'decode_split', 'splits requested') with points lc rgb color('decode_split') pt 5 ps 0.8" : ''
set samples 400
eval "plot ".curves.points
load 'plots/say.gp'
