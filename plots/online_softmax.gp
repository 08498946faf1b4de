# Chapter 02: what the softmax kernels ask of HBM and how long they take, against the columns of a row.
# data: the TSV of a sweep of 02_online_softmax/online_softmax
load 'plots/theme.gp'
rows(kernel) = sprintf("< grep -v '^#' '%s' | awk -F'\\t' '$5 == \"%s\"'", data, kernel)
# A GPU counts nothing; then only the times are drawn.
counted = system(sprintf("awk -F'\t' '!/^#/ && $17 != \"NaN\" {print 1; exit}' '%s'", data)) eq '1'
stats rows("softmax_three_pass") using 3 name "C" nooutput
stats rows("softmax_three_pass") using 2 name "R" nooutput
if (counted) {
	stats rows("softmax_three_pass") using ($17 + $18) name "three" nooutput
	stats rows("softmax_online") using ($17 + $18) name "two" nooutput
	stats rows("softmax_online") using ($22 + $23) name "footprint" nooutput
	eval headline(sprintf("One pass less: %.0f %% fewer bytes requested, and the same HBM footprint", \
		100 * (1 - two_max / three_max)))
} else {
	eval headline(sprintf("The softmax of %d rows, in three passes, two and one", R_max))
}
eval provenance(made_by(data))
set logscale xy
set xrange [C_min / 1.3 : C_max * 4.5] # room for the labels
set xtics (256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "64k" 65536)
set xlabel "columns of a row"
set multiplot
if (counted) {
	set lmargin at screen 0.12
	set rmargin at screen 0.48
	set ylabel sprintf("bytes, %d rows", R_max)
	set format y "%.0s %cB"
	set label 1 "three passes" at C_max * 1.25, three_max * 1.1 left tc rgb vermilion
	set label 2 "online" at C_max * 1.25, two_max left tc rgb purple
	set label 3 "footprint" at C_max * 1.25, footprint_max * 0.95 left tc rgb blue
	set label 4 "lines: 4RC, 3RC, 2RC elements" at graph 0.04, 0.95 left tc rgb dim font face.','.small
	plot (x <= C_max ? 16 * R_max * x : NaN) with lines lc rgb dim lw 1.4 dt 2, (x <= C_max ? 12 * R_max * x : NaN) with lines lc rgb dim lw 1.4 dt 2, \
	     (x <= C_max ? 8 * R_max * x : NaN) with lines lc rgb dim lw 1.4 dt 2, \
	     rows("softmax_three_pass") using 3:($17 + $18) with points lc rgb vermilion lw 2 pt 7 ps 1.1, \
	     rows("softmax_online") using 3:($17 + $18) with points lc rgb purple lw 2 pt 9 ps 1.2, \
	     rows("softmax_online") using 3:($22 + $23) with points lc rgb blue lw 2 pt 5 ps 1.1
	unset label 1
	unset label 2
	unset label 3
	unset label 4
}
set lmargin at screen (counted ? 0.60 : 0.12)
set rmargin at screen 0.97
set format y "%g"
kind = system(sprintf("grep -v '^#' '%s' | awk -F'\\t' 'NR == 1 {print $13}'", data))
set ylabel (kind eq 'measured-gpu' ? "ms on the GPU" : "ms on this CPU, plain build")
stats rows("softmax_three_pass") using 9 name "slow" nooutput
if (exists("slow_records") && slow_records > 0) {
	stats rows("softmax_online") using 9 name "mid" nooutput
	stats rows("softmax_dot") using 9 name "dot" nooutput
	set label 5 "three passes" at C_max * 1.25, slow_max left tc rgb vermilion
	set label 6 "online" at C_max * 1.25, mid_max left tc rgb purple
	set label 7 "dot, with V" at C_max * 1.25, dot_max left tc rgb green
	set label 8 "median, whiskers p10 to p90" at graph 0.04, 0.95 left tc rgb dim font face.','.small
	plot rows("softmax_three_pass") using 3:9:10:11 with yerrorbars lc rgb vermilion pt 7 ps 0.8 lw 1.5, \
	     rows("softmax_three_pass") using 3:9 with lines lc rgb vermilion lw 2, \
	     rows("softmax_online") using 3:9:10:11 with yerrorbars lc rgb purple pt 9 ps 0.8 lw 1.5, \
	     rows("softmax_online") using 3:9 with lines lc rgb purple lw 2, \
	     rows("softmax_dot") using 3:9:10:11 with yerrorbars lc rgb green pt 5 ps 0.8 lw 1.5, \
	     rows("softmax_dot") using 3:9 with lines lc rgb green lw 2
}
unset multiplot
