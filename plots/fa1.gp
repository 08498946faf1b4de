# Chapter 04: what FlashAttention-1 moves through HBM and what it keeps there, against the sequence length.
# data: the TSV of a sweep of 04_fa1/fa1
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$8 == \"%s\"'", data, kernel)
stats rows("fa1_paper") using 1 name "N" nooutput
stats rows("fa1_paper") using ($20 + $21) name "paper" nooutput
stats rows("fa1_row") using ($20 + $21) name "row" nooutput
stats rows("fa1_paper") using 2 name "d" nooutput
stats rows("fa1_paper") using ($3 * $4) name "heads" nooutput
stats rows("fa1_paper") using 29 name "peak" nooutput
naive_bytes(N) = 4 * heads_max * (4 * N * N + 4 * N * d_max)
naive_peak(N) = 4 * heads_max * (2 * N * N + 4 * N * d_max)
eval headline(sprintf("At N = %d Algorithm 1 holds %.0f times less than naive and moves %.0f %% of its bytes", N_max, \
	naive_peak(N_max) / peak_max, 100 * paper_max / naive_bytes(N_max)))
eval provenance(made_by(data))
set logscale xy
set xrange [N_min / 1.3 : N_max * 1.3]
set xtics (128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set xlabel "sequence length N (tokens)"
set format y "%.0s %cB"
set multiplot
set lmargin at screen 0.10
set rmargin at screen 0.48
set ylabel "HBM bytes, requested"
set yrange [row_min / 2 : naive_bytes(N_max) * 3]
set label 1 "naive, footprint: 4N² + 4Nd" at N_max, naive_bytes(N_max) * 1.7 right tc rgb dim
set label 2 "fa1\\_paper: (3Tc + 1)Nd" at N_max * 1.2, row_min * 1.5 right tc rgb vermilion
set label 3 "fa1\\_row: 2Nd(1 + Tr)" at N_max * 1.2, row_min * 0.9 right tc rgb blue
plot naive_bytes(x) with lines lc rgb dim lw 1.4 dt 2, \
     rows("fa1_paper") using 1:($20 + $21) with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
     rows("fa1_row") using 1:($20 + $21) with linespoints lc rgb blue lw 2 pt 5 ps 1.1
unset label
set lmargin at screen 0.60
set rmargin at screen 0.97
set ylabel "device memory held at once"
set yrange [peak_min / 2 : naive_peak(N_max) * 3]
set label 4 "naive: quadratic" at N_max, naive_peak(N_max) * 1.7 right tc rgb dim
set label 5 "fa1\\_paper: linear" at N_max * 1.2, peak_max * 0.3 right tc rgb vermilion
plot naive_peak(x) with lines lc rgb dim lw 1.4 dt 2, \
     rows("fa1_paper") using 1:29 with linespoints lc rgb vermilion lw 2 pt 7 ps 1
unset multiplot
