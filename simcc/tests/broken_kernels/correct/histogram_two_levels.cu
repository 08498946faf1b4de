// Private histogram in shared memory, added to the global one with atomics; grid-stride loop.
#include "../main.cuh"

__global__ void histogram(const unsigned char *x, unsigned *bins, int n)
{
	__shared__ unsigned s[256];
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		s[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&s[x[i]], 1u);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		if (s[i] > 0)
			atomicAdd(&bins[i], s[i]);
}

int main()
{
	static unsigned char h[3001];
	unsigned sum[256], total = 0;
	for (int i = 0; i < 3001; i++)
		h[i] = (unsigned char)(i * 31);
	unsigned char *x = copy_of(h);
	unsigned *bins = zeros<unsigned>(256);
	histogram<<<5, 96>>>(x, bins, 3001);
	cudaMemcpy(sum, bins, sizeof sum, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 256; i++)
		total += sum[i];
	return total != 3001 || end();
}
