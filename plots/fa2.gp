# Chapter 05: what FlashAttention-2 asks of HBM beside FlashAttention-1 at the same tiles, and how long it takes.
# data: the TSV of a sweep of 05_fa2/fa2
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$8 == \"%s\"'", data, kernel)
T = 128
stats rows("fa2_row") using 1 name "N" nooutput
stats rows("fa2_row") using 2 name "d" nooutput
stats rows("fa2_row") using ($3 * $4) name "heads" nooutput
stats rows("fa2_split_q") using ($20 + $21) name "split" nooutput
naive_bytes(N) = 4 * heads_max * (4 * N * N + 4 * N * d_max)
fa1_bytes(N) = 4 * heads_max * N * d_max * (3 * ceil(N / T) + 1)
eval headline(sprintf("At N = %d the swapped loops ask HBM for %.0f %% less than FA1 at equal tiles", N_max, \
	100 * (1 - split_max / fa1_bytes(N_max))))
eval provenance(made_by(data))
set logscale xy
set xrange [N_min / 1.3 : N_max * 1.3]
set xtics (128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set xlabel "sequence length N (tokens)"
set samples 2000
set multiplot
set lmargin at screen 0.10
set rmargin at screen 0.48
set ylabel "HBM bytes, requested"
set format y "%.0s %cB"
set yrange [split_min / 2 : naive_bytes(N_max) * 3]
set label 1 "naive, footprint: 4N² + 4Nd" at N_max, naive_bytes(N_max) * 1.7 right tc rgb dim
set label 2 "FA1, 128 x 128: (3T + 1)Nd" at N_max * 1.2, split_min * 1.5 right tc rgb vermilion
set label 3 "FA2: (2T + 2)Nd" at N_max * 1.2, split_min * 0.9 right tc rgb blue
plot naive_bytes(x) with lines lc rgb dim lw 1.4 dt 2, \
     rows("fa2_split_q") using 1:(fa1_bytes($1)) with linespoints lc rgb vermilion lw 2 pt 6 ps 1 dt 2, \
     rows("fa2_split_q") using 1:($20 + $21) with linespoints lc rgb blue lw 2 pt 5 ps 1.1
unset label
set lmargin at screen 0.60
set rmargin at screen 0.97
set format y "%g"
unset yrange
set autoscale y
stats rows("fa2_row") using 12 name "time" nooutput
kind = system(sprintf("grep -v '^#' '%s' | awk -F'\\t' 'NR == 1 {print $16}'", data))
set ylabel (kind eq 'measured-gpu' ? "ms on the GPU" : "ms on this CPU, plain build")
if (exists("time_max") && time_records > 0) {
	stats rows("fa2_split_q") using 12 name "split_time" nooutput
	set label 4 "fa2\\_row" at N_max / 1.6, time_max right tc rgb green
		set label 5 "fa2\\_split\\_q" at N_max * 1.2, split_time_max / 5 right tc rgb blue
	set label 6 "median, whiskers p10 to p90" at N_max, split_time_min right tc rgb dim font face.','.small
	plot rows("fa2_row") using 1:12:13:14 with yerrorbars lc rgb green pt 7 ps 1 lw 1.5, \
	     rows("fa2_row") using 1:12 with lines lc rgb green lw 2, \
	     rows("fa2_split_q") using 1:12:13:14 with yerrorbars lc rgb blue pt 5 ps 1 lw 1.5, \
	     rows("fa2_split_q") using 1:12 with lines lc rgb blue lw 2
}
unset multiplot
