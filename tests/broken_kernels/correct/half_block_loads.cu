// Half of the block loads A, the other half loads B; everybody uses both.
#include <cstdio>

__global__ void product(const float *a, const float *b, float *c, int n)
{
	__shared__ float sa[64], sb[64];
	int t = threadIdx.x;
	float sum = 0;
	for (int first = 0; first < n; first += 64) {
		if (t < 64)
			sa[t] = first + t < n ? a[first + t] : 0;
		else
			sb[t - 64] = first + t - 64 < n ? b[first + t - 64] : 0;
		__syncthreads();
		sum += sa[t % 64] * sb[63 - t % 64];
		__syncthreads();
	}
	c[t] = sum;
}

int main()
{
	float *a, *b, *c;
	cudaMalloc(&a, 150 * sizeof(float));
	cudaMalloc(&b, 150 * sizeof(float));
	cudaMalloc(&c, 128 * sizeof(float));
	cudaMemset(a, 0, 150 * sizeof(float));
	cudaMemset(b, 0, 150 * sizeof(float));
	product<<<1, 128>>>(a, b, c, 150);
	cudaError_t e = cudaDeviceSynchronize();
	cudaFree(a), cudaFree(b), cudaFree(c);
	return e != cudaSuccess;
}
