/*
 * C = A B, fp32, as nine published kernels ask for it. Where nvcc makes one wide load of several narrow ones, the
 * wide one stands here, because the published counters are those of the machine code; a comment says which.
 *
 *     nvcc -O3 -std=c++17 -arch=native sgemm.cu -o sgemm    or    ../../simcc/simcc sgemm.cu -o sgemm
 *     ./sgemm tile_8x8 4096 4096        n: all three matrices are [n, n], n a multiple of 64
 */
#include "launch.cuh"

constexpr int TILE = 64; // of C: rows and columns of a block
constexpr int DEPTH = 8; // columns of A and rows of B that it takes at a time

struct operands {
	const float *a, *b; // [n, n]
	float *c;           // [n, n]
	int n;
};

// The tiles of A and B, element by element, neighbors by neighbors. DEALT: of B a thread keeps its row and goes
// along it eight columns at a time, so that four lanes of a warp meet in each bank.
template <int THREADS, bool DEALT = false>
__device__ void load_tiles(const operands &p, int row, int column, int k, float (*a)[DEPTH], float (*b)[TILE])
{
	for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
		int y = DEALT ? threadIdx.x / 8 : i / TILE, x = DEALT ? threadIdx.x % 8 + i / THREADS * 8 : i % TILE;
		a[i / DEPTH][i % DEPTH] = p.a[(row + i / DEPTH) * p.n + k + i % DEPTH];
		b[y][x] = p.b[(k + y) * p.n + column + x];
	}
}

// C += what a thread has summed up: a read and a write of each element, one by one.
template <int ROWS, int COLUMNS>
__device__ void add_to_c(const operands &p, int row, int column, const float (&sum)[ROWS][COLUMNS])
{
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			p.c[(row + i) * p.n + column + j] += sum[i][j];
}

__device__ float4 at(const float *first)
{
	return *(const float4 *)first;
}

// Each thread 8 rows of C, and as many columns as two VECTORs have. nvcc: a row's eight values of A as two of 16 bytes, of B
// two VECTORs for each k: of float4 with 64 threads, of float2, for sm_90, with 128. ALONE, for sm_89: the first value of a
// row of A also by itself.
template <class VECTOR, bool ALONE, bool DEALT>
__global__ void tile_8(operands p)
{
	constexpr int HALF = sizeof(VECTOR) / sizeof(float), COLUMNS = 2 * HALF, WIDE = TILE / COLUMNS;
	__shared__ __align__(16) float a[TILE][DEPTH], b[DEPTH][TILE];
	int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
	int r = threadIdx.x / WIDE * 8, c = threadIdx.x % WIDE * COLUMNS;
	float sum[8][COLUMNS] = {};
	for (int k = 0; k < p.n; k += DEPTH) {
		load_tiles<TILE / 8 * WIDE, DEALT>(p, row, column, k, a, b);
		__syncthreads();
		float of_a[8][DEPTH];
		for (int i = 0; i < 8; i++) {
			if (ALONE)
				of_a[i][0] = a[r + i][0];
			*(float4 *)&of_a[i][0] = at(&a[r + i][0]);
			*(float4 *)&of_a[i][4] = at(&a[r + i][4]);
		}
		for (int j = 0; j < DEPTH; j++) {
			float of_b[COLUMNS];
			*(VECTOR *)&of_b[0] = *(const VECTOR *)&b[j][c];
			*(VECTOR *)&of_b[HALF] = *(const VECTOR *)&b[j][c + HALF];
			for (int y = 0; y < 8; y++)
				for (int x = 0; x < COLUMNS; x++)
					sum[y][x] += of_a[y][j] * of_b[x];
		}
		__syncthreads();
	}
	add_to_c(p, row + r, column + c, sum);
}

// 512 threads, each 8 rows of one column. A row's eight values of A, alike for all lanes, as two of 16 bytes.
__global__ void tile_8x1(operands p)
{
	__shared__ __align__(16) float a[TILE][DEPTH], b[DEPTH][TILE];
	int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
	int r = threadIdx.x / TILE * 8, c = threadIdx.x % TILE;
	float sum[8][1] = {};
	for (int k = 0; k < p.n; k += DEPTH) {
		load_tiles<512>(p, row, column, k, a, b);
		__syncthreads();
		float of_b[DEPTH];
		for (int j = 0; j < DEPTH; j++)
			of_b[j] = b[j][c];
		for (int i = 0; i < 8; i++)
			for (int j = 0; j < DEPTH; j += 4) {
				float4 four = at(&a[r + i][j]);
				sum[i][0] += four.x * of_b[j] + four.y * of_b[j + 1] + four.z * of_b[j + 2] +
				             four.w * of_b[j + 3];
			}
		__syncthreads();
	}
	add_to_c(p, row + r, column + c, sum);
}

