/*
 * C = A B with 8 x 8 elements of C a thread and tiles of 64 x 8 and 8 x 64 in shared memory, for n a multiple of 64. The
 * pattern of accesses is that of a kernel whose counters on an RTX 4090 were published at n = 4096 (kapilsh.github.io,
 * 2025-10-01): 167,772,160 shared loads, 503,316,480 conflicts. Of product.sm_89.jsonl this is the source:
 *
 *     nvcc -std=c++17 -O3 -lineinfo -arch=sm_89 -cubin -o product.cubin product.cu
 *     nvdisasm -gi -c product.cubin > product.sass && simcc --loops product.sass > product.sm_89.jsonl
 */
#include <stdlib.h>

template <int SIDE, int DEPTH, int OWN>
__global__ void product(const float *A, const float *B, float *C, unsigned n)
{
	__shared__ float a_tile[SIDE * DEPTH], b_tile[DEPTH * SIDE];
	constexpr unsigned THREADS = SIDE / OWN * (SIDE / OWN);
	unsigned y = threadIdx.x / (SIDE / OWN), x = threadIdx.x % (SIDE / OWN);
	float sums[OWN * OWN] = {0.0f}, a[OWN], b[OWN];

	A += blockIdx.x * SIDE * n;
	B += blockIdx.y * SIDE;
	C += blockIdx.x * SIDE * n + blockIdx.y * SIDE;
	for (unsigned first = 0; first < n; first += DEPTH) {
#pragma unroll
		for (unsigned e = 0; e < SIDE * DEPTH; e += THREADS) {
			unsigned i = threadIdx.x + e;
			a_tile[i] = A[i / DEPTH * n + i % DEPTH]; // @a tile
		}
#pragma unroll
		for (unsigned e = 0; e < SIDE * DEPTH; e += THREADS) {
			unsigned i = threadIdx.x + e;
			b_tile[i] = B[i / SIDE * n + i % SIDE]; // @b tile
		}
		__syncthreads();
		A += DEPTH;
		B += DEPTH * n;
		for (unsigned k = 0; k < DEPTH; k++) {
			for (unsigned r = 0; r < OWN; r++)
				a[r] = a_tile[(y * OWN + r) * DEPTH + k]; // @a
			for (unsigned c = 0; c < OWN; c++)
				b[c] = b_tile[k * SIDE + x * OWN + c]; // @b
			for (unsigned r = 0; r < OWN; r++)
				for (unsigned c = 0; c < OWN; c++)
					sums[r * OWN + c] += a[r] * b[c];
		}
		__syncthreads();
	}
#pragma unroll
	for (unsigned r = 0; r < OWN; r++)
#pragma unroll
		for (unsigned c = 0; c < OWN; c++)
			C[(y * OWN + r) * n + x * OWN + c] = sums[r * OWN + c]; // @c
}

int main(int count, char **words)
{
	unsigned n = count > 1 ? atoi(words[1]) : 64;
	float *matrix[3];
	for (int i = 0; i < 3; i++) {
		cudaMalloc(&matrix[i], sizeof(float) * n * n);
		cudaMemset(matrix[i], 0, sizeof(float) * n * n);
	}
	product<64, 8, 8><<<dim3(n / 64, n / 64), 64>>>(matrix[0], matrix[1], matrix[2], n);
	return cudaDeviceSynchronize();
}
