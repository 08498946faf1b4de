# The roofline, with the kernels that end or begin an idea: intensity from the bytes it requests and from its footprint, as
# a segment between the two, in a strip below the roofs. A height only where a throughput was measured on a GPU.
# data: a directory with the seven chapters' files. A GPU counts nothing: there the bytes are those of the closed forms,
# which the simulated device's counts have to equal for a kernel to be verified.
# gpu: whose roofs, a name of roofs.tsv; roofs: that file
load 'plots/data.gp'
if (!exists("roofs")) roofs = 'plots/data/roofs.tsv'
if (!exists("gpu")) gpu = 'h100'
where = 'dim=64 causal=0'
load tables('01_naive 02_online_softmax 03_tiled_matmul 04_fa1 05_fa2 06_backward')
# A decoded token: one query, the longest context. Its sequence length is 1, so a load of its own.
load table_of(data.'/07_transformer.tsv', 'decoded_token', 'seq=1 dim=64 kernel=strided')
load table_of(roofs, 'roof', 'kernel='.gpu)
on_gpu = known(last_of('fa2_row', 'gflops'))
height = on_gpu ? 740 : 530
tall = on_gpu ? 1000 : 760
load 'plots/theme.gp'
if (words(roof__hbm_bytes_per_s) == 0) { print "no such GPU: ".gpu; exit status 2 }
bandwidth = last_of('roof', 'hbm_bytes_per_s') / 1e12
peak = last_of('roof', 'fp32_flop_per_s') / 1e12
tensor = last_of('roof', 'fp16_tensor_flop_per_s') / 1e12
kernels = "naive softmax_three_pass softmax_online matmul_naive matmul_tiled matmul_registers fa1_paper fa1_row fa2_split_q backward_naive backward_split decoded_token"
chapter_of = "1 2 2 3 3 3 4 4 5 6 6 7"
said(i) = sprintf("%02d %s", chapter(i), word(kernels, i))
own(i) = word(kernels, i) eq 'decoded_token' ? 'strided' : word(kernels, i)
K = words(kernels)
chapter(i) = int(real(word(chapter_of, i)))
# One N for all of attention, the largest that each chapter counted; the others' own largest sizes.
N = 1e9
do for [i in "1 7 9 10"] { N = at_most(N, last_of(word(kernels, int(i)), 'seq')) }
columns = last_of('softmax_online', 'cols')
side = last_of('matmul_naive', 'n')
of(i, column) = cells(word(kernels, i), 'seq') eq '' || chapter(i) == 7 ? last_of(word(kernels, i), column) : number_at(word(kernels, i), column, 'seq', N)
array requested[K]; array footprint[K]; array measured[K]
low = 1e9; high = 0; heights = 0; bottom = 1e9
do for [i = 1:K] {
	requested[i] = of(i, 'flop') / of(i, on_gpu ? 'model_requested' : 'requested')
	footprint[i] = of(i, 'flop') / of(i, on_gpu ? 'model_footprint' : 'footprint')
	measured[i] = 0.001 * of(i, 'gflops')
	low = at_most(low, requested[i]); high = at_least(high, footprint[i])
	if (known(measured[i])) { heights = heights + 1; bottom = at_most(bottom, measured[i]) }
}
ridge = peak / bandwidth
roof_share(i) = 100 * measured[i] / (bandwidth * footprint[i] < peak ? bandwidth * footprint[i] : peak)
eval headline(heights > 0 ? sprintf("fa2_split_q reaches %.2g %% of its roof", roof_share(9)) : \
	requested[9] > ridge && footprint[1] < ridge ? \
	sprintf("FlashAttention-2 crosses the ridge: %.0f FLOP per byte that it requests", requested[9]) : \
	sprintf("FlashAttention-2 has %.0f FLOP per byte that it requests", requested[9]))
eval provenance(sprintf("fp32, d = 64, N = %d; 02: %.0f columns; 03: n = %.0f; 07: one query, %.0f keys. %s. Roofs: %s. %s", N, columns, side, last_of('decoded_token', 'keys'), \
	heights > 0 ? "Heights: measured, % of the roof above the footprint; bytes by closed forms" : "No throughput was measured, so no kernel has a height", \
	roof__title[1], source('fa2_row')))
