# What nvcc makes of each kernel's main loop for sm_90: the shares of its instructions, by kind.
# data: plots/data/sass.tsv, which tools/sass makes of the chapters' tables
height = 900; tall = 1020
load 'plots/theme.gp'
where = 'arch=sm_90'
load tables('')
most = word(kernels, 1)
do for [kernel in kernels] { if (first_of(kernel, 'ffma') > first_of(most, 'ffma')) { most = kernel } }
eval headline(sprintf("%.0f %% of %s's instructions are multiply-adds, of the first matmul's %.0f %%", \
	first_of(most, 'ffma'), most, first_of('matmul_naive', 'ffma')))
eval provenance("Instructions of each kernel's main loop (of all of it where there is none), by kind; sm_90, D = 64. ".made_by(most))
eval description("FFMA is what attention needs; loads and stores feed it; integers are addresses and counters. These are shares of instructions, not of time: a load of shared memory may take several clocks.")
eval edges(narrow ? 176 : 190, narrow ? 334 : 765, 60, height - header - (narrow ? 62 : 20))
count = words(kernels)
set border 0
unset grid
unset ytics
set xrange [0 : 100]
set yrange [count + 0.3 : -1.1]
set xtics 0, (narrow ? 50 : 20), 100 format '%g %%'
set xlabel 'instructions of the loop'
kinds = 'ffma float shared global local control integer'
names_of_kinds = "FFMA|other float|shared|global|spills|control|integer"
if (theme eq 'dark') { integers = '#6e7681'; controls = '#b0b8c1' } else { integers = '#8c959f'; controls = '#4a525b' }
# Light edges between the parts: in each bar they stand in the order of the names, for those who do not see the colors.
array colors[7] = [blue, green, orange, vermilion, foreground, controls, integers]
array width_of_name[7] = [62, 94, 72, 68, 66, 76, 70]
part(text, n) = n > 1 ? part(after(text, '|'), n - 1) : before(text, '|')
at = narrow ? 12. : 190.; row_y = header + 8.
do for [k = 1:7] {
	if (narrow && at + width_of_name[k] > 330) { at = 12.; row_y = row_y + 17 }
	set object k rectangle from screen at / width, screen 1 - (row_y + 5) / height to screen (at + 12.) / width, screen 1 - (row_y - 5) / height \
		fc rgb colors[k] fs solid noborder
	set label 300 + k part(names_of_kinds, k) at screen (at + 16.) / width, screen 1 - row_y / height left tc rgb foreground font little
	at = at + width_of_name[k] + (narrow ? 22 : 16)
}
box = 10
do for [i = 1:count] {
	kernel = word(kernels, i)
	set label 400 + i sprintf("%02d %s", first_of(kernel, 'chapter'), kernel) at graph -0.01, first i - 1 right tc rgb foreground font little
	left = 0.
	do for [k = 1:7] {
		share = first_of(kernel, word(kinds, k))
		box = box + 1
		if (share > 0) {
			set object box rectangle from first left, first i - 1.38 to first left + share, first i - 0.62 \
				fc rgb colors[k] fs solid border lc rgb background lw 1
		}
		left = left + share
	}
}
plot NaN notitle
load 'plots/say.gp'
