/*
 * Decoding as in chapter 07: one new token, one block per head of queries, and the whole cache in one loop. Each of the
 * heads that share keys requests them again, and there are no more blocks than heads: at most H SMs have work.
 */
#include "tile.cuh"

template <int D>
__global__ void decode_naive(struct decode a)
{
	extern __shared__ __align__(16) float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int head = blockIdx.x, kv_head = head / (a.H / a.G);
	const float *K = a.K + kv_head * a.head, *V = a.V + kv_head * a.head;

	load_query<D>(a.Q + head * a.d, a.d, tile.q);
	for (int first = 0; first < a.n; first += TILE) {
		int keys = min(TILE, a.n - first);
		__syncthreads(); // without it a lane overwrites the tile that another still reads
		load_tile<D>(K + first * a.row, a.row, keys, a.d, tile.K, D + PAD);
		load_tile<D>(V + first * a.row, a.row, keys, a.d, tile.V, D);
		__syncthreads(); // without it a lane reads keys that are not there yet
		attend<D>(tile, keys, a.scale, &row);
	}
	write_output<D>(row, a.d, a.O + head * a.d);
}

extern "C" cudaError_t launch_decode_naive(struct decode a)
{
	if (!is_usable(a))
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? decode_naive<32>
	               : a.d <= 64 ? decode_naive<64>
	               : a.d <= 96 ? decode_naive<96>
	                           : decode_naive<128>;
	kernel<<<a.H, WARP, decode_shared_bytes(a.d, 1)>>>(a);
	return cudaGetLastError();
}

extern "C" size_t decode_shared_bytes(int d, int heads)
{
	int D = columns_of(d);
	return sizeof(float) * (size_t)(TILE * (D + PAD) + TILE * D + heads * D);
}
