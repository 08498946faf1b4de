// A kernel called like a function, by its address: no_launch WAY. (By its name no compiler takes it: mistakes/mistyped.cu.)
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void kernel(float *y)
{
	y[threadIdx.x] = 1;
}

__global__ void nothing() {}

int main(int argc, char **argv)
{
	static float y[32];
	float *device;
	void (*pointer)(float *) = kernel;
	void (*empty)() = nothing;
	switch (argc == 2 ? atoi(argv[1]) : 0) {
	case 0: pointer(y); break;
	case 1: empty(); break;
	case 2:
		cudaMalloc(&device, sizeof y);
		kernel<<<1, 32>>>(device);
		cudaDeviceSynchronize();
		pointer(device);
		break;
	}
	printf("went on\n");
	return 0;
}
