# What attention looks like on real text: the probabilities of two heads, a window of characters.
# data: a directory with attention_map.tsv (make plots makes it: tools/attention_map)
height = 412; tall = 742
load 'plots/theme.gp'
map = data.'/attention_map.tsv'
head(h, columns) = printed(map, columns, sprintf("head=%d", h))
load table_of(map, 'head0', 'head=0')
load table_of(map, 'head1', 'head=1')
share = 50 * (last_of('head0', 'inside') + last_of('head1', 'inside'))
lo = first_of('head0', 'query'); hi = last_of('head0', 'query')
eval headline(sprintf("Real text: one head puts %.0f %% of its weight on spaces, another looks elsewhere", \
	100 * last_of('head0', 'spaces')))
eval provenance(sprintf("Second layer of a small character-level model, causal; tests/data/real_qkv. Computed in double precision. The headline is of all 512 characters, whose queries look %.1f and %.1f characters back; the keys shown have %.0f %% of the queries' weight. ␣ is a space, ↵ a line's end.", last_of('head0', 'distance'), last_of('head1', 'distance'), share))
eval description("Two heat-maps, a row a query and a column a key; what is above the diagonal is masked. Most of a row's weight lies on a few keys, different ones in each head: columns of spaces in one, of letters that begin a word in the other.")
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
set xlabel "key"
set multiplot
side = narrow ? 240. : 300.
top = height - header - 26.
eval edges(42, 42 + side, top - side, top)
set label 303 "query" at screen 12. / width, screen (top + 14.) / height left tc rgb foreground font little
set label 301 sprintf("head 0: spaces %.0f %%", 100 * last_of('head0', 'spaces')) at lo + 7, lo + 1 left tc rgb foreground
unset colorbox
plot head(0, 'key query probability') using 1:2:(0.5):(0.5):(shade($3)) with boxxyerror fc palette fs solid noborder
eval fresh
if (narrow) { eval edges(42, 42 + side, top - 2 * side - 40, top - side - 40) } else { eval edges(425, 425 + side, top - side, top) }
set label 301 sprintf("head 1: spaces %.0f %%", 100 * last_of('head1', 'spaces')) at lo + 7, lo + 1 left tc rgb foreground
if (narrow) {
	set colorbox horizontal user origin screen 92. / width, screen 26. / height size screen 180. / width, screen 10. / height
	set label 302 "weight" at screen 84. / width, screen 31. / height right tc rgb dim font little
} else {
	set colorbox user origin screen 750. / width, screen (top - side) / height size screen 10. / width, screen side * 1. / height
	set label 302 "weight" at screen 742. / width, screen (top + 12.) / height left tc rgb dim font little
}
set cbrange [0:1]
set xrange [lo - 0.5 : hi + 0.5]
set yrange [hi + 0.5 : lo - 0.5]
plot head(1, 'key query probability') using 1:2:(0.5):(0.5):(shade($3)) with boxxyerror fc palette fs solid noborder
unset multiplot
load 'plots/say.gp'
