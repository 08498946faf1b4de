#include <cstdio>

__global__ void scan(const int *in, int *out, int n)
{
	extern __shared__ int temp[];
	int t = threadIdx.x, pout = 0, pin = 1;
	temp[t] = t > 0 ? in[t - 1] : 0;
	__syncthreads();
	for (int offset = 1; offset < n; offset *= 2) {
		pout = 1 - pout;
		pin = 1 - pout;
		if (t >= offset)
			temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - offset];
		else
			temp[pout * n + t] = temp[pin * n + t];
		__syncthreads();
	}
	out[t] = temp[pout * n + t];
}

int main()
{
	int h[256], *x, *y;
	for (int i = 0; i < 256; i++)
		h[i] = 1;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	scan<<<1, 256, 2 * sizeof h>>>(x, y, 256);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	cudaFree(x), cudaFree(y);
	return h[255] != 255;
}
