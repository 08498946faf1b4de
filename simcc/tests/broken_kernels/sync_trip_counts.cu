// A causal loop over tiles: each warp stops at its own diagonal, and the barriers no longer meet.
// EXPECT synccheck divergent_barrier error
#include "main.cuh"

const int TILE = 32, N = 128;

__global__ void causal(const float *K, float *O)
{
	__shared__ float k[TILE];
	int row = threadIdx.x;
	float sum = 0;
	for (int first = 0; WRONG(first <= row, first < N); first += TILE) {
		if (row < TILE)
			k[row] = K[first + row];
		__syncthreads(); // BUG
		for (int j = 0; j < TILE; j++)
			if (first + j <= row)
				sum += k[j];
		__syncthreads(); // BUG
	}
	__syncthreads(); // BUG
	O[row] = sum;
}

MAIN(causal<<<1, N>>>(zeros<float>(N), empty<float>(N)))