eval description("A kernel left of the ridge is bound by memory. Between the bytes its threads request and its footprint lies what caches can save; the larger the gap, the more it depends on them. A footprint has the writes in it, too, some of which a cache that writes back may keep from HBM.")
set logscale xy
set xrange [low / 1.8 : high * 1.8]
left = left_edge; right = heights > 0 && !narrow ? 600 : width - 16
strip = (narrow ? 29 : 18) * K + 8
# The roofs.
eval edges(left, right, 52 + strip + 14, height - header - 26 - (narrow ? 17 * heights : 0))
eval axis_name('TFLOP/s')
set multiplot
ymax = tensor * 2.6
ymin = heights > 0 ? at_most(bottom / 2, bandwidth * low / 2) : bandwidth * low
set yrange [ymin : ymax]
set format x ""
set format y "%g"
decade_x = (right - left) / log10(high * 1.8 / (low / 1.8))
decade_y = panel_height / log10(ymax / ymin)
steep = atan2(decade_y, decade_x) * 180 / pi
set label 301 sprintf("HBM %.2f TB/s", bandwidth) at low * 1.6, bandwidth * low * 1.6 * 10 ** ((narrow ? 15 : 11) / decade_y) rotate by steep left tc rgb dim font little
set label 302 sprintf(narrow ? "fp32, %.0f" : "fp32 peak, %.1f TFLOP/s", peak) at high * 1.78, peak * 10 ** (-10 / decade_y) right tc rgb dim font little
set label 303 sprintf(narrow ? "fp16 tensor cores, %.0f" : "fp16 tensor cores, %.0f: not used here", tensor) at high * 1.78, tensor * 10 ** (9 / decade_y) right tc rgb dim font little
set label 304 sprintf("ridge %.1f", ridge) at ridge * 1.06, ymin * 10 ** (32 / decade_y) left tc rgb dim font little
set label 305 "memory-bound" at ridge / 1.1, ymin * 10 ** (15 / decade_y) right tc rgb dim font little
set label 306 "compute-bound" at ridge * 1.06, ymin * 10 ** (15 / decade_y) left tc rgb dim font little
set arrow 1 from ridge, ymin to ridge, peak nohead dt 3 lc rgb dim
set print $heights
do for [i = 1:K] { if (known(measured[i])) { print sprintf("%.9g\t%.9g\t%.9g\t%d", requested[i], footprint[i], measured[i], i) } }
if (heights == 0) { print "NaN\tNaN\tNaN\t1" }
unset print
if (heights > 0) {
	name_x = high * 1.8 * 1.05
	name_gap = 13
	do for [i = 1:K] {
		if (known(measured[i])) {
			ignore = name_line(sprintf("%s %.2g %%", word(kernels, i), roof_share(i)), measured[i], own(i))
		}
	}
	load 'plots/name_lines.gp'
}
lower(a, b) = a < b ? a : b
array numbers[K]
do for [i = 1:K] { numbers[i] = int(real("0x".substr(color(own(i)), 2, 7))) }
set samples 500
plot lower(tensor, bandwidth * x) with lines lc rgb dim lw 1.4 dt 2, \
     lower(peak, bandwidth * x) with lines lc rgb foreground lw 2.4, \
     $heights using 1:3:($2 - $1):(0):(numbers[int($4)]) with vectors nohead lw 3 lc rgb variable, \
     $heights using 1:3:(numbers[int($4)]) with points pt 6 ps 0.8 lc rgb variable, \
     $heights using 2:3:(numbers[int($4)]) with points pt 7 ps 0.8 lc rgb variable
eval fresh
# The strip: a row a kernel.
unset logscale y
eval edges(left, right, 52, 52 + strip)
set yrange [K + 0.7 : 0.3]
set format x "%g"
set xlabel narrow ? "FLOP/byte:  ○ requested  ● footprint" : "FLOP for each byte of global memory:  ○ requested   ● footprint"
set xrange [low / 1.8 : high * 1.8]
set print $strip
do for [i = 1:K] { print sprintf("%.9g\t%.9g\t%d", requested[i], footprint[i], i) }
unset print
# A name stands right of its bar where there is room, otherwise left of it.
gap = 10. / (right - left) * log10(high * 1.8 / (low / 1.8))
array crossed[K]
wide_as(i) = 10 ** (gap * 0.76 * strlen(said(i)))
is_within(x, first, last) = first < x && x < last
do for [i = 1:K] {
	room = (right - left) * (1 - log10(footprint[i] / (low / 1.8)) / log10(high * 1.8 / (low / 1.8)))
	if (room > 7.6 * strlen(said(i)) + 14) {
		set label 400 + i said(i) at footprint[i] * 10 ** gap, i left tc rgb text_color(own(i)) font little
		crossed[i] = is_within(ridge, footprint[i], footprint[i] * 10 ** gap * wide_as(i))
	} else { if ((right - left) - room - (right - left) * log10(footprint[i] / requested[i]) / log10(high * 1.8 / (low / 1.8)) < 7.6 * strlen(said(i))) {
		set label 400 + i said(i) at sqrt(requested[i] * footprint[i]), i - 0.45 center tc rgb text_color(own(i)) font little
		crossed[i] = 0
	} else {
		set label 400 + i said(i) at requested[i] / 10 ** gap, i right tc rgb text_color(own(i)) font little
		crossed[i] = is_within(ridge, requested[i] / 10 ** gap / wide_as(i), requested[i])
	} }
}
unset ytics
unset arrow 1
# The ridge, but for the rows where a name stands on it.
do for [i = 1:K] { if (!crossed[i]) { set arrow 100 + i from ridge, i - (i == 1 ? 0.7 : 0.5) to ridge, i + (i == K ? 0.7 : 0.5) nohead dt 3 lc rgb dim } }
plot $strip using 1:3:($2 - $1):(0):(numbers[int($3)]) with vectors nohead lw 4 lc rgb variable, \
     $strip using 1:3:(numbers[int($3)]) with points pt 7 ps 0.9 lc rgb background, \
     $strip using 1:3:(numbers[int($3)]) with points pt 6 ps 0.9 lw 1.6 lc rgb variable, \
     $strip using 2:3:(numbers[int($3)]) with points pt 7 ps 0.9 lc rgb variable
unset multiplot
load 'plots/say.gp'
