# Three of the pictures in a terminal of 80 columns: plain characters, so a script of its own.
# data: a directory with 01_naive.tsv, 04_fa1.tsv and 05_fa2.tsv
set terminal dumb size 79,20 mono
set encoding utf8
rows(file, kernel, columns) = sprintf("< LC_ALL=C awk -f plots/rows.awk -v kernel=%s -v where='dim=64 causal=0' -v columns='%s' '%s/%s.tsv'", kernel, columns, data, file)
any(columns) = int(real(system(sprintf("LC_ALL=C awk -f plots/rows.awk -v kernel=fa2_row -v where='dim=64 causal=0' -v columns='%s' '%s/05_fa2.tsv' | grep -c . || true", columns, data)))) > 0
set print "-"
print system(sprintf("sed -n '1s/^# //p' '%s/05_fa2.tsv' | tr -d '\r' | fold -s -w 79", data))
print "d = 64, no mask. Pictures to look at: make plots."
gpu = system(sprintf("grep -c measured-gpu '%s/05_fa2.tsv' || true", data)) > 0
set logscale xy
set xtics (128, 256, 512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set autoscale xfix
set key top left Left reverse
set tics nomirror
set border 3
if (any('footprint')) {
	set format y "%.0s %cB"
	set title "Bytes of global memory, a head, against N"
	plot rows('01_naive', 'naive', 'seq per_head*footprint') with linespoints pt "n" title "n  naive, footprint", \
	     rows('04_fa1', 'fa1_paper', 'seq per_head*requested') with linespoints pt "1" title "1  fa1_paper, requested", \
	     rows('05_fa2', 'fa2_split_q', 'seq per_head*requested') with linespoints pt "2" title "2  fa2_split_q, requested"
}
set format y "%.0s %cB"
set title "device memory of a head against N"
plot rows('01_naive', 'naive', 'seq per_head*peak_bytes') with linespoints pt "n" title "n  naive", \
     rows('05_fa2', 'fa2_row', 'seq per_head*peak_bytes') with linespoints pt "2" title "2  FA1, FA2"
if (any('median_ms')) {
	set format y "%g"
	set title (gpu ? "ms on the GPU against N" : "ms on this CPU, plain build, against N")
	plot rows('01_naive', 'naive', 'seq median_ms') with linespoints pt "n" title "n  naive", \
	     rows('04_fa1', 'fa1_paper', 'seq median_ms') with linespoints pt "1" title "1  fa1_paper", \
	     rows('05_fa2', 'fa2_row', 'seq median_ms') with linespoints pt "r" title "r  fa2_row", \
	     rows('05_fa2', 'fa2_split_q', 'seq median_ms') with linespoints pt "2" title "2  fa2_split_q"
}
