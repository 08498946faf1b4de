// In-place, work-efficient exclusive scan; two elements a thread, indices padded against bank conflicts.
// WHOLE
#include <cstdio>

#define PAD(i) ((i) + ((i) >> 5))

__global__ void scan(int *x, int n)
{
	__shared__ int s[PAD(512)];
	int t = threadIdx.x, offset = 1;
	s[PAD(t)] = x[t];
	s[PAD(t + n / 2)] = x[t + n / 2];
	for (int d = n >> 1; d > 0; d >>= 1) {
		__syncthreads();
		if (t < d) {
			int a = PAD(offset * (2 * t + 1) - 1), b = PAD(offset * (2 * t + 2) - 1);
			s[b] += s[a];
		}
		offset *= 2;
	}
	if (t == 0)
		s[PAD(n - 1)] = 0;
	for (int d = 1; d < n; d *= 2) {
		offset >>= 1;
		__syncthreads();
		if (t < d) {
			int a = PAD(offset * (2 * t + 1) - 1), b = PAD(offset * (2 * t + 2) - 1);
			int v = s[a];
			s[a] = s[b];
			s[b] += v;
		}
	}
	__syncthreads();
	x[t] = s[PAD(t)];
	x[t + n / 2] = s[PAD(t + n / 2)];
}

int main()
{
	int h[512], *x;
	for (int i = 0; i < 512; i++)
		h[i] = 1;
	cudaMalloc(&x, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	scan<<<1, 256>>>(x, 512);
	cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
	cudaFree(x);
	return h[511] != 511;
}