// Each thread 8 rows by COLUMNS, all loads of 16 bytes, by the published sources or by nvcc: A is transposed on its
// way into shared memory, by four stores of 4 bytes, so that a thread's eight rows lie side by side.
template <int COLUMNS>
__global__ void tile_vectors(operands p)
{
	constexpr int WIDE = TILE / COLUMNS, THREADS = TILE / 8 * WIDE;
	__shared__ __align__(16) float a[DEPTH][TILE], b[DEPTH][TILE];
	int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
	int r = threadIdx.x / WIDE * 8, c = threadIdx.x % WIDE * COLUMNS;
	float sum[8][COLUMNS] = {};
	for (int k = 0; k < p.n; k += DEPTH) {
		for (int i = threadIdx.x; i < TILE * DEPTH / 4; i += THREADS) {
			int y = i / 2, x = i % 2 * 4;
			float4 four = at(&p.a[(row + y) * p.n + k + x]);
			a[x][y] = four.x;
			a[x + 1][y] = four.y;
			a[x + 2][y] = four.z;
			a[x + 3][y] = four.w;
			y = i / (TILE / 4), x = i % (TILE / 4) * 4;
			*(float4 *)&b[y][x] = at(&p.b[(k + y) * p.n + column + x]);
		}
		__syncthreads();
		for (int j = 0; j < DEPTH; j++) {
			float of_a[8], of_b[COLUMNS];
			for (int i = 0; i < 8; i += 4)
				*(float4 *)&of_a[i] = at(&a[j][r + i]);
			for (int i = 0; i < COLUMNS; i += 4)
				*(float4 *)&of_b[i] = at(&b[j][c + i]);
			for (int y = 0; y < 8; y++)
				for (int x = 0; x < COLUMNS; x++)
					sum[y][x] += of_a[y] * of_b[x];
		}
		__syncthreads();
	}
	add_to_c(p, row + r, column + c, sum);
}

// One thread per element of C, a square tile of 32. nvcc reads four values of A's row at a time, to all lanes alike.
__global__ void tile_1x1(operands p)
{
	__shared__ __align__(16) float a[LANES][LANES], b[LANES][LANES];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * LANES + y, column = blockIdx.x * LANES + x;
	float sum[1][1] = {};
	for (int k = 0; k < p.n; k += LANES) {
		a[y][x] = p.a[row * p.n + k + x];
		b[y][x] = p.b[(k + y) * p.n + column];
		__syncthreads();
		for (int j = 0; j < LANES; j += 4) {
			float4 four = at(&a[y][j]);
			sum[0][0] +=
				four.x * b[j][x] + four.y * b[j + 1][x] + four.z * b[j + 2][x] + four.w * b[j + 3][x];
		}
		__syncthreads();
	}
	add_to_c(p, row, column, sum);
}

// S = Q K^T, [n, n], of rows of 64, through tiles of 16 by 16; a warp is two rows of a tile. Its lanes take 16 rows
// of K each, and so 16 lines of memory.
__global__ void scores(const float *q, const float *keys, float *s, int n)
{
	constexpr int DIM = 64, SIDE = 16;
	__shared__ float of_q[SIDE][SIDE], of_keys[SIDE][SIDE];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
	float sum = 0;
	for (int k = 0; k < DIM; k += SIDE) {
		of_q[y][x] = q[row * DIM + k + x];
		of_keys[y][x] = keys[column * DIM + k + y];
		__syncthreads();
		for (int j = 0; j < SIDE; j++)
			sum += of_q[y][j] * of_keys[j][x];
		__syncthreads();
	}
	s[(size_t)row * n + column] = sum;
}

template <void (*KERNEL)(operands), int SIDE, int WIDE, int HIGH = 1>
void run(int part, const int *numbers)
{
	int n = numbers[0];
	size_t elements = (size_t)n * n;
	operands p = {unset<float>(elements), unset<float>(elements), unset<float>(elements), n};
	unsigned blocks = part_of(n / SIDE * (n / SIDE), part),
		 wide = blocks < (unsigned)(n / SIDE) ? blocks : n / SIDE;
	KERNEL<<<dim3(wide, blocks / wide), dim3(WIDE, HIGH)>>>(p);
}

static void run_scores(int part, const int *numbers)
{
	int n = numbers[0];
	scores<<<dim3(n / 16, part_of(n / 16, part)), dim3(16, 16)>>>(
		unset<float>(n * 64), unset<float>(n * 64), unset<float>((size_t)n * n), n);
}

int main(int argc, char **argv)
{
	static const launch launches[] = {
		{"tile_8x8", run<tile_8<float4, false, true>, TILE, 64>, 1},
		{"tile_8x8_alone", run<tile_8<float4, true, false>, TILE, 64>, 1},
		{"tile_8x8_vectors", run<tile_vectors<8>, TILE, 64>, 1},
		{"tile_8x4", run<tile_8<float2, false, false>, TILE, 128>, 1},
		{"tile_8x4_vectors", run<tile_vectors<4>, TILE, 128>, 1},
		{"tile_8x1", run<tile_8x1, TILE, 512>, 1},
		{"tile_1x1", run<tile_1x1, LANES, LANES, LANES>, 1},
		{"scores", run_scores, 1},
	};
	return launch_named(argc, argv, launches);
}
