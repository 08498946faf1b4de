// NVIDIA's bitonic sort: two elements a thread, keys and values.
#include "../main.cuh"

__device__ inline void comparator(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, unsigned up)
{
	if ((ka > kb) == up) {
		unsigned t = ka;
		ka = kb, kb = t;
		t = va;
		va = vb, vb = t;
	}
}

__global__ void sort(unsigned *keys, unsigned *values)
{
	__shared__ unsigned k[256], v[256];
	unsigned t = threadIdx.x;
	k[t] = keys[t], v[t] = values[t];
	k[t + 128] = keys[t + 128], v[t + 128] = values[t + 128];
	for (unsigned size = 2; size < 256; size <<= 1) {
		unsigned direction = (t & (size / 2)) != 0;
		for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
			__syncthreads();
			unsigned p = 2 * t - (t & (stride - 1));
			comparator(k[p], v[p], k[p + stride], v[p + stride], direction);
		}
	}
	for (unsigned stride = 128; stride > 0; stride >>= 1) {
		__syncthreads();
		unsigned p = 2 * t - (t & (stride - 1));
		comparator(k[p], v[p], k[p + stride], v[p + stride], 1);
	}
	__syncthreads();
	keys[t] = k[t], values[t] = v[t];
	keys[t + 128] = k[t + 128], values[t + 128] = v[t + 128];
}

int main()
{
	unsigned h[256];
	for (unsigned i = 0; i < 256; i++)
		h[i] = i * 167 % 256;
	unsigned *k = copy_of(h), *v = copy_of(h);
	sort<<<1, 128>>>(k, v);
	cudaMemcpy(h, v, sizeof h, cudaMemcpyDeviceToHost);
	for (unsigned i = 0; i < 256; i++)
		if (h[i] != i)
			return 1;
	return end();
}
