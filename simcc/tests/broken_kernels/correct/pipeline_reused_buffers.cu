// Several kernels hand buffers on; memory is freed, allocated again, copied on the device.
#include <cstdio>

__global__ void fill(float *x, int n, float v)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] = v;
}

__global__ void add(const float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] += a[n - 1 - i];
}

int main()
{
	const int n = 1000;
	static float h[n];
	float *a, *b, *c;
	cudaMalloc(&a, n * sizeof(float));
	cudaMalloc(&b, n * sizeof(float));
	fill<<<3, 64>>>(a, n, 1);
	fill<<<2, 128>>>(b, n, 2);
	for (int i = 0; i < 4; i++) {
		add<<<(n + 127) / 128, 128>>>(a, b, n);
		add<<<(n + 127) / 128, 128>>>(b, a, n);
		cudaMalloc(&c, n * sizeof(float));
		cudaMemcpy(c, a, n * sizeof(float), cudaMemcpyDeviceToDevice);
		cudaFree(a);
		a = c;
	}
	cudaMemcpyAsync(h, a, n * sizeof(float), cudaMemcpyDeviceToHost);
	cudaDeviceSynchronize();
	cudaFree(a);
	cudaFree(b);
	return h[0] != h[n - 1];
}
