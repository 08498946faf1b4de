# Chapter 06: what three backward passes move through HBM, and how long they take, against the sequence length.
# data: the TSV of a sweep of 06_backward/backward
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$8 == \"backward_%s\"'", data, kernel)
stats rows("naive") using 1 name "N" nooutput
stats rows("naive") using 2 name "d" nooutput
stats rows("naive") using ($25 + $26) name "naive" nooutput
stats rows("split") using ($25 + $26) name "split" nooutput
stats rows("atomic") using ($25 + $26) name "atomic" nooutput
stats rows("split") using 3 name "batch" nooutput
stats rows("split") using 4 name "heads" nooutput
problems = batch_max * heads_max
eval headline(sprintf("At N = %d, d = %d, recomputing P cuts the backward's HBM footprint by %.0f %%", N_max, d_max, \
	100 * (1 - split_max / naive_max)))
eval provenance(made_by(data))
set logscale xy
set xrange [N_min / 1.3 : N_max * 1.3]
set xtics (64, 128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set xlabel "sequence length N (tokens)"
set multiplot
set lmargin at screen 0.10
set rmargin at screen 0.48
set ylabel "HBM footprint, bytes"
set yrange [atomic_min / 3 : naive_max * 1.7]
set format y "%.0s %cB"
set label 1 "naive: 8N² + 10Nd" at N_max * 0.75, naive_max right tc rgb vermilion
set label 2 "split: 13Nd" at N_max * 1.25, split_max * 1.65 right tc rgb blue
set label 3 "atomic: 10Nd" at N_max * 1.25, atomic_max * 0.42 right tc rgb green
set label 4 "points: counted; lines: the formula, elements" at N_max * 1.25, atomic_min / 2.5 right tc rgb dim font face.','.small
plot 4 * problems * (8 * x * x + 10 * x * d_max) with lines lc rgb vermilion lw 1.4 dt 2, \
     4 * problems * 13 * x * d_max with lines lc rgb blue lw 1.4 dt 2, \
     4 * problems * 10 * x * d_max with lines lc rgb green lw 1.4 dt 2, \
     rows("naive") using 1:($25 + $26) with points lc rgb vermilion pt 7 ps 1.1, \
     rows("split") using 1:($25 + $26) with points lc rgb blue pt 5 ps 1.1, \
     rows("atomic") using 1:($25 + $26) with points lc rgb green pt 9 ps 1.2
unset label 1
unset label 2
unset label 3
unset label 4
set lmargin at screen 0.60
set rmargin at screen 0.97
set format y "%g"
set yrange [*:*]
stats rows("naive") using 12 name "time" nooutput
stats rows("split") using 12 name "split_time" nooutput
stats rows("atomic") using 12 name "atomic_time" nooutput
kind = system(sprintf("grep -v '^#' '%s' | awk -F'\\t' 'NR == 1 {print $16}'", data))
set ylabel (kind eq 'measured-gpu' ? "ms on the GPU" : "ms on this CPU, plain build")
if (exists("time_max") && time_records > 0) {
	# Names at the ends of the lines, moved apart a little.
	set xrange [N_min / 1.3 : N_max * 2.2]
	set label 5 "naive" at N_max * 1.15, time_max * 1.2 left tc rgb vermilion
	set label 6 "split" at N_max * 1.15, split_time_max left tc rgb blue
	set label 7 "atomic" at N_max * 1.15, atomic_time_max / 1.2 left tc rgb green
	set label 8 "median, whiskers p10 to p90" at N_max * 2.1, atomic_time_min right tc rgb dim font face.','.small
	plot rows("naive") using 1:12:13:14 with yerrorbars lc rgb vermilion pt 7 ps 1 lw 1.5, \
	     rows("naive") using 1:12 with lines lc rgb vermilion lw 2, \
	     rows("split") using 1:12:13:14 with yerrorbars lc rgb blue pt 5 ps 1 lw 1.5, \
	     rows("split") using 1:12 with lines lc rgb blue lw 2, \
	     rows("atomic") using 1:12:13:14 with yerrorbars lc rgb green pt 9 ps 1 lw 1.5, \
	     rows("atomic") using 1:12 with lines lc rgb green lw 2
}
unset multiplot
