// A stage of a pipeline that nobody committed: consumer_wait() finds no stage, and waits for nothing.
// EXPECT racecheck RAW error
#include "main.cuh"
#include <cuda/pipeline>

__global__ void first(const float *x, float *y)
{
	__shared__ float s[32];
	auto pipe = cuda::make_pipeline();
	pipe.producer_acquire();
	cuda::memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4, pipe); // OTHER
#ifdef FIXED
	pipe.producer_commit();
#endif
	pipe.consumer_wait();
	y[threadIdx.x] = s[threadIdx.x]; // BUG
	pipe.consumer_release();
}

int main()
{
	float *x = zeros<float>(32), *y = zeros<float>(32);
	first<<<1, 32>>>(x, y);
	return end();
}
