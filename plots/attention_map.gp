# What attention looks like on real text: the probabilities of two heads, a window of 28 characters.
# data: a directory with attention_map.tsv (make plots makes it: plots/attention_map.c)
load 'plots/theme.gp'
map = data.'/attention_map.tsv'
head(h, columns) = printed(map, columns, sprintf("head=%d", h))
load table_of(map, 'head0', 'head=0')
load table_of(map, 'head1', 'head=1')
share = 50 * (last_of('head0', 'inside') + last_of('head1', 'inside'))
eval headline(sprintf("Real attention looks near: %.1f characters back in one head, %.1f in the other", last_of('head0', 'distance'), last_of('head1', 'distance')))
eval provenance(sprintf("Second layer of a small character-level model, causal; tests/data/real_qkv. Double reference; mean distance over all its 512 characters. %.0f %% of the weight of these queries lies on the keys shown; ␣ is a space, ↵ a line's end.", share))
eval description("Two heat-maps, a row a query and a column a key; what is above the diagonal is masked. Most of a row's weight lies on a few keys, different ones in each head: the same letter seen before, the start of the word, the letter before.")
lo = first_of('head0', 'query'); hi = last_of('head0', 'query')
set ytics () font little scale 0
set xtics () font little scale 0 offset 0,0.3
do for [i = 1:words(head0__query)] {
	position = number(head0__query, i)
	if (position == number(head0__key, i)) {
		set ytics add (head0__query_text[i] position)
		set xtics add (head0__key_text[i] position)
	}
}
unset grid
set border 0
if (theme eq 'dark') { set palette defined (0 '#0d1117', 0.5 '#1f5f8b', 1 '#9fd8ff') } else { set palette defined (0 '#ffffff', 0.5 '#6aaed6', 1 '#053061') }
# Areas of color in proportion to the root: small weights can be seen.
shade(p) = sqrt(p)
set cbrange [0:1]
set cbtics ("0" 0, ".05" shade(0.05), ".1" shade(0.1), ".25" shade(0.25), ".5" shade(0.5), "1" 1) font little textcolor rgb dim scale 0.4
set xrange [lo - 0.5 : hi + 0.5]
set yrange [hi + 0.5 : lo - 0.5]
set xlabel "key" offset 0,0.4
set multiplot
eval panel(58, 380, 62, 384)
set ylabel "query" offset 0,0
set label 301 "head 0" at lo + 15, lo + 2 left tc rgb foreground
unset colorbox
plot head(0, 'key query probability') using 1:2:(0.5):(0.5):(shade($3)) with boxxyerror fc palette fs solid noborder
eval fresh
unset ylabel
eval panel(420, 742, 62, 384)
set label 301 "head 1" at lo + 15, lo + 2 left tc rgb foreground
set colorbox user origin screen 757. / width, screen 62. / height size screen 10. / width, screen 322. / height
set label 302 "weight" at screen 746. / width, screen 400. / height left tc rgb dim font little
set cbrange [0:1]
set xrange [lo - 0.5 : hi + 0.5]
set yrange [hi + 0.5 : lo - 0.5]
plot head(1, 'key query probability') using 1:2:(0.5):(0.5):(shade($3)) with boxxyerror fc palette fs solid noborder
unset multiplot
load 'plots/say.gp'
