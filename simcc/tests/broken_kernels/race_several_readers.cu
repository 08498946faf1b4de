// Threads of all warps read one element, and one of them then writes it, whatever the shape of the block.
// EXPECT racecheck WAR|RAW error x12
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
	int *x = zeros<int>(1);
	for (dim3 shape : {dim3(64), dim3(8, 8), dim3(4, 4, 8), dim3(5, 3, 7)})
		for (int writer : {0, 16, 48})
			raise<<<1, shape>>>(x, writer);
	return end();
}
