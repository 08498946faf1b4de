// NVIDIA's threadFenceReduction: the last block adds up the partial sums and resets the counter for the next launch.
// WHOLE
#include <cstdio>

__device__ unsigned retired = 0;

__device__ float block_sum(float v)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	s[t] = v;
	__syncthreads();
	for (int half = 64; half > 0; half >>= 1) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads();
	}
	v = s[0];
	__syncthreads();
	return v;
}

__global__ void reduce(const float *x, float *partial, float *y, int n)
{
	__shared__ bool is_last;
	float v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += x[i];
	v = block_sum(v);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = v;
		__threadfence();
		unsigned ticket = atomicInc(&retired, gridDim.x);
		is_last = ticket == gridDim.x - 1;
	}
	__syncthreads();
	if (is_last) {
		v = 0;
		for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
			v += partial[i];
		v = block_sum(v);
		if (threadIdx.x == 0) {
			*y = v;
			retired = 0;
		}
	}
}

int main()
{
	static float h[5000];
	float *x, *partial, *y, sum = 0;
	for (int i = 0; i < 5000; i++)
		h[i] = 1;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&partial, 7 * sizeof(float));
	cudaMalloc(&y, sizeof(float));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	for (int round = 0; round < 3; round++)
		reduce<<<7, 128>>>(x, partial, y, 5000);
	cudaMemcpy(&sum, y, sizeof sum, cudaMemcpyDeviceToHost);
	cudaFree(x), cudaFree(partial), cudaFree(y);
	return sum != 5000;
}
