// Two stages, two waits, and both are read: consumer_release() of a pipeline of one thread has no effect. The dynamic array
// lies at a multiple of what it asks for, on which a swizzle of addresses relies.
#include "../main.cuh"
#include <cuda/pipeline>

__global__ void both(const float *x, float *y)
{
	extern __shared__ __align__(1024) float s[];
	auto pipe = cuda::make_pipeline();
	for (int stage = 0; stage < 2; stage++) {
		pipe.producer_acquire();
		cuda::memcpy_async(&s[32 * stage + threadIdx.x], &x[32 * stage + threadIdx.x], 4, pipe);
		pipe.producer_commit();
	}
	pipe.consumer_wait();
	pipe.consumer_wait();
	if ((size_t)s % 1024 != 0)
		__trap();
	y[threadIdx.x] = s[threadIdx.x] + s[32 + threadIdx.x];
}

MAIN(both<<<1, 32, 256>>>(zeros<float>(64), zeros<float>(32)))
