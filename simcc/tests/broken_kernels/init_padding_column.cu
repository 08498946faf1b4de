// The transposed read walks into the padding column.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void transpose(const float *x, float *y)
{
	__shared__ float tile[16][17];
	int c = threadIdx.x, r = threadIdx.y;
	tile[r][c] = x[r * 16 + c];
	__syncthreads();
#ifdef FIXED
	y[r * 16 + c] = tile[c][r];
#else
	y[r * 16 + c] = tile[c][r + 1]; // BUG
#endif
}

int main()
{
	float *x = zeros<float>(256), *y = empty<float>(256);
	transpose<<<1, dim3(16, 16)>>>(x, y);
	return end();
}
