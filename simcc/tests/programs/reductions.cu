// A sum with warp shuffles, in one launch: the last block to finish adds up (__threadfence).
#include "check.cuh"

const int THREADS = 128, BLOCKS = 8, N = 3000;

__device__ float warp_sum(float value)
{
	for (int offset = warpSize / 2; offset > 0; offset >>= 1)
		value += __shfl_down_sync(0xffffffff, value, offset);
	return value;
}

__device__ float block_sum(float value)
{
	__shared__ float partial[THREADS / 32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	value = warp_sum(value);
	if (lane == 0)
		partial[warp] = value;
	__syncthreads();
	if (warp == 0) {
		value = lane < THREADS / 32 ? partial[lane] : 0;
		value = warp_sum(value);
	}
	return value;
}

__device__ unsigned finished;

__global__ void sum_all(const float *x, volatile float *partial, float *result, int n)
{
	__shared__ bool last;
	float sum = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += x[i];
	sum = block_sum(sum);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = sum;
		__threadfence();
		last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
	}
	__syncthreads();
	if (last) {
		sum = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
		__syncthreads();
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			*result = sum;
	}
}

int main()
{
	static float x[N];
	float expected = 0;
	for (int i = 0; i < N; i++) {
		x[i] = (float)(i % 10);
		expected += x[i];
	}
	float *dx = device_copy(x, N), *dy = device_zeros<float>(BLOCKS), *dtotal = device_zeros<float>(1);
	// 3000 floats: 93 full warps and one of 24 lanes, 93 * 4 + 3 sectors. Per block 4 stores of one word to
	// shared memory, one load of 4; 8 increments, `last` written by one thread and read by all, and once more a
	// block's sum.
	//= sum_all load=12000+32/94+1/375+1 store=32+4/9/9 atomic=32/8/8 sstore=9*16+8/9*4+8/9*4+8/9*4+8
	//+ sload=9*16+8*128/9+8*4/9+8*4/9+8*4 barriers=8*2+2 tensor:finished=0/0/4/4
	sum_all<<<BLOCKS, THREADS>>>(dx, dy, dtotal, N);
	EXPECT(element(dtotal, 0) == expected);
	return 0;
}
