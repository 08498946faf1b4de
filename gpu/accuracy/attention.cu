/*
 * Attention, one head, as one published kernel asks for it: a block has 64 rows of Q and takes K and V in tiles of
 * 32, all of it by way of shared memory; of a product a warp takes four rows and a lane four columns.
 *
 *     nvcc -O3 -std=c++17 -arch=native attention.cu -o attention    or    ../../simcc/simcc attention.cu -o attention
 *     ./attention tiles 64 4096        rows of Q, K and V, [n, 64]
 *
 * Where nvcc for sm_89 makes one load of 8 bytes of two of 4, it stands here, because the published counters are
 * those of the machine code: in `multiply`, every second row.
 */
#include "launch.cuh"

constexpr int DIM = 64;  // columns of Q, K, V and O
constexpr int ROWS = 64; // of Q and O, a block
constexpr int KEYS = 32; // a tile of K or V
constexpr int WARPS = 16;
constexpr int THREADS = WARPS * LANES;

struct block_memory {
	float o[ROWS * DIM], q[ROWS * DIM];
	float tile[KEYS * DIM]; // K transposed, [DIM, KEYS]; then V, [KEYS, DIM]
	float s[ROWS * KEYS];
	float sum[ROWS], largest[2][ROWS]; // of the tiles so far: before this tile, after it
};

static_assert(WARPS * 4 == ROWS && KEYS == LANES, "a warp has four rows, a row of scores one lane per key");

// c [ROWS, COLUMNS] = a [ROWS, INNER] b [INNER, COLUMNS], or added to it
template <int INNER, int COLUMNS, bool ADD>
__device__ void multiply(const float *a, const float *b, float *c)
{
	int row = threadIdx.x / LANES * 4, column = threadIdx.x % LANES * 4;
	if (column >= COLUMNS)
		return;
	float sum[4][4] = {};
	for (int k = 0; k < INNER; k += 2) {
		float2 of_a[4];
		for (int i = 0; i < 4; i += 2) {
			const float *first = &a[(row + i) * INNER + k], *second = first + INNER;
			of_a[i] = *(const float2 *)first;
			of_a[i + 1].x = second[0];
			of_a[i + 1].y = second[1];
		}
		const float *even = &b[k * COLUMNS + column], *odd = even + COLUMNS;
		float2 left = *(const float2 *)even, right = *(const float2 *)(even + 2);
		float of_b[2][4] = {{left.x, left.y, right.x, right.y}, {odd[0], odd[1], odd[2], odd[3]}};
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				sum[i][j] += of_a[i].x * of_b[0][j] + of_a[i].y * of_b[1][j];
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			float *to = &c[(row + i) * COLUMNS + column + j];
			*to = ADD ? *to + sum[i][j] : sum[i][j];
		}
}

// Online softmax of one row of scores by one warp; O of that row is brought to the new maximum.
__device__ void rescale(block_memory &block, int row, int before)
{
	int lane = threadIdx.x % LANES;
	float *s = &block.s[row * KEYS + lane];
	float largest = block.largest[before][row];
	float scaled = *s / sqrtf((float)DIM);
	*s = scaled;
	largest = fmaxf(largest, scaled);
	for (int shift = LANES / 2; shift > 0; shift /= 2)
		largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, shift));
	float weight = expf(*s - largest), sum = weight;
	*s = weight;
	for (int shift = LANES / 2; shift > 0; shift /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, shift);
	float shrink = expf(block.largest[before][row] - largest);
	if (lane == 0) {
		block.largest[!before][row] = largest;
		block.sum[row] = shrink * block.sum[row] + sum;
	}
	for (int column = lane; column < DIM; column += LANES)
		block.o[row * DIM + column] *= shrink;
}

__global__ void tiles(const float *q, const float *k, const float *v, float *o, int n)
{
	extern __shared__ float memory[];
	block_memory &block = *(block_memory *)memory;
	int thread = threadIdx.x, first = blockIdx.x * ROWS;
	for (int i = thread; i < ROWS * DIM; i += THREADS)
		block.q[i] = q[first * DIM + i];
	for (int i = thread; i < ROWS * DIM; i += THREADS)
		block.o[i] = 0;
	if (thread < ROWS) {
		block.sum[thread] = 0;
		block.largest[0][thread] = -INFINITY;
	}
	__syncthreads();
	for (int key = 0; key < n; key += KEYS) {
		for (int i = thread; i < KEYS * DIM; i += THREADS)
			block.tile[i % DIM * KEYS + i / DIM] = k[key * DIM + i]; // 32 lanes, one bank
		__syncthreads();
		multiply<DIM, KEYS, false>(block.q, block.tile, block.s);
		__syncthreads();
		for (int i = thread; i < KEYS * DIM; i += THREADS)
			block.tile[i] = v[key * DIM + i];
		__syncthreads();
		for (int row = thread / LANES; row < ROWS; row += WARPS)
			rescale(block, row, key / KEYS % 2);
		__syncthreads();
		multiply<KEYS, DIM, true>(block.s, block.tile, block.o);
		__syncthreads();
	}
	for (int i = thread; i < ROWS * DIM; i += THREADS)
		block.o[i] /= block.sum[i / DIM];
	__syncthreads();
	for (int i = thread; i < ROWS * DIM; i += THREADS)
		o[first * DIM + i] = block.o[i];
}

static void run_tiles(int part, const int *numbers)
{
	int n = numbers[0];
	size_t elements = (size_t)n * DIM;
	check(cudaFuncSetAttribute(tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(block_memory)),
	      "cudaFuncSetAttribute");
	tiles<<<part_of(n / ROWS, part), THREADS, sizeof(block_memory)>>>(
		unset<float>(elements), unset<float>(elements), unset<float>(elements), unset<float>(elements), n);
}

int main(int argc, char **argv)
{
	static const launch launches[] = {{"tiles", run_tiles, 1}};
	return launch_named(argc, argv, launches);
}
