/*
 * New: the H / G heads that share keys and values share a block, one warp per head, so K and V are requested once. There are
 * even fewer blocks than before: at most G SMs have work. On an H200 it takes a fifth of decode_naive's time (README.md).
 */
#include "tile.cuh"

template <int D>
__global__ __launch_bounds__(MOST_THREADS, 1) void decode_grouped(struct decode a)
{
	extern __shared__ __align__(16) float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	// task 08.share: which head a warp has, and whose keys its block loads
	int kv_head = blockIdx.x, head = kv_head * (a.H / a.G) + threadIdx.x / WARP;
	const float *K = a.K + kv_head * a.head, *V = a.V + kv_head * a.head;
	// end 08.share

	load_query<D>(a.Q + head * a.d, a.d, tile.q);
	for (int first = 0; first < a.n; first += TILE) {
		int keys = min(TILE, a.n - first);
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + first * a.row, a.row, keys, a.d, tile.K, D + PAD);
		load_tile<D>(V + first * a.row, a.row, keys, a.d, tile.V, D);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		attend<D>(tile, keys, a.scale, &row);
	}
	write_output<D>(row, a.d, a.O + head * a.d);
}

extern "C" cudaError_t launch_decode_grouped(struct decode a)
{
	if (!is_usable_in_groups(a))
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? decode_grouped<32>
	               : a.d <= 64 ? decode_grouped<64>
	               : a.d <= 96 ? decode_grouped<96>
	                           : decode_grouped<128>;
	size_t bytes = decode_shared_bytes(a.d, a.H / a.G);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<a.G, a.H / a.G * WARP, bytes>>>(a);
	return cudaGetLastError();
}
