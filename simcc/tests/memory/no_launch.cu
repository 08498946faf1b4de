// A kernel called like a function, and device code called by the host: no_launch WAY. DIRECT has what nvcc refuses.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void kernel(float *y)
{
	y[threadIdx.x] = 1;
}

__global__ void nothing() {}

template <typename T>
__global__ void generic(T *y)
{
	y[threadIdx.x] = 1;
}

__device__ int which()
{
	return threadIdx.x;
}

__device__ void meet()
{
	__syncthreads();
}

int main(int argc, char **argv)
{
	static float y[32];
	float *device;
	void (*pointer)(float *) = kernel;
	void (*empty)() = nothing;
	switch (argc == 2 ? atoi(argv[1]) : 0) {
	case 0: pointer(y); break;
	case 1: empty(); break;
#ifndef SIM_FRONT /* with --front=clang the compiler says so */
	case 2: generic(y); break;
	case 3: generic<float>(y); break;
	case 5: printf("%d\n", which()); break;
	case 6: meet(); break;
#endif
	case 4:
		cudaMalloc(&device, sizeof y);
		kernel<<<1, 32>>>(device);
		cudaDeviceSynchronize();
		pointer(device);
		break;
#ifdef DIRECT
	case 7: kernel(y); break; // @direct
#endif
	}
	printf("went on\n");
	return 0;
}
