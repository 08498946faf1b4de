// Members of packed structs at odd addresses, which are right: one member and two.
#include <cuda_runtime.h>

struct __attribute__((packed)) One {
	unsigned v;
};
struct __attribute__((packed)) Two {
	char c;
	unsigned v;
};

__global__ void touch(char *p, unsigned *y)
{
	One *one = (One *)(p + 1 + 4 * threadIdx.x);
	Two *two = (Two *)(p + 130 + 5 * threadIdx.x);
	one->v = two->v = threadIdx.x;
	y[threadIdx.x] = one->v + two->v;
}

int main()
{
	char *p;
	unsigned *y;
	cudaMalloc(&p, 512);
	cudaMalloc(&y, 32 * sizeof *y);
	touch<<<1, 32>>>(p, y);
	return cudaDeviceSynchronize();
}
