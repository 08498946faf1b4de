# The error of each kernel's worst element (relative to its tolerance) beside that tolerance, against N: O of the forward kernels, dQ of the backward ones.
# data: a directory with 01_naive.tsv, 04_fa1.tsv, 05_fa2.tsv and 06_backward.tsv
load 'plots/theme.gp'
naive = '01_naive'; fa1 = '04_fa1'; fa2 = '05_fa2'; backward = '06_backward'
files = naive.' '.fa1.' '.fa2.' '.backward
# Of all kernels, lengths and outputs of these files, with mask and without.
worst = NaN
where = ''
load tables(files)
do for [kernel in kernels] { do for [share in cells(kernel, 'error_share')] { worst = at_least(worst, real(share)) } }
where = 'dim=64 causal=0'
load tables(files)
least = NaN
do for [kernel in kernels] {
	do for [error in cells(kernel, 'max_abs_O').' '.cells(kernel, 'max_abs_dQ')] { least = at_most(least, real(error)) }
}
d = last_of('fa2_row', 'dim')
eval headline(sprintf("Exact to rounding: no attention kernel uses more than %.1f %% of its tolerance", 100 * worst))
eval provenance(sprintf("Against attention in double precision, standard normal input, d = %d, no mask. %s", d, source('fa2_row')))
eval description("Each element has a tolerance derived from its arithmetic; shown is the element nearest to its own, the dashed line is that element's tolerance in naive. The figure in the headline is of all outputs, shapes and masks that were measured.")
powers = "set format y \"%.0te%T\"; set ytics ('10⁻⁸' 1e-8, '10⁻⁷' 1e-7, '10⁻⁶' 1e-6, '10⁻⁵' 1e-5, '10⁻⁴' 1e-4, '10⁻³' 1e-3, '10⁻²' 1e-2)"
Nmin = first_of('naive', 'seq')
Nmax = at_least(last_of('naive', 'seq'), last_of('fa2_row', 'seq'))
set multiplot
eval panel(75, 290, 60, height - 90)
eval set_lengths
set logscale y
eval powers
set xrange [Nmin / xroom : Nmax * xroom]
ymin = 10 ** floor(log10(least)); ymax = at_least(1e-3, 2 * last_of('naive', 'tolerance_O'))
set yrange [ymin : ymax]
set ylabel "largest error of O"
name_x = Nmax * xroom * 1.06
set label 198 "forward, O" at graph 0.04, 0.95 left tc rgb foreground
ends(kernel) = last_of(kernel, 'max_abs_O')
ignore = name_line('tolerance', last_of('naive', 'tolerance_O'), dim)
ignore = name_line('naive (01)', ends('naive'), vermilion_text)
ignore = name_line('fa1_paper (04)', ends('fa1_paper'), orange_text)
ignore = name_line('fa1_row (04)', ends('fa1_row'), purple_text)
ignore = name_line('fa1_row_dyn. (04)', ends('fa1_row_dynamic'), dim)
ignore = name_line('fa2_row (05)', ends('fa2_row'), green_text)
ignore = name_line('fa2_split_q (05)', ends('fa2_split_q'), blue_text)
load 'plots/name_lines.gp'
of_o = 'seq max_abs_O'
plot rows(naive, 'naive', 'seq tolerance_O') with lines lc rgb dim lw 1.4 dt 2, \
     rows(naive, 'naive', of_o) with linespoints lc rgb vermilion lw 2 pt 7 ps 0.9, \
     rows(fa1, 'fa1_paper', of_o) with linespoints lc rgb orange lw 2 pt 13 ps 1.1, \
     rows(fa1, 'fa1_row', of_o) with linespoints lc rgb purple lw 2 pt 10 ps 1.5, \
     rows(fa1, 'fa1_row_dynamic', of_o) with linespoints lc rgb dim lw 1.5 dt 2 pt 6 ps 1.2, \
     rows(fa2, 'fa2_row', of_o) with linespoints lc rgb green lw 2 pt 9 ps 0.9, \
     rows(fa2, 'fa2_split_q', of_o) with linespoints lc rgb blue lw 2 pt 5 ps 0.9
eval fresh
eval set_lengths
set logscale y
eval powers
first_n = first_of('backward_split', 'seq'); last_n = last_of('backward_split', 'seq')
set xrange [first_n / xroom : last_n * xroom]
eval panel(490, 690, 60, height - 90)
ymax = at_least(ymax, 2 * last_of('backward_split', 'tolerance_dQ'))
set yrange [ymin : ymax]
set ylabel "largest error of dQ"
set label 198 "backward (06), dQ" at graph 0.04, 0.95 left tc rgb foreground
name_x = last_n * xroom * 1.06
ignore = name_line('tolerance', last_of('backward_split', 'tolerance_dQ'), dim)
ignore = name_line('naive', last_of('backward_naive', 'max_abs_dQ'), vermilion_text)
ignore = name_line('split', last_of('backward_split', 'max_abs_dQ'), blue_text)
ignore = name_line('atomic', last_of('backward_atomic', 'max_abs_dQ'), green_text)
load 'plots/name_lines.gp'
of_dq = 'seq max_abs_dQ'
plot rows(backward, 'backward_split', 'seq tolerance_dQ') with lines lc rgb dim lw 1.4 dt 2, \
     rows(backward, 'backward_naive', of_dq) with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
     rows(backward, 'backward_split', of_dq) with linespoints lc rgb blue lw 2 pt 5 ps 1, \
     rows(backward, 'backward_atomic', of_dq) with linespoints lc rgb green lw 2 pt 9 ps 1.1
unset multiplot
load 'plots/say.gp'
