# Chapter 01: what naive attention moves through HBM, and how long it takes, against the sequence length.
# data: the TSV of a sweep of 01_naive/naive
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$6 == \"%s\"'", data, kernel)
stats rows("naive") using 1 name "N" nooutput
stats rows("naive") using ($23 + $24) name "footprint" nooutput
stats rows("naive") using ($18 + $19) name "requested" nooutput
stats rows("naive") using 2 name "d" nooutput
# Everything but 4 N d elements of 4 bytes is S and P.
eval headline(sprintf("At N = %d, %.0f %% of naive attention's HBM footprint is its N × N matrices", N_max, \
	100 * (1 - 16. * N_max * d_max / footprint_max)))
eval provenance(made_by(data))
set logscale xy
set xrange [N_min / 1.3 : N_max * 1.3]
set xtics (128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set xlabel "sequence length N (tokens)"
set multiplot
set lmargin at screen 0.10
set rmargin at screen 0.48
set ylabel "bytes"
set format y "%.0s %cB"
set label 1 "requested by the threads" at N_max, requested_max * 2.2 right tc rgb vermilion
set label 2 "footprint" at N_max * 1.2, footprint_max * 0.042 right tc rgb blue
set label 3 "line: 4N² + 4Nd elements" at N_max * 1.2, footprint_max * 0.021 right tc rgb dim font face.','.small
plot rows("naive") using 1:($18 + $19) with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
     4 * (4 * x * x + 4 * x * d_max) with lines lc rgb dim lw 1.4 dt 2, \
     rows("naive") using 1:($23 + $24) with points lc rgb blue lw 2 pt 5 ps 1.1
unset label
set lmargin at screen 0.60
set rmargin at screen 0.97
set format y "%g"
stats rows("naive") using 10 name "time" nooutput
kind = system(sprintf("grep -v '^#' '%s' | awk -F'\\t' 'NR == 1 {print $14}'", data))
set ylabel (kind eq 'measured-gpu' ? "ms on the GPU" : "ms on this CPU, plain build")
if (exists("time_max") && time_records > 0) {
	set label 4 "median, whiskers p10 to p90" at N_max, time_min right tc rgb dim font face.','.small
	plot rows("naive") using 1:10:11:12 with yerrorbars lc rgb vermilion pt 7 ps 1 lw 1.5, \
	     rows("naive") using 1:10 with lines lc rgb vermilion lw 2
}
unset multiplot
