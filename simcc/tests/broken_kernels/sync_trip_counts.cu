// A causal loop over tiles: each warp stops at its own diagonal, and the barriers no longer meet.
// EXPECT synccheck divergent_barrier error
#include "main.cuh"

const int TILE = 32, N = 128;

__global__ void causal(const float *K, float *O)
{
	__shared__ float k[TILE];
	int row = threadIdx.x;
	float sum = 0;
#ifdef FIXED
	for (int first = 0; first < N; first += TILE) {
#else
	for (int first = 0; first <= row; first += TILE) {
#endif
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

int main()
{
	float *K = zeros<float>(N), *O = empty<float>(N);
	causal<<<1, N>>>(K, O);
	return end();
}
