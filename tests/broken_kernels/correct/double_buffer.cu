// Two buffers, one barrier a tile.
#include <cstdio>

__global__ void pipeline(const float *x, float *y, int tiles)
{
	extern __shared__ float s[];
	float *now = s, *next = s + blockDim.x;
	int t = threadIdx.x, T = blockDim.x;
	float sum = 0;
	now[t] = x[t];
	for (int tile = 1; tile <= tiles; tile++) {
		float coming = tile < tiles ? x[tile * T + t] : 0;
		__syncthreads();
		sum += now[(t * 5 + 1) % T] - now[T - 1 - t];
		next[t] = coming;
		float *swap = now;
		now = next;
		next = swap;
	}
	y[t] = sum;
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 5 * 128 * sizeof(float));
	cudaMalloc(&y, 128 * sizeof(float));
	cudaMemset(x, 0, 5 * 128 * sizeof(float));
	pipeline<<<1, 128, 256 * sizeof(float)>>>(x, y, 5);
	cudaError_t e = cudaDeviceSynchronize();
	cudaFree(x), cudaFree(y);
	return e != cudaSuccess;
}
