// Rows copied by cudaMemcpy2D: of the four, the last was never written, and in the copy it is not either.
// EXPECT initcheck uninitialized error
#include "main.cuh"

const int ROWS = WRONG(4, 3);

__global__ void sum(const float *x, int pitch, float *y)
{
	float sum = 0;
	for (int row = 0; row < ROWS; row++)
		sum += x[row * pitch + threadIdx.x]; // BUG
	y[threadIdx.x] = sum;
}

int main()
{
	const size_t row = 40 * sizeof(float), wide_row = 48 * sizeof(float);
	float *x = empty<float>(4 * 40), *wide = empty<float>(4 * 48), *y = empty<float>(32);
	cudaMemset(x, 0, 3 * row);
	cudaMemcpy2D(wide, wide_row, x, row, row, 4, cudaMemcpyDeviceToDevice);
	sum<<<1, 32>>>(wide, 48, y);
	return end();
}
