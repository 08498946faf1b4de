# One color for a concept, in every picture; diagrams (tools/lib/diagrams/svg.py) and the explorer have the same. What is
# stored, read, output; naive attention, FlashAttention-1 and 2. The plain version of another kernel, a better one and the
# last one have the colors of these three.
# series=color=point; kernels of a file differ in their points. One that is not here is gray, with a hollow point: pictures
# draw it, and its name stands beside it. Without a point (0) it is a line.
series_table = "copy=fa2=5 copy_strided=naive=7 copy_float4=fa2=9 transpose=fa1=13 transpose_padded=fa2=11 \
sum=naive=6 sum_shuffle=fa2=4 naive=naive=7 \
softmax_three_pass=naive=7 softmax_online=fa1=9 softmax_dot=fa2=5 \
matmul_naive=naive=7 matmul_coalesced=naive=13 matmul_tiled=fa1=5 matmul_padded=fa1=11 matmul_registers=fa2=9 \
fa1_paper=fa1=13 fa1_row=fa1=11 \
fa2_row=fa2=9 fa2_tile=fa2=10 fa2_slab=fa2=12 fa2_split_q=fa2=5 \
backward_naive=naive=11 backward_split=fa2=9 backward_atomic=fa2=8 \
permuted=fa1=13 strided=fa2=5 decode_naive=naive=7 decode_grouped=fa1=13 decode_split=fa2=5 decode_paged=fa2=9 \
in_flight=fa2=13 lanes=fa2=11 swizzle=fa2=7 async=fa2=9 fa2_fp32=fa2=5 forward=fa2=5 dkdv=fa2=9 dq=fa1=13 decode=fa1=11 \
weights=read=0 cache=read=5 distinct_cache=read=9 activations=gray=0 least=gray=0 naive_line=naive=0 fa2_line=fa2=0"
field(text, n) = n == 1 ? before(text, '=') : field(after(text, '='), n - 1)
found(series, i) = i < 1 ? series.'=gray=6' : field(word(series_table, i), 1) eq series ? word(series_table, i) : found(series, i - 1)
of_table(series, n) = field(found(series, words(series_table)), n)
named(name) = name eq 'stored' ? vermilion : name eq 'read' ? blue : name eq 'output' ? green : name eq 'naive' ? foreground \
	: name eq 'fa1' ? orange : name eq 'fa2' ? purple : dim
named_text(name) = name eq 'stored' ? vermilion_text : name eq 'read' ? blue : name eq 'output' ? green_text : name eq 'naive' ? foreground \
	: name eq 'fa1' ? orange_text : name eq 'fa2' ? purple_text : dim
color(series) = named(of_table(series, 2))
text_color(series) = named_text(of_table(series, 2))
point(series) = int(of_table(series, 3))
