/*
 * What a split of the keys stores for the merge.
 */
#pragma once

#include "tile.cuh"

// o, m and l of one head; o is not divided by l, because the merge does that. A split without keys writes them, too.
template <int D>
__device__ void write_partial(struct row_state<D> row, struct decode a, struct partials partials, int split, int head)
{
	size_t at = (size_t)split * a.H + head;
	int lane = threadIdx.x % WARP;
	float l = warp_sum(row.l);
#pragma unroll
	for (int k = 0; k < D / WARP; k++)
		if (k * WARP + lane < a.d)
			partials.O[at * a.d + k * WARP + lane] = row.o[k];
	if (lane == 0) {
		partials.m[at] = row.m;
		partials.l[at] = l;
	}
}
