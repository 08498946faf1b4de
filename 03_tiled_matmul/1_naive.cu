/*
 * Chapter 03, first of seven: matmul_naive, C = A B with one thread per element of C. New since chapter 02: a product of
 * two matrices. It is uncoalesced on purpose: the lanes of a warp go down a column of C.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_naive. Limit: in each step a warp loads 33 sectors,
 * where 2_coalesced.cu loads 5.
 */
#include "tiles.cuh"

// threadIdx.x, which counts the lanes of a warp, is the row. The 32 lanes read A one row apart, which is k floats, and
// write C one row apart, which is n floats: 32 sectors of 32 bytes for 32 floats. They share B's element.
__global__ void matmul_naive(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	int i = blockIdx.x * TILE + threadIdx.x;
	int j = blockIdx.y * TILE + threadIdx.y;
	if (i >= m || j >= n)
		return; // the last blocks may extend beyond the edge of C

	float sum = 0.0f;
	for (int p = 0; p < k; p++)
		sum += A[(size_t)i * k + p] * B[(size_t)p * n + j];
	C[(size_t)i * n + j] = sum;
}

extern "C" cudaError_t launch_matmul_naive(struct matmul a)
{
	dim3 grid(ceil_divide(a.m, TILE), ceil_divide(a.n, TILE)), block(TILE, TILE);
	matmul_naive<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
