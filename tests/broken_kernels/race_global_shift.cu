// Each lane moves its right neighbour's value in place, in global memory: reads first, but nothing says so.
// EXPECT racecheck WAR|RAW warning
#include <cstdio>

template <class T>
__global__ void shift(T *x)
{
	int t = threadIdx.x;
	T next = t < 31 ? x[t + 1] : T(); // OTHER
#ifdef FIXED
	__syncwarp();
#endif
	x[t] = next; // BUG
}

int main()
{
	float *x;
	unsigned char *bytes;
	cudaMalloc(&x, 32 * sizeof(float));
	cudaMalloc(&bytes, 32);
	cudaMemset(x, 0, 32 * sizeof(float));
	cudaMemset(bytes, 0, 32);
	shift<<<1, 32>>>(x);
	shift<<<1, 32>>>(bytes);
	cudaDeviceSynchronize();
	return 0;
}
