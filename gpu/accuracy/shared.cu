/*
 * Loads and stores of shared memory that meet in banks, or do not. What is loaded is kept in a volatile variable or
 * written out, so that no compiler leaves the load away.
 *
 *     nvcc -O3 -std=c++17 -arch=native shared.cu -o shared    or    ../../simcc/simcc shared.cu -o shared
 *     ./shared strided_words 1 524288 2        blocks, the words between the lanes
 */
#include "launch.cuh"

// One warp, each lane its own word, `stride` words apart.
__global__ void strided_words(const float *from, float *to, int stride)
{
	__shared__ float words[LANES * LANES];
	words[threadIdx.x * stride] = from[blockIdx.x * LANES + threadIdx.x];
	__syncthreads();
	to[blockIdx.x * LANES + threadIdx.x] = words[threadIdx.x * stride];
}

// Each warp a column of a tile: stored there, and loaded from there. SWIZZLED: a row's columns are permuted by its number.
template <int PAD, bool SWIZZLED>
__global__ void tile_columns(const float *from, float *to, int n)
{
	__shared__ float tile[LANES][LANES + PAD];
	int x = blockIdx.x * LANES + threadIdx.x, y = blockIdx.y * LANES + threadIdx.y;
	int column = SWIZZLED ? threadIdx.y ^ threadIdx.x : threadIdx.y;
	tile[threadIdx.x][column] = from[x * n + y];
	__syncthreads();
	to[x * n + y] = tile[threadIdx.x][column];
}

// One block, one tile of ROWS by 32: in and out by columns; in by rows and out by rows, or out by columns, for which the
// threads of a tile of fewer rows are dealt out column by column.
template <int ROWS>
__global__ void columns_columns(int *to)
{
	__shared__ int tile[LANES][ROWS];
	int thread = threadIdx.y * LANES + threadIdx.x;
	tile[threadIdx.x][threadIdx.y] = thread;
	__syncthreads();
	to[thread] = tile[threadIdx.x][threadIdx.y];
}

template <int ROWS, int PAD, bool OUT_BY_COLUMNS>
__global__ void rows(int *to)
{
	__shared__ int tile[ROWS][LANES + PAD];
	int thread = threadIdx.y * LANES + threadIdx.x;
	tile[threadIdx.y][threadIdx.x] = thread;
	__syncthreads();
	to[thread] = OUT_BY_COLUMNS ? tile[thread % ROWS][thread / ROWS] : tile[threadIdx.y][threadIdx.x];
}

// 16 bytes per lane, loaded from four places, each shared by every fourth lane.
__global__ void every_fourth_shares(float4 *to)
{
	__shared__ float4 words[LANES];
	words[threadIdx.x] = make_float4(1, 2, 3, 4);
	__syncthreads();
	to[threadIdx.x] = words[threadIdx.x % 4];
}

// The same word of each lane over and over, all of a warp in one bank.
__global__ void one_bank(int *to, int times)
{
	__shared__ volatile int words[LANES * LANES];
	words[threadIdx.x] = threadIdx.x;
	__syncthreads();
	int sum = 0;
	for (int i = 0; i < times; i++)
		sum += words[threadIdx.x * LANES % (LANES * LANES)];
	if (threadIdx.x == 0)
		to[blockIdx.x] = sum;
}

static void run_words(int part, const int *numbers)
{
	unsigned blocks = part_of(numbers[0], part);
	strided_words<<<blocks, LANES>>>(unset<float>(blocks * LANES), unset<float>(blocks * LANES), numbers[1]);
}

template <void (*KERNEL)(const float *, float *, int)>
void run_tiles(int part, const int *)
{
	int n = 1024;
	KERNEL<<<dim3(n / LANES, part_of(n / LANES, part)), dim3(LANES, LANES)>>>(
		unset<float>(n * n), unset<float>(n * n), n);
}

template <void (*KERNEL)(int *), int ROWS>
void run_tile(int part, const int *)
{
	KERNEL<<<part_of(1, part), dim3(LANES, ROWS)>>>(unset<int>(LANES * ROWS));
}

static void run_fourth(int part, const int *)
{
	every_fourth_shares<<<part_of(1, part), LANES>>>(unset<float4>(LANES));
}

static void run_bank(int part, const int *numbers)
{
	unsigned blocks = part_of(numbers[0], part);
	one_bank<<<blocks, 256>>>(unset<int>(blocks), numbers[1]);
}

int main(int argc, char **argv)
{
	static const launch launches[] = {
		{"strided_words", run_words, 2},
		{"tile_columns", run_tiles<tile_columns<0, false>>, 0},
		{"tile_columns_padded", run_tiles<tile_columns<1, false>>, 0},
		{"tile_swizzled", run_tiles<tile_columns<0, true>>, 0},
		{"rows_rows", run_tile<rows<32, 0, false>, 32>, 0},
		{"columns_columns", run_tile<columns_columns<32>, 32>, 0},
		{"rows_columns", run_tile<rows<32, 0, true>, 32>, 0},
		{"rows_columns_padded", run_tile<rows<32, 1, true>, 32>, 0},
		{"half_rows_rows", run_tile<rows<16, 0, false>, 16>, 0},
		{"half_columns_columns", run_tile<columns_columns<16>, 16>, 0},
		{"half_rows_columns", run_tile<rows<16, 0, true>, 16>, 0},
		{"half_rows_columns_padded_1", run_tile<rows<16, 1, true>, 16>, 0},
		{"half_rows_columns_padded_2", run_tile<rows<16, 2, true>, 16>, 0},
		{"every_fourth_shares", run_fourth, 0},
		{"one_bank", run_bank, 2},
	};
	return launch_named(argc, argv, launches);
}
