// Updates in place where each thread owns its elements, also over several barriers and a grid-stride loop.
#include "../main.cuh"

__global__ void gelu(float *x, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		float v = x[i];
		x[i] = v * (1 + tanhf(v)) / 2;
		x[i] += 1;
	}
}

__global__ void swap_ends(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n / 2) {
		float a = x[i], b = x[n - 1 - i];
		x[i] = b;
		x[n - 1 - i] = a;
	}
}

__global__ void rotate_in_block(float *x)
{
	int t = threadIdx.x;
	float *mine = x + blockIdx.x * blockDim.x;
	for (int i = 0; i < 3; i++) {
		float v = mine[(t + 1) % blockDim.x];
		__syncthreads();
		mine[t] = v;
		__syncthreads();
	}
}

int main()
{
	float *x = zeros<float>(1000);
	gelu<<<3, 64>>>(x, 1000);
	swap_ends<<<4, 128>>>(x, 999);
	rotate_in_block<<<5, 200>>>(x);
	return end();
}
