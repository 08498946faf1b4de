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

template <class T>
__global__ void copy(const T *from, T *to, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	to[y * n + x] = from[y * n + x];
}

template <class T>
__global__ void read_columns(const T *from, T *to, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	to[y * n + x] = from[x * n + y];
}

template <class T>
__global__ void write_columns(const T *from, T *to, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	to[x * n + y] = from[y * n + x];
}

// A square tile, stored by rows and read by columns.
template <class T, int PAD>
__global__ void tile_read_columns(const T *from, T *to, int n)
{
	__shared__ T tile[LANES][LANES + PAD];
	int column = blockIdx.x * LANES, row = blockIdx.y * LANES;
	tile[threadIdx.y][threadIdx.x] = from[(row + threadIdx.y) * n + column + threadIdx.x];
	__syncthreads();
	to[(column + threadIdx.y) * n + row + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// The other way round: stored by columns and read by rows.
template <class T, int PAD>
__global__ void tile_write_columns(const T *from, T *to, int n)
{
	__shared__ T tile[LANES][LANES + PAD];
	int column = blockIdx.x * LANES, row = blockIdx.y * LANES;
	tile[threadIdx.x][threadIdx.y] = from[(row + threadIdx.y) * n + column + threadIdx.x];
	__syncthreads();
	to[(column + threadIdx.y) * n + row + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

// A tile of ROWS rows, fewer than columns: for reading, the threads are numbered through and dealt out column by
// column.
template <class T, int ROWS, int PAD>
__global__ void tile_dealt_columns(const T *from, T *to, int n)
{
	__shared__ T tile[ROWS][LANES + PAD];
	int column = blockIdx.x * LANES, row = blockIdx.y * ROWS;
	tile[threadIdx.y][threadIdx.x] = from[(row + threadIdx.y) * n + column + threadIdx.x];
	__syncthreads();
	int thread = threadIdx.y * LANES + threadIdx.x;
	int r = thread % ROWS, c = thread / ROWS;
	to[(column + c) * n + row + r] = tile[r][c];
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
		{"copy_4", run<float, copy<float>>, 2},
		{"read_columns_8", run<double, read_columns<double>>, 2},
		{"write_columns_4", run<float, write_columns<float>>, 2},
		{"write_columns_8", run<double, write_columns<double>>, 2},
		{"tile_read_columns_4", run<float, tile_read_columns<float, 0>>, 2},
		{"tile_read_columns_8", run<double, tile_read_columns<double, 0>>, 2},
		{"tile_read_columns_padded_4", run<float, tile_read_columns<float, 1>>, 2},
		{"tile_write_columns_8", run<double, tile_write_columns<double, 0>>, 2},
		{"tile_write_columns_padded_8", run<double, tile_write_columns<double, 1>>, 2},
		{"tile_dealt_columns_4", run<float, tile_dealt_columns<float, 16, 0>>, 2},
		{"tile_dealt_columns_padded_4", run<float, tile_dealt_columns<float, 16, 2>>, 2},
	};
	return launch_named(argc, argv, launches);
}
