# Chapter 03: what the five products ask for, and what leaves the SM, against the size of square matrices.
# data: the TSV of a sweep of 03_tiled_matmul/tiled_matmul
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$4 == \"matmul_%s\"'", data, kernel)
stats rows("naive") using 1 name "n" nooutput
# A GPU counts nothing; then the times are drawn instead.
counted = system(sprintf("awk -F'\t' '!/^#/ && $16 != \"NaN\" {print 1; exit}' '%s'", data)) eq '1'
if (counted) {
	stats rows("naive") using ($16 + $17) name "naive" nooutput
	stats rows("tiled") using ($16 + $17) name "tiled" nooutput
	stats rows("registers") using ($16 + $17) name "registers" nooutput
	stats rows("naive") using (32 * ($19 + $20)) name "strided" nooutput
	stats rows("coalesced") using (32 * ($19 + $20)) name "coalesced" nooutput
	stats rows("tiled") using (32 * ($19 + $20)) name "tiledsectors" nooutput
	stats rows("registers") using (32 * ($19 + $20)) name "registersectors" nooutput
	eval headline(sprintf("At n = %d tiles in shared memory cut HBM requests %.0f-fold, register tiles %.0f-fold", n_max, \
		naive_max / tiled_max, naive_max / registers_max))
} else {
	eval headline("Five matrix products, each with one thing changed: time")
}
eval provenance(made_by(data))
set logscale xy
set xrange [n_min / 1.2 : n_max * 3.6] # room for the labels
set xtics (64, 128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096)
set xlabel "m = n = k"
if (counted) {
	set format y "%.0s %cB"
	set yrange [0.5 * registers_min : 4 * strided_max]
	set multiplot
	set lmargin at screen 0.12
	set rmargin at screen 0.48
	set ylabel "bytes requested"
	ceiling(x, tile) = ceil(x / tile)
	set label 1 "naive\ncoalesced" at n_max * 1.15, naive_max left tc rgb vermilion
	set label 2 "tiled\npadded" at n_max * 1.15, tiled_max * 1.3 left tc rgb blue
	set label 3 "registers" at n_max * 1.15, registers_max left tc rgb green
	set label 4 "lines: the closed forms" at graph 0.04, 0.95 left tc rgb dim font face.','.small
	set samples 600
	up(x) = x <= n_max ? x : NaN
	plot 4 * (2 * up(x) ** 3 + x ** 2) with lines lc rgb dim lw 1.4 dt 2, \
	     4 * (2 * up(x) ** 2 * ceiling(x, 32.) + x ** 2) with lines lc rgb dim lw 1.4 dt 2, \
	     4 * (2 * up(x) ** 2 * ceiling(x, 128.) + x ** 2) with lines lc rgb dim lw 1.4 dt 2, \
	     rows("naive") using 1:($16 + $17) with points lc rgb vermilion lw 2 pt 7 ps 1.1, \
	     rows("tiled") using 1:($16 + $17) with points lc rgb blue lw 2 pt 5 ps 1.1, \
	     rows("registers") using 1:($16 + $17) with points lc rgb green lw 2 pt 9 ps 1.3
	unset label 1
	unset label 2
	unset label 3
	unset label 4
	set lmargin at screen 0.61
	set rmargin at screen 0.97
	set ylabel "bytes in sectors of 32"
	set label 5 "naive" at n_max * 1.15, strided_max left tc rgb vermilion
	set label 6 "coalesced" at n_max * 1.15, coalesced_max left tc rgb orange
	set label 7 "tiled\npadded" at n_max * 1.15, tiledsectors_max * 1.5 left tc rgb blue
	set label 8 "registers" at n_max * 1.15, registersectors_max * 0.9 left tc rgb green
	plot rows("naive") using 1:(32 * ($19 + $20)) with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
	     rows("coalesced") using 1:(32 * ($19 + $20)) with linespoints lc rgb orange lw 2 pt 13 ps 1.2, \
	     rows("tiled") using 1:(32 * ($19 + $20)) with linespoints lc rgb blue lw 2 pt 5 ps 1, \
	     rows("registers") using 1:(32 * ($19 + $20)) with linespoints lc rgb green lw 2 pt 9 ps 1.2
	unset multiplot
} else {
	set lmargin at screen 0.12
	set rmargin at screen 0.97
	set ylabel "ms, median"
	do for [kernel in "naive coalesced tiled padded registers"] {
		stats rows(kernel) using 8 name kernel nooutput
	}
	set label 1 "naive" at n_max * 1.15, naive_max left tc rgb vermilion
	set label 2 "coalesced" at n_max * 1.15, coalesced_max left tc rgb orange
	set label 3 "tiled," at n_max * 1.15, tiled_max left tc rgb blue
	set label 4 "padded" at n_max * 1.45, padded_max left tc rgb purple
	set label 5 "registers" at n_max * 1.15, registers_max left tc rgb green
	stats rows("registers") using 13 name "bound" nooutput
	set label 6 "floor" at n_max * 1.15, bound_max left tc rgb dim
	plot rows("naive") using 1:8 with linespoints lc rgb vermilion lw 2 pt 7, \
	     rows("coalesced") using 1:8 with linespoints lc rgb orange lw 2 pt 13, \
	     rows("tiled") using 1:8 with linespoints lc rgb blue lw 2 pt 5, \
	     rows("padded") using 1:8 with linespoints lc rgb purple lw 2 pt 4, \
	     rows("registers") using 1:8 with linespoints lc rgb green lw 2 pt 9, \
	     rows("registers") using 1:13 with lines lc rgb dim lw 1.4 dt 2
}
