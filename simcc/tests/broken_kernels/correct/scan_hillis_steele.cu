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
	int *y = empty<int>(256);
	scan<<<1, 256, 512 * sizeof(int)>>>(ones<int>(256), y, 256);
	return element(y, 255) != 255 || end();
}
