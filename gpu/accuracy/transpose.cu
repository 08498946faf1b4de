/*
 * Transposes of a square matrix, each thread one element: what they ask of global memory along rows and columns, and
 * of shared memory by way of a tile.
 *
 *     nvcc -O3 -std=c++17 -arch=native transpose.cu -o transpose    or    ../../simcc/simcc transpose.cu -o transpose
 *     ./transpose read_columns_8 1 4096 32        n, rows of a block: a block is as wide as a warp
 *
 * A name ends in the bytes of an element.
 */
#include "launch.cuh"

// Lanes along rows, or along columns of what is read, or of what is written.
template <class T, bool READ_COLUMNS, bool WRITE_COLUMNS>
__global__ void copy(const T *from, T *to, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	to[WRITE_COLUMNS ? x * n + y : y * n + x] = from[READ_COLUMNS ? x * n + y : y * n + x];
}

// A tile, stored by rows and read by columns, for which the threads are numbered through and dealt out column by column: of a
// square one each reads where its number says. STORE_COLUMNS, of a square one: the other way round.
template <class T, int ROWS, int PAD, bool STORE_COLUMNS>
__global__ void by_tile(const T *from, T *to, int n)
{
	__shared__ T tile[ROWS][LANES + PAD];
	int column = blockIdx.x * LANES, row = blockIdx.y * ROWS, x = threadIdx.x, y = threadIdx.y;
	tile[STORE_COLUMNS ? x : y][STORE_COLUMNS ? y : x] = from[(row + y) * n + column + x];
	__syncthreads();
	int r = (y * LANES + x) % ROWS, c = (y * LANES + x) / ROWS;
	to[(column + c) * n + row + r] = tile[STORE_COLUMNS ? c : r][STORE_COLUMNS ? r : c];
}

template <class T, void (*KERNEL)(const T *, T *, int)>
void run(int part, const int *numbers)
{
	int n = numbers[0], rows = numbers[1];
	const T *from = unset<T>((size_t)n * n);
	T *to = unset<T>((size_t)n * n);
	KERNEL<<<dim3(n / LANES, part_of(n / rows, part)), dim3(LANES, rows)>>>(from, to, n);
}

int main(int argc, char **argv)
{
	static const launch launches[] = {
		{"copy_4", run<float, copy<float, false, false>>, 2},
		{"read_columns_8", run<double, copy<double, true, false>>, 2},
		{"write_columns_4", run<float, copy<float, false, true>>, 2},
		{"write_columns_8", run<double, copy<double, false, true>>, 2},
		{"tile_read_columns_4", run<float, by_tile<float, LANES, 0, false>>, 2},
		{"tile_read_columns_8", run<double, by_tile<double, LANES, 0, false>>, 2},
		{"tile_read_columns_padded_4", run<float, by_tile<float, LANES, 1, false>>, 2},
		{"tile_write_columns_8", run<double, by_tile<double, LANES, 0, true>>, 2},
		{"tile_write_columns_padded_8", run<double, by_tile<double, LANES, 1, true>>, 2},
		{"tile_dealt_columns_4", run<float, by_tile<float, 16, 0, false>>, 2},
		{"tile_dealt_columns_padded_4", run<float, by_tile<float, 16, 2, false>>, 2},
	};
	return launch_named(argc, argv, launches);
}
