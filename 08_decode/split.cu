/*
 * New: the keys are split over blocks, because there is only one query. Each block stores m, l and an O that is not divided
 * yet; merge.cu computes the output from them. This costs a second launch; and per split, Q is read once, and the partials
 * are written once and read once. Up to S times as many SMs have work.
 */
#include "split.cuh"

template <int D>
__global__ __launch_bounds__(MOST_THREADS, 1) void decode_split(struct decode a, struct partials partials)
{
	extern __shared__ __align__(16) float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int kv_head = blockIdx.x, head = kv_head * (a.H / a.G) + threadIdx.x / WARP;
	int split = blockIdx.y;
	const float *K = a.K + kv_head * a.head, *V = a.V + kv_head * a.head;

	// task 08.split: the keys of this block; there may be none
	size_t n = a.n; // 64 bits: (split + 1) n may be more than 2^31
	int begin = (int)(split * n / partials.S), end = (int)((split + 1) * n / partials.S);
	// end 08.split
	load_query<D>(a.Q + head * a.d, a.d, tile.q);
	for (int first = begin; first < end; first += TILE) {
		int keys = min(TILE, end - first);
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + first * a.row, a.row, keys, a.d, tile.K, D + PAD);
		load_tile<D>(V + first * a.row, a.row, keys, a.d, tile.V, D);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		attend<D>(tile, keys, a.scale, &row);
	}
	write_partial<D>(row, a, partials, split, head);
}

extern "C" cudaError_t launch_decode_split(struct decode a, struct partials partials)
{
	if (!is_usable_in_groups(a) || partials.S < 1 || partials.S > MOST_SPLITS)
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? decode_split<32>
	               : a.d <= 64 ? decode_split<64>
	               : a.d <= 96 ? decode_split<96>
	                           : decode_split<128>;
	size_t bytes = decode_shared_bytes(a.d, a.H / a.G);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<dim3(a.G, partials.S), a.H / a.G * WARP, bytes>>>(a, partials);
	return cudaGetLastError();
}
