/*
 * Chapter 08, beside the ladder: decode_modified. New since split.cu: what models do to scores (modified.h). The splits
 * share the keys that the query sees, so no other key is read and no score is masked; `modify` changes each score; and
 * the first split begins with the sink. The merge is the same.
 *
 * Build and run: make, then ./decode --window 256. Honestly: with a narrow window the partials are more bytes than the keys.
 */
#include "modified.h"
#include "split.cuh"

// The slope of ALiBi in head h: 2^(-8 (h + 1) / H).
__device__ inline float slope_of(struct scores scores, int h, int H)
{
	return scores.alibi ? exp2f(-8.0f * (h + 1) / H) : 0.0f;
}

// Modifies s = scale q.k. Lanes without a key keep -inf: capped, it would become c tanh(-inf) = -c, and have a weight.
__device__ inline float modify(struct scores scores, float slope, float s, int distance)
{
	if (scores.softcap > 0.0f)
		s = scores.softcap * tanhf(s / scores.softcap);
	return s - slope * distance;
}

template <int D>
__global__ void decode_modified(struct decode a, struct partials partials, struct scores scores)
{
	extern __shared__ float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int kv_head = blockIdx.x, head = kv_head * (a.H / a.G) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
	int split = blockIdx.y;
	const float *K = a.K + kv_head * a.head, *V = a.V + kv_head * a.head;
	float slope = slope_of(scores, head, a.H);

	// The sink is treated as one more key, without a value: one split has it, and in that split one lane.
	if (scores.sink && split == 0) {
		row.m = scores.sink[head];
		row.l = lane == 0 ? 1.0f : 0.0f;
	}
	int first_seen = scores.window ? max(0, a.n - scores.window) : 0;
	size_t seen = a.n - first_seen; // 64 bits: (split + 1) seen may be more than 2^31
	int begin = first_seen + (int)(split * seen / partials.S);
	int end = first_seen + (int)((split + 1) * seen / partials.S);
	load_query<D>(a.Q + head * a.d, a.d, tile.q);
	for (int first = begin; first < end; first += TILE) {
		int keys = min(TILE, end - first);
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + first * a.row, a.row, keys, a.d, tile.K, D + 1);
		load_tile<D>(V + first * a.row, a.row, keys, a.d, tile.V, D);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		float s = score<D>(tile, keys, a.scale);
		if (lane < keys)
			s = modify(scores, slope, s, a.n - 1 - (first + lane));
		weigh<D>(tile, keys, s, &row);
	}
	write_partial<D>(row, a, partials, split, head);
}

extern "C" cudaError_t launch_decode_modified(struct decode a, struct partials partials, struct scores scores)
{
	if (!is_usable_in_groups(a) || partials.S < 1 || partials.S > MOST_SPLITS || scores.window < 0)
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? decode_modified<32>
	               : a.d <= 64 ? decode_modified<64>
	               : a.d <= 96 ? decode_modified<96>
	                           : decode_modified<128>;
	size_t bytes = decode_shared_bytes(a.d, a.H / a.G);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<dim3(a.G, partials.S), a.H / a.G * WARP, bytes>>>(a, partials, scores);
	return cudaGetLastError();
}
