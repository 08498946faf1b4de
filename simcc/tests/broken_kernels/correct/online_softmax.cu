// Block-wide online softmax: (m, d) pairs are reduced through shuffles and shared memory.
#include "../main.cuh"
#include <cmath>

struct md {
	float m, d;
};

__device__ md merge(md a, md b)
{
	md big = a.m > b.m ? a : b, small = a.m > b.m ? b : a, r;
	r.d = big.d + small.d * expf(small.m - big.m);
	r.m = big.m;
	return r;
}

__global__ void softmax(const float *x, float *y, int n)
{
	__shared__ md part[32], total;
	int t = threadIdx.x, row = blockIdx.x;
	md v = {-INFINITY, 0};
	for (int i = t; i < n; i += blockDim.x) {
		md e = {x[row * n + i], 1};
		v = v.d == 0 ? e : merge(v, e);
	}
	for (int step = 16; step > 0; step >>= 1) {
		md o = {__shfl_xor_sync(~0u, v.m, step), __shfl_xor_sync(~0u, v.d, step)};
		if (o.d > 0)
			v = v.d == 0 ? o : merge(v, o);
	}
	if (t % 32 == 0)
		part[t / 32] = v;
	__syncthreads();
	if (t == 0) {
		v = part[0];
		for (int w = 1; w < blockDim.x / 32; w++)
			v = merge(v, part[w]);
		total = v;
	}
	__syncthreads();
	md all = total;
	for (int i = t; i < n; i += blockDim.x)
		y[row * n + i] = expf(x[row * n + i] - all.m) / all.d;
}

int main()
{
	static float h[3 * 300];
	float sum = 0;
	for (int i = 0; i < 900; i++)
		h[i] = sinf(i);
	float *x = copy_of(h), *y = empty<float>(3 * 300);
	softmax<<<3, 128>>>(x, y, 300);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	for (int i = 300; i < 600; i++)
		sum += h[i];
	return fabsf(sum - 1) > 1e-4f || end();
}
