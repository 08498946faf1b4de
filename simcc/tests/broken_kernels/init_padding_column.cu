// The transposed read walks into the padding column.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void transpose(const float *x, float *y)
{
	__shared__ float tile[16][17];
	int c = threadIdx.x, r = threadIdx.y;
	tile[r][c] = x[r * 16 + c];
	__syncthreads();
	y[r * 16 + c] = tile[c][WRONG(r + 1, r)]; // BUG
}

MAIN(transpose<<<1, dim3(16, 16)>>>(zeros<float>(256), empty<float>(256)))
