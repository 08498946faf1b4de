// FlashAttention backward, a block a K/V tile: all blocks add to the same rows of dQ, without atomics.
// EXPECT racecheck RAW|WAR|WAW error
// ORDERS all
#include <cstdio>

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
#ifdef FIXED
		atomicAdd(&dQ[row * D + c], sum * scale);
#else
		dQ[row * D + c] += sum * scale; // BUG
#endif
	}
}

int main()
{
	float *dS, *K, *dQ;
	cudaMalloc(&dS, N * N * sizeof(float));
	cudaMalloc(&K, N * D * sizeof(float));
	cudaMalloc(&dQ, N * D * sizeof(float));
	cudaMemset(dS, 0, N * N * sizeof(float));
	cudaMemset(K, 0, N * D * sizeof(float));
	cudaMemset(dQ, 0, N * D * sizeof(float));
	backward_dq<<<N / TILE, 64>>>(dS, K, dQ, 0.25f);
	cudaDeviceSynchronize();
	return 0;
}
