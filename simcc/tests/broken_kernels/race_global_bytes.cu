// A string moved one place to the left, in place, in global memory.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include <cstdio>

__global__ void shift(char *x, int n)
{
	int i = threadIdx.x;
	char next = i + 1 < n ? x[i + 1] : '\0'; // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	if (i < n)
		x[i] = next; // BUG
}

int main()
{
	char h[100] = "a string of less than a hundred characters", *x;
	cudaMalloc(&x, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	shift<<<1, 128>>>(x, 100);
	cudaDeviceSynchronize();
	return 0;
}
