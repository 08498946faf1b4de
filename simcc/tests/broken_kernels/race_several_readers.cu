// Threads of all warps read one element, and one of them then writes it, whatever the shape of the block.
// EXPECT racecheck WAR|RAW error
#include "main.cuh"

__global__ void raise(int *x, int writer)
{
	__shared__ int near;
	int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	if (t == 0)
		near = 0;
	__syncthreads();
	int seen = x[0] + near; // OTHER
	IF_RIGHT(__syncthreads());
	if (t == writer) {
		x[0] = seen + 1; // BUG
		near = seen + 1; // BUG
	}
}

int main()
{
	const dim3 shapes[] = {dim3(64), dim3(32, 4), dim3(8, 8), dim3(4, 4, 8), dim3(5, 3, 7)};
	int *x = zeros<int>(1);
	for (int shape = 0; shape < 5; shape++)
		for (int writer = 0; writer < 128; writer += 16)
			raise<<<1, shapes[shape]>>>(x, writer);
	return end();
}
