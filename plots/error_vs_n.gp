# The largest error of each kernel as a share of its tolerance, against N. No mask.
# data: a directory with 01_naive.tsv, 04_fa1.tsv, 05_fa2.tsv and 06_backward.tsv
load 'plots/theme.gp'
naive = data.'/01_naive.tsv'; fa1 = data.'/04_fa1.tsv'; fa2 = data.'/05_fa2.tsv'; backward = data.'/06_backward.tsv'
where = 'dim=64 causal=0'
d = last_of(fa2, 'fa2_row', 'dim')
# The worst of all kernels and lengths of the picture.
worst(column) = real(system(sprintf("for f in '%s' '%s' '%s' '%s'; do LC_ALL=C awk -f plots/rows.awk -v where='%s' -v columns='%s' \"$f\"; done | sort -g | tail -n 1", naive, fa1, fa2, backward, where, column)))
least(column) = real(system(sprintf("for f in '%s' '%s' '%s' '%s'; do LC_ALL=C awk -f plots/rows.awk -v where='%s' -v columns='%s' \"$f\"; done | sort -g | head -n 1", naive, fa1, fa2, backward, where, column)))
eval headline(sprintf("No kernel uses more than %.1f %% of its tolerance; no error is larger than %s", 100 * worst('error_share'), small_number(worst('max_abs'))))
eval provenance(sprintf("Against attention in double precision, random input, d = %d, no mask. Of each kernel the output that is worst for its tolerance. %s", d, source(fa2)))
eval description("The tolerance is derived from the arithmetic and grows with N; errors hardly do. In chapter 06 the worst output is L of the forward that all three kernels share.")
Nmin = at_most(first_of(naive, 'naive', 'seq'), first_of(backward, 'backward_split', 'seq'))
Nmax = at_least(last_of(naive, 'naive', 'seq'), last_of(fa2, 'fa2_row', 'seq'))
ymin = 100 * least('error_share') / 1.6
ymax = 250
eval panel(80, 610, 60, height - 75)
eval set_lengths
set logscale y
set xrange [Nmin / 1.15 : Nmax * 1.15]
set yrange [ymin : ymax]
set ylabel "largest error, % of the tolerance"
set format y "%g"
set label 301 "tolerance: above this line a kernel fails" at Nmin, 130 left tc rgb dim font little
name_x = Nmax * 1.22
ends(file, kernel) = 100 * last_of(file, kernel, 'error_share')
ignore = name_line('naive (01)', ends(naive, 'naive'), vermilion_text)
ignore = name_line('fa1_paper (04)', ends(fa1, 'fa1_paper'), orange_text)
ignore = name_line('fa1_row (04)', ends(fa1, 'fa1_row'), purple_text)
ignore = name_line('fa1_row_dynamic (04)', ends(fa1, 'fa1_row_dynamic'), dim)
ignore = name_line('fa2_row (05)', ends(fa2, 'fa2_row'), green_text)
ignore = name_line('fa2_split_q (05)', ends(fa2, 'fa2_split_q'), blue_text)
ignore = name_line('the three of 06', ends(backward, 'backward_split'), foreground)
load 'plots/name_lines.gp'
share = 'seq 100*error_share'
plot 100 with lines lc rgb dim lw 1.4 dt 2, \
     rows(naive, 'naive', share) with linespoints lc rgb vermilion lw 2 pt 7 ps 1, \
     rows(fa1, 'fa1_paper', share) with linespoints lc rgb orange lw 2 pt 13 ps 1.2, \
     rows(fa1, 'fa1_row', share) with linespoints lc rgb purple lw 2 pt 10 ps 1.8, \
     rows(fa1, 'fa1_row_dynamic', share) with linespoints lc rgb dim lw 1.5 dt 2 pt 6 ps 1.4, \
     rows(fa2, 'fa2_row', share) with linespoints lc rgb green lw 2 pt 9 ps 1, \
     rows(fa2, 'fa2_split_q', share) with linespoints lc rgb blue lw 2 pt 5 ps 1, \
     rows(backward, 'backward_naive', share) with points lc rgb foreground pt 2 ps 1.2, \
     rows(backward, 'backward_atomic', share) with points lc rgb foreground pt 1 ps 1.5, \
     rows(backward, 'backward_split', share) with linespoints lc rgb foreground lw 1.2 dt 4 pt 1 ps 1
load 'plots/say.gp'
