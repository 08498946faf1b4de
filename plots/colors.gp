# One color and one point per kernel, in every picture: kernel=color=point. A kernel that is not here is gray, with a
# hollow point: pictures draw it, and its name stands beside it.
kernel_table = "copy=blue=5 copy_strided=vermilion=7 copy_float4=green=9 transpose=orange=13 transpose_padded=purple=11 \
sum=vermilion=6 sum_shuffle=blue=4 naive=vermilion=7 \
softmax_three_pass=vermilion=7 softmax_online=purple=9 softmax_dot=green=5 \
matmul_naive=vermilion=7 matmul_coalesced=orange=13 matmul_tiled=blue=5 matmul_padded=purple=11 matmul_registers=green=9 \
fa1_paper=orange=13 fa1_row=purple=11 \
fa2_row=green=9 fa2_tile=purple=10 fa2_slab=orange=12 fa2_split_q=blue=5 \
backward_naive=purple=11 backward_split=green=9 backward_atomic=black=8 \
permuted=orange=13 strided=blue=5 decode_naive=vermilion=7 decode_grouped=orange=13 decode_split=blue=5 decode_paged=green=9 \
forward=blue=5 dkdv=green=9 dq=orange=13 decode=purple=11"
field(text, n) = n == 1 ? before(text, '=') : field(after(text, '='), n - 1)
found(kernel, i) = i < 1 ? kernel.'=gray=6' : field(word(kernel_table, i), 1) eq kernel ? word(kernel_table, i) : found(kernel, i - 1)
of_table(kernel, n) = field(found(kernel, words(kernel_table)), n)
named(name) = name eq 'vermilion' ? vermilion : name eq 'orange' ? orange : name eq 'purple' ? purple \
	: name eq 'green' ? green : name eq 'blue' ? blue : name eq 'black' ? foreground : dim
named_text(name) = name eq 'vermilion' ? vermilion_text : name eq 'orange' ? orange_text : name eq 'purple' ? purple_text \
	: name eq 'green' ? green_text : name eq 'blue' ? blue_text : name eq 'black' ? foreground : dim
color(kernel) = named(of_table(kernel, 2))
text_colour(kernel) = named_text(of_table(kernel, 2))
point(kernel) = int(of_table(kernel, 3))
