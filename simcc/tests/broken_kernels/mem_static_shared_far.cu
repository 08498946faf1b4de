// The K tile has 16 rows and is filled with 32: far into the arrays behind it.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

const int D = 64;

__global__ void load(const float *K, float *y)
{
	__shared__ float k[WRONG(16, 32)][D], v[32][D], q[16][D];
	int t = threadIdx.x;
	for (int i = t; i < 32 * D; i += blockDim.x)
		v[i / D][i % D] = 0;
	for (int i = t; i < 16 * D; i += blockDim.x)
		q[i / D][i % D] = 0;
	__syncthreads();
	for (int row = t; row < 32; row += blockDim.x)
		for (int c = 0; c < D; c++)
			k[31 - row][c] = K[row * D + c]; // BUG
	__syncthreads();
	y[t] = k[t % 16][t] + v[t % 32][t] + q[t % 16][t];
}

int main()
{
	float *K = zeros<float>(32 * D), *y = empty<float>(32);
	load<<<1, 32>>>(K, y);
	return end();
}
