/*
 * The second kernel of decode_split and decode_paged: chapter 02's merge of (m, l), with O. It has the form of attention over
 * splits instead of keys: m takes the place of a score, O that of a value. One warp per head of queries, 32 splits at a time.
 */
#include "tile.cuh"

template <int D>
__global__ void merge_splits(struct partials partials, float *O, int d)
{
	int head = blockIdx.x, H = gridDim.x, lane = threadIdx.x;
	struct row_state<D> row;
	for (int first = 0; first < partials.S; first += WARP) {
		int splits = min(WARP, partials.S - first);
		size_t index = (size_t)(first + lane) * H + head; // a lane has a split
		// task 08.merge: m, l and the weight of 32 splits; those without keys have m = -inf
		float m = lane < splits ? partials.m[index] : -INFINITY, l = lane < splits ? partials.l[index] : 0.0f;
		float m_new = fmaxf(row.m, warp_max(m));
		// Without a key so far both are -inf, and their difference would be NaN.
		float correction = row.m == -INFINITY ? 0.0f : expf(row.m - m_new);
		float weight = m == -INFINITY ? 0.0f : expf(m - m_new);
		row.m = m_new;
		row.l = row.l * correction + l * weight;
		// end 08.merge
#pragma unroll
		for (int k = 0; k < D / WARP; k++)
			row.o[k] *= correction;
		for (int s = 0; s < splits; s++) {
			const float *partial = partials.O + ((size_t)(first + s) * H + head) * d;
			float of_split = __shfl_sync(EVERY_LANE, weight, s);
#pragma unroll
			for (int k = 0; k < D / WARP; k++)
				if (k * WARP + lane < d)
					row.o[k] += of_split * partial[k * WARP + lane];
		}
	}
	write_output<D>(row, d, O + head * d);
}

extern "C" cudaError_t launch_merge(struct partials partials, float *O, int H, int d)
{
	if (partials.S < 1 || H < 1 || d < 1 || d > MOST_HEAD_DIM)
		return cudaErrorInvalidValue;
	auto *kernel = d <= 32   ? merge_splits<32>
	               : d <= 64 ? merge_splits<64>
	               : d <= 96 ? merge_splits<96>
	                         : merge_splits<128>;
	kernel<<<H, WARP>>>(partials, O, d);
	return cudaGetLastError();
}
