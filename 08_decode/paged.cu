/*
 * New: the cache consists of pages that may lie anywhere in memory, as the pages of a process do. Memory is taken only as a
 * text grows, and two texts may share a page. Each key's row is looked up in a table. A block reads the entry of each of its
 * pages once, so two splits that share a page both read its entry. The results are bitwise those of decode_split.
 */
#include "split.cuh"

// The entries of the pages that the tile needs and that no tile before it has read. A tile of 32 keys touches at most 32
// pages, so page i has its place at i % 32. Returns the first page not read.
__device__ inline int load_table(struct pages pages, int unread, int end_of_tile, int *table)
{
	int end = (end_of_tile - 1) / pages.size + 1;
	for (int i = unread + threadIdx.x; i < end; i += blockDim.x)
		table[i % TILE] = pages.table[i];
	return end;
}

// As load_tile, but each row is looked up in the table.
template <int D>
__device__ void load_rows(
	const float *from, struct decode a, int first, int keys, const int *table, int size, float *tile,
	int tile_row)
{
	for (int e = threadIdx.x; e < keys * D; e += blockDim.x) {
		int j = e / D, c = e % D, key = first + j;
		size_t row = (size_t)table[key / size % TILE] * size + key % size;
		tile[j * tile_row + c] = c < a.d ? from[row * a.row + c] : 0.0f;
	}
}

// Shared memory: as in the other kernels, then | table [TILE] |
template <int D>
__global__ void decode_paged(struct decode a, struct partials partials, struct pages pages)
{
	extern __shared__ float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int group = a.H / a.G, kv_head = blockIdx.x, head = kv_head * group + threadIdx.x / WARP;
	int *table = (int *)(shared + TILE * (2 * D + 1) + group * D);
	int split = blockIdx.y;
	const float *K = a.K + kv_head * a.head, *V = a.V + kv_head * a.head;

	// task 08.split: the keys of this block; there may be none
	size_t n = a.n; // 64 bits: (split + 1) n may be more than 2^31
	int begin = (int)(split * n / partials.S), end = (int)((split + 1) * n / partials.S);
	// end 08.split
	int unread = begin / pages.size; // pages before this one are of other splits
	load_query<D>(a.Q + head * a.d, a.d, tile.q);
	for (int first = begin; first < end; first += TILE) {
		int keys = min(TILE, end - first);
		__syncthreads(); // without it a fast warp overwrites tile and table that a slow one still reads
		unread = load_table(pages, unread, first + keys, table);
		__syncthreads(); // without it a fast warp looks up pages that are not there yet
		load_rows<D>(K, a, first, keys, table, pages.size, tile.K, D + 1);
		load_rows<D>(V, a, first, keys, table, pages.size, tile.V, D);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		attend<D>(tile, keys, a.scale, &row);
	}
	write_partial<D>(row, a, partials, split, head);
}

extern "C" cudaError_t launch_decode_paged(struct decode a, struct partials partials, struct pages pages)
{
	if (!is_usable_in_groups(a) || partials.S < 1 || partials.S > MOST_SPLITS || pages.size < 1)
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? decode_paged<32>
	               : a.d <= 64 ? decode_paged<64>
	               : a.d <= 96 ? decode_paged<96>
	                           : decode_paged<128>;
	size_t bytes = paged_shared_bytes(a.d, a.H / a.G);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<dim3(a.G, partials.S), a.H / a.G * WARP, bytes>>>(a, partials, pages);
	return cudaGetLastError();
}

extern "C" size_t paged_shared_bytes(int d, int heads)
{
	return decode_shared_bytes(d, heads) + sizeof(int) * TILE;
}
