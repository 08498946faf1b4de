/*
 * New: the cache consists of pages that may lie anywhere in memory, as the pages of a process do. Memory is taken only as a
 * text grows, and two texts may share a page. Each key's row is looked up in a table. A block reads the entry of each of its
 * pages once, so two splits that share a page both read its entry. The results are bitwise those of decode_split.
 */
#include "split.cuh"

// Where the rows of a tile begin in K and V, by the first warp: `places`. It reads those entries of the page table that no tile
// before has read, into `table`: a tile of 32 keys touches at most 32 pages, so page i has its place at i % 32. Returns the
// first page not read. Each key is divided by the size of a page once, and not once for each number of its row. `row`: numbers
// from one token to the next.
__device__ inline int find_rows(
	struct pages pages, int unread, int first, int keys, int *table, size_t *places, size_t row)
{
	int lane = threadIdx.x, key = first + lane, page = unread + lane;
	int end = (first + keys - 1) / pages.size + 1;
	if (page < end)
		table[page % TILE] = pages.table[page];
	__syncwarp(); // without it a lane looks up a page that is not there yet
	if (lane < keys)
		places[lane] = ((size_t)table[key / pages.size % TILE] * pages.size + key % pages.size) * row;
	return end;
}

// Shared memory: as in the other kernels, then | places [TILE] | table [TILE] |
template <int D>
__global__ __launch_bounds__(MOST_THREADS) void decode_paged(
	struct decode a, struct partials partials, struct pages pages)
{
	extern __shared__ __align__(16) float shared[];
	struct tiles<D> tile = tiles_in<D>(shared);
	struct row_state<D> row;
	int group = a.H / a.G, kv_head = blockIdx.x, head = kv_head * group + threadIdx.x / WARP;
	size_t *places = (size_t *)(shared + TILE * (2 * D + PAD) + group * D);
	int *table = (int *)(places + TILE);
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
		__syncthreads(); // without it a fast warp overwrites tile and places that a slow one still reads
		if (threadIdx.x < WARP)
			unread = find_rows(pages, unread, first, keys, table, places, a.row);
		__syncthreads(); // without it a fast warp looks up places that are not there yet
		load_rows<D>([=](int j) { return K + places[j]; }, keys, a.d, tile.K, D + PAD);
		load_rows<D>([=](int j) { return V + places[j]; }, keys, a.d, tile.V, D);
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
	return decode_shared_bytes(d, heads) + (sizeof(size_t) + sizeof(int)) * TILE;
}
