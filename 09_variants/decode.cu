/*
 * variant_decode: the last query of each sequence alone, its keys split over blocks; merge_splits joins the splits. New
 * since chapter 08's split.cu: the splits share the keys that the query sees, so no other key is read and no score is
 * masked; `modify` changes each score; the first split begins with the sink; and sequences are the grid's z. The merge is
 * the same.
 *
 * Build and run: make, then ./variants --kernel decode --window 256 --seq 4096. Limit: the partials grow with the
 * splits, not with the window: 44 splits of 5 or 6 keys request nearly as many other numbers as keys and values.
 */
#include "decode.cuh"

template <int D>
__global__ __launch_bounds__(MOST_THREADS, 1) void variant_decode(
	struct attention b, struct partials partials, struct scores a)
{
	extern __shared__ __align__(16) float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int kv_head = blockIdx.x, head = kv_head * (a.H / a.G) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
	int split = blockIdx.y, heads = gridDim.z * a.H; // of all sequences: for the merge, heads of one
	struct sequence sequence = sequence_of(a, blockIdx.z);
	size_t first_key = row_of(a, sequence, kv_head, a.G), query = row_of(a, sequence, head, a.H) + sequence.N - 1;
	const float *K = b.K + first_key * b.d, *V = b.V + first_key * b.d;
	float slope = slope_of(a, head);
	a.N = sequence.N;

	// The sink is treated as one more key, without a value: one split has it, and in that split one lane.
	if (a.sink && split == 0) {
		row.m = a.sink[head];
		row.l = lane == 0 ? 1.0f : 0.0f;
	}
	int first_seen = keys_of(a, a.N - 1).first;
	size_t seen = a.N - first_seen; // 64 bits: (split + 1) seen may be more than 2^31
	int begin = first_seen + (int)(split * seen / partials.S);
	int end = first_seen + (int)((split + 1) * seen / partials.S);
	load_query<D>(b.Q + query * b.d, b.d, tile.q);
	for (int first = begin; first < end; first += TILE) {
		int keys = min(TILE, end - first);
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + (size_t)first * b.d, b.d, keys, b.d, tile.K, D + PAD);
		load_tile<D>(V + (size_t)first * b.d, b.d, keys, b.d, tile.V, D);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		float s = score<D>(tile, keys, b.scale);
		if (lane < keys) // the others keep -inf: capped, it would be -c, and have a weight
			s = modify(a, slope, s, a.N - 1, first + lane);
		weigh<D>(tile, keys, s, &row);
	}
	write_partial<D>(row, b.d, partials, (size_t)split * heads + blockIdx.z * a.H + head);
}

// Chapter 08's merge of (m, l), with O: one warp per head of queries, 32 splits at a time.
template <int D>
__global__ void merge_splits(struct partials partials, float *O, int d)
{
	int head = blockIdx.x, H = gridDim.x, lane = threadIdx.x;
	struct row_state<D> row;
	for (int first = 0; first < partials.S; first += WARP) {
		int splits = min(WARP, partials.S - first);
		size_t index = (size_t)(first + lane) * H + head; // a lane has a split
		float m = lane < splits ? partials.m[index] : -INFINITY, l = lane < splits ? partials.l[index] : 0.0f;
		float m_new = fmaxf(row.m, warp_max(m));
		// Without a key so far both are -inf, and their difference would be NaN.
		float correction = row.m == -INFINITY ? 0.0f : expf(row.m - m_new);
		float weight = m == -INFINITY ? 0.0f : expf(m - m_new);
		row.m = m_new;
		row.l = row.l * correction + l * weight;
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

extern "C" size_t decode_shared_bytes(int d, int heads)
{
	int D = (d + WARP - 1) / WARP * WARP;
	return sizeof(float) * (TILE * (2 * D + PAD) + heads * D);
}

extern "C" cudaError_t launch_decode(struct attention b, struct scores a, struct partials partials)
{
	if (b.d < 1 || b.d > 128 || a.G < 1 || a.H % a.G != 0 || a.H / a.G > MOST_GROUP || partials.S < 1 ||
	    partials.S > MOST_SPLITS || a.sequences > MOST_SEQUENCES_OF_GRID)
		return cudaErrorInvalidValue;
	auto *kernel = b.d <= 32   ? variant_decode<32>
	               : b.d <= 64 ? variant_decode<64>
	               : b.d <= 96 ? variant_decode<96>
	                           : variant_decode<128>;
	auto *merge = b.d <= 32   ? merge_splits<32>
	              : b.d <= 64 ? merge_splits<64>
	              : b.d <= 96 ? merge_splits<96>
	                          : merge_splits<128>;
	size_t bytes = decode_shared_bytes(b.d, a.H / a.G);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<dim3(a.G, partials.S, a.sequences), a.H / a.G * WARP, bytes>>>(b, partials, a);
	status = cudaGetLastError();
	if (status != cudaSuccess)
		return status;
	merge<<<a.sequences * a.H, WARP>>>(partials, b.O, b.d);
	return cudaGetLastError();
}
