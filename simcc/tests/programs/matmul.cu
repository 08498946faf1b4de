// C = A B: naive, and with tiles in shared memory (two barriers a tile); ragged sizes.
#include "check.cuh"

const int TILE = 16;

__global__ void naive(const float *A, const float *B, float *C, int m, int n, int k)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= m || column >= n)
		return;
	float sum = 0;
	for (int i = 0; i < k; i++)
		sum += A[row * k + i] * B[i * n + column];
	C[row * n + column] = sum;
}

__global__ void tiled(
	const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
	__shared__ float a[TILE][TILE], b[TILE][TILE];
	int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;
	for (int start = 0; start < k; start += TILE) {
		int i = start + threadIdx.x, j = start + threadIdx.y;
		a[threadIdx.y][threadIdx.x] = row < m && i < k ? A[row * k + i] : 0;
		b[threadIdx.y][threadIdx.x] = column < n && j < k ? B[j * n + column] : 0;
		__syncthreads();
#pragma unroll
		for (int p = 0; p < TILE; p++)
			sum += a[threadIdx.y][p] * b[p][threadIdx.x];
		__syncthreads();
	}
	if (row < m && column < n)
		C[row * n + column] = sum;
}

static float A[64 * 64], B[64 * 64], C[64 * 64];

static void check(const float *dC, int m, int n, int k)
{
	fetch(C, dC, m * n);
	for (int r = 0; r < m; r++)
		for (int c = 0; c < n; c++) {
			float sum = 0;
			for (int i = 0; i < k; i++)
				sum += A[r * k + i] * B[i * n + c];
			EXPECT(C[r * n + c] == sum);
		}
}

int main()
{
	for (int i = 0; i < 64 * 64; i++) {
		A[i] = (float)(i % 7);
		B[i] = (float)(i % 5 - 2);
	}
	float *dA = device_copy(A, 64 * 64), *dB = device_copy(B, 64 * 64), *dC = device_zeros<float>(64 * 64);
	dim3 block(TILE, TILE);

	// A warp is two rows of 16. Per step: A two words in two sectors, B 16 words in two sectors.
	//= naive load=64*64*64*8/2*128*64/4*128*64 store=16384/128/128*4 foot=32768/16384
	naive<<<dim3(4, 4), block>>>(dA, dB, dC, 64, 64, 64);
	check(dC, 64, 64, 64);
	// 16 blocks, 4 tiles each, 8 warps: 512 times a request of A and of B, two rows of 64 bytes: 4 sectors. In
	// the product: a[][] two words in banks 16 apart, b[][] 16 words, each for two lanes: one wavefront.
	//= tiled load=2*65536/1024/4096 store=16384/128/512 sstore=2*65536/1024/1024/1024
	//+ sload=2*16*65536/2*16*512/2*16*512/2*16*512 barriers=16*4*2 foot=32768/16384
	tiled<<<dim3(4, 4), block>>>(dA, dB, dC, 64, 64, 64);
	check(dC, 64, 64, 64);
	// Only what exists is asked for: A once for each of the 2 columns of blocks, B for each of the 3 rows.
	//= tiled load=4*33*20*2+4*20*17*3/?/? store=4*33*17/?/? barriers=6*2*2 foot=4*33*20+4*20*17/4*33*17
	//+ sstore=2*6*2*1024/2*6*2*8/?/? sload=2*16*6*2*1024/2*16*6*2*8/?/?
	tiled<<<dim3(2, 3), block>>>(dA, dB, dC, 33, 17, 20);
	check(dC, 33, 17, 20);
	return 0;
}
