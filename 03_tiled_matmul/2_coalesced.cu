/*
 * Chapter 03, second of seven: matmul_coalesced, C = A B. New: the two indices are swapped, so the lanes of a warp go
 * along a row of C.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_coalesced. Limit: it still fetches two numbers per
 * multiply-add and keeps none of them; only the caches make it faster.
 */
#include "tiles.cuh"

// threadIdx.x, which counts the lanes of a warp, is the column. The 32 lanes read B and write C side by side: 4 sectors
// of 32 bytes for 32 floats. They share A's element.
__global__ void matmul_coalesced(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	int i = blockIdx.y * TILE + threadIdx.y;
	int j = blockIdx.x * TILE + threadIdx.x;
	if (i >= m || j >= n)
		return; // the last blocks may extend beyond the edge of C

	float sum = 0.0f;
	for (int p = 0; p < k; p++)
		sum += A[(size_t)i * k + p] * B[(size_t)p * n + j];
	C[(size_t)i * n + j] = sum;
}

extern "C" cudaError_t launch_matmul_coalesced(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, TILE);
	matmul_coalesced<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
