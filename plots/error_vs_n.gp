# Errors as shares of their tolerance, a row for each kernel of the forward and the backward pass, a point for each N.
# data: a directory with 01_naive.tsv, 04_fa1.tsv, 05_fa2.tsv and 06_backward.tsv
height = 330; tall = 360
load 'plots/theme.gp'
files = '01_naive 04_fa1 05_fa2 06_backward'
# Of all kernels, lengths and outputs of these files, with mask and without.
worst = NaN
where = ''
load tables(files)
do for [kernel in kernels] { do for [share in cells(kernel, 'error_share')] { worst = at_least(worst, real(share)) } }
where = 'dim=64 causal=0'
load tables(files)
d = last_of('fa2_row', 'dim')
first_n = first_of('naive', 'seq'); last_n = last_of('naive', 'seq')
eval headline(sprintf("Exact to rounding: no attention kernel uses more than %.1f %% of its tolerance", 0.1 * ceil(1000 * worst)))
eval provenance(sprintf("Largest error of any element / its tolerance, beside double precision; standard normal input, d = %d, no mask. A point for each N, larger for longer ones. The headline: all shapes and masks. %s", d, source('fa2_row')))
eval description(sprintf("Each element has a tolerance derived from its arithmetic; 100 %% would be a wrong result. N from %d to %d.", first_n, last_n))
K = words(kernels)
eval edges(narrow ? 124 : 140, width - 20, 48, height - header - 8)
set border 1
set xrange [0 : known(worst) ? 100 * worst * 1.08 : 1]
set yrange [K + 0.6 : 0.4]
unset ytics
set xlabel narrow ? "% of the tolerance" : "largest error, % of the tolerance: above 100 % a kernel is wrong"
set print $points
print "NaN\t0\t0\t0"
do for [i = 1:K] {
	kernel = word(kernels, i)
	set label 400 + i kernel at screen (panel_left - 10.) / width, first i right tc rgb text_color(kernel) font little
	do for [n = 1:words(cells(kernel, 'seq'))] {
		if (known(number(cells(kernel, 'error_share'), n))) {
			print sprintf("%.9g\t%d\t%d\t%d", 100 * number(cells(kernel, 'error_share'), n), i, \
				int(real("0x".substr(color(kernel), 2, 7))), n)
		}
	}
}
unset print
plot $points using 1:2:((narrow ? 0.5 : 0.8) + 0.18 * $4):3 with points pt 7 ps variable lc rgb variable
load 'plots/say.gp'
