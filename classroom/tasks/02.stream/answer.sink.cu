struct partial own = {-INFINITY, 0.0f};
if (starts_row && threadIdx.x == 0) { // the sink, once per row: a single score, 0
	own.m = 0.0f;
	own.l = 1.0f;
}
for (int j = threadIdx.x; j < count; j += THREADS) {
	struct partial single = {scores[j], 1.0f};
	own = merge(own, single);
}
return merge_over_block(own, warps);
