# What other sites show beside a link to this one, 1200 × 630 as PNG: the bytes of naive attention, each counted once, and
# those that FlashAttention-2 requests. Not a picture of a page: words are as large as a small card needs.
# data: a directory with 01_naive.tsv and 05_fa2.tsv
height = 420
load 'plots/theme.gp'
naive = '01_naive'; fa2 = '05_fa2'
where = 'dim=64 causal=0'
load tables(naive.' '.fa2)
N = at_most(last_of('naive', 'seq'), last_of('fa2_row', 'seq'))
all = here('naive', 'footprint'); some = here('fa2_split_q', 'requested')
eval headline(sprintf("FlashAttention-2 requests %.1f times fewer bytes than naive attention's footprint", all / some))
eval provenance(source('fa2_row'))
eval description("Two bars.")
unset label
unset tics
unset border
set margins 0, 0, 0, 0
set xrange [0 : width]
set yrange [height : 0]
large(size) = sprintf('%s:Bold,%d', face, size)
set label 1 "FlashAttention, one idea at a time" at 50, 62 left tc rgb foreground font large(27)
set label 2 "Ten small programs in C and CUDA C. No GPU needed." at 50, 104 left tc rgb dim font face.',18'
set object 1 rectangle from 50, 160 to 750, 206 fc rgb color('naive') fs solid noborder
set object 2 rectangle from 50, 236 to 50 + 700. * some / all, 282 fc rgb color('fa2_split_q') fs solid noborder
set label 3 "naive attention" at 66, 183 left tc rgb background font large(18) front
set label 4 "FlashAttention-2" at 70 + 700. * some / all, 259 left tc rgb foreground font large(18)
set label 5 sprintf("%.1f× fewer bytes", all / some) at 50, 348 left tc rgb foreground font large(38)
set label 6 sprintf("requested, beside naive's footprint: each byte counted once; N = %d, d = %d", N, last_of('naive', 'dim')) at 50, 392 left tc rgb dim font face.',14'
plot NaN notitle
load 'plots/say.gp'
