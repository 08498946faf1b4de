// FlashAttention backward, a block a K/V tile: all blocks add to the same rows of dQ, without atomics.
// EXPECT racecheck RAW|WAR|WAW error
// ORDERS all
#include "main.cuh"

const int N = 64, D = 16, TILE = 16;

__global__ void backward_dq(const float *dS, const float *K, float *dQ, float scale)
{
	__shared__ float k[TILE][D];
	int first = blockIdx.x * TILE;
	for (int i = threadIdx.x; i < TILE * D; i += blockDim.x)
		k[i / D][i % D] = K[first * D + i];
	__syncthreads();
	for (int row = threadIdx.x / D; row < N; row += blockDim.x / D) {
		int c = threadIdx.x % D;
		float sum = 0;
		for (int j = 0; j < TILE; j++)
			sum += dS[row * N + first + j] * k[j][c];
		WRONG(dQ[row * D + c] += sum * scale, atomicAdd(&dQ[row * D + c], sum * scale)); // BUG
	}
}

int main()
{
	float *dS = zeros<float>(N * N), *K = zeros<float>(N * D), *dQ = zeros<float>(N * D);
	backward_dq<<<N / TILE, 64>>>(dS, K, dQ, 0.25f);
	return end();
}
