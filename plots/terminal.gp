# Two of the pictures, of a GPU's data three, in a terminal of 80 columns: plain characters, so a script of its own.
# data: a directory with 01_naive.tsv, 04_fa1.tsv and 05_fa2.tsv
set terminal dumb size 79,20 mono
set encoding utf8
load 'plots/data.gp'
where = 'dim=64 causal=0'
load tables('01_naive 04_fa1 05_fa2')
folded(text) = strlen(text) <= 79 ? text : text[1:break_at(text, 79)]."\n".folded(text[break_at(text, 79) + 1:])
set print "-"
print folded(made_by('fa2_row'))
print "d = 64, no mask. Pictures to look at: make plots."
set logscale xy
set xtics (128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set autoscale xfix
set key top left Left reverse
set tics nomirror
set border 3
if (known(last_of('fa2_row', 'footprint'))) {
	set format y "%.0s %cB"
	set title "Bytes of global memory, a head, against N"
	plot rows(data, 'naive', 'seq per_head*footprint') with linespoints pt "n" title "n  naive, footprint", \
	     rows(data, 'fa1_paper', 'seq per_head*requested') with linespoints pt "1" title "1  fa1_paper, requested", \
	     rows(data, 'fa2_split_q', 'seq per_head*requested') with linespoints pt "2" title "2  fa2_split_q, requested"
}
set format y "%.0s %cB"
set title "device memory of a head against N"
plot rows(data, 'naive', 'seq per_head*peak_bytes') with linespoints pt "n" title "n  naive", \
     rows(data, 'fa2_row', 'seq per_head*peak_bytes') with linespoints pt "2" title "2  FA1, FA2"
if (known(last_of('fa2_row', 'median_ms'))) {
	set format y "%g"
	set title "ms on the GPU against N"
	plot rows(data, 'naive', 'seq median_ms') with linespoints pt "n" title "n  naive", \
	     rows(data, 'fa1_paper', 'seq median_ms') with linespoints pt "1" title "1  fa1_paper", \
	     rows(data, 'fa2_row', 'seq median_ms') with linespoints pt "r" title "r  fa2_row", \
	     rows(data, 'fa2_split_q', 'seq median_ms') with linespoints pt "2" title "2  fa2_split_q"
}
