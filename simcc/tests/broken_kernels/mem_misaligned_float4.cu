// Rows of 66 floats: every second row is not aligned to 16 bytes.
// EXPECT memcheck misaligned error
#include "main.cuh"

const int PITCH = WRONG(66, 68);

__global__ void load(const float *x, float *y)
{
	int row = threadIdx.x / 16, column = threadIdx.x % 16 * 4;
	float4 v = *(const float4 *)&x[row * PITCH + column]; // BUG
	y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main()
{
	float *x = zeros<float>(4 * PITCH), *y = empty<float>(64);
	load<<<1, 64>>>(x, y);
	return end();
}
