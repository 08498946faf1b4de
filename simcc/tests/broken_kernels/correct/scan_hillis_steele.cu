#include "../main.cuh"

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
	int h[256];
	for (int i = 0; i < 256; i++)
		h[i] = 1;
	int *x = copy_of(h), *y = empty<int>(256);
	scan<<<1, 256, 2 * sizeof h>>>(x, y, 256);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	free_all(x, y);
	return h[255] != 255;
}
