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
	IF_RIGHT(pipe.producer_commit());
	pipe.consumer_wait();
	y[threadIdx.x] = s[threadIdx.x]; // BUG
	pipe.consumer_release();
}

MAIN(first<<<1, 32>>>(zeros<float>(32), zeros<float>(32)))
