// N is no multiple of the tile: the last tile's rows need a guard.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

const int N = 50, D = 16, TILE = 32;

__global__ void load(const float *K, float *y, int n)
{
	__shared__ float k[TILE][D];
	float sum = 0;
	for (int first = 0; first < n; first += TILE) {
		for (int i = threadIdx.x; i < TILE * D; i += blockDim.x)
			k[i / D][i % D] = WRONG(K[first * D + i], first + i / D < n ? K[first * D + i] : 0); // BUG
		__syncthreads();
		for (int j = 0; j < TILE; j++)
			sum += k[j][threadIdx.x % D];
		__syncthreads();
	}
	y[threadIdx.x] = sum;
}

int main()
{
	float *K = zeros<float>(N * D), *y = empty<float>(64);
	load<<<1, 64>>>(K, y, N);
	return end();
}
