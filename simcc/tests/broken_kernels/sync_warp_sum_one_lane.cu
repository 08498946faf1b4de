// A warp's reduction called by its first lane only; the others have nothing more to do and leave.
// EXPECT synccheck exited_lane error
// ORDERS all
#include <cstdio>

template <typename T>
__device__ T warp_sum(T v)
{
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_xor_sync(0xffffffff, v, step); // BUG
	return v;
}

template <typename T>
__global__ void sums(const T *x, T *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	T v = x[i];
#ifdef FIXED
	v = warp_sum(v);
	if (threadIdx.x % 32 == 0)
		y[i / 32] = v;
#else
	if (threadIdx.x % 32 == 0)
		y[i / 32] = warp_sum(v);
#endif
}

template <typename T>
static void run()
{
	T *x, *y;
	cudaMalloc(&x, 384 * sizeof(T));
	cudaMalloc(&y, 12 * sizeof(T));
	cudaMemset(x, 0, 384 * sizeof(T));
	sums<<<3, 128>>>(x, y);
	cudaDeviceSynchronize();
}

int main()
{
	run<float>();
	run<long long>();
	return 0;
}
