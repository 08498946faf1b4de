// The ways to launch: from a macro, on a stream, through a pointer, with cudaLaunchKernel; 3-D shapes; partial warps.
#include "check.cuh"

#define RUN(kernel, n, ...) kernel<<<((n) + 31) / 32, 32>>>(__VA_ARGS__)

__global__ void add(int *y, int value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += value;
}

__global__ void __launch_bounds__(128) where(int *y)
{
	int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	y[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = thread;
}

typedef void (*kernel_type)(int *, int, int);

int main()
{
	int *dy = device_zeros<int>(120);
	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));

	//= add load=160/2/5 store=160/2/5 foot=160/160 grid=2,1,1 block=32,1,1
	RUN(add, 40, dy, 1, 40);
	//= add load=160/2/5 store=160/2/5 grid=2,1,1 block=32,1,1
	add<<<dim3(40 > 32 ? 2 : 1), 32, 0, stream>>>(dy, 2, 40);
	CHECK(cudaStreamSynchronize(stream));
	EXPECT(element(dy, 0) == 3 && element(dy, 39) == 3 && element(dy, 40) == 0);
	//= add load=128/1/4 store=128/1/4 x2
	kernel_type table[1] = {add};
	table[0]<<<1, 32>>>(dy, 1, 32);
	int value = 50, n = 32;
	void *arguments[] = {&dy, &value, &n};
	CHECK(cudaLaunchKernel((const void *)add, dim3(1), dim3(32), arguments, 0, stream));
	EXPECT(element(dy, 0) == 54);

	// 30 threads: one warp that is not full, at 0, 120, 240, 360 bytes: 4, 5, 5 and 4 sectors
	//= where store=480/4/4+5+5+4 grid=2,1,2 block=5,3,2
	where<<<dim3(2, 1, 2), dim3(5, 3, 2)>>>(dy);
	EXPECT_EACH(dy, 120, i, i % 30);
	// 49 threads: 32 and 17, the second block at byte 196: sectors 6-10 of 32 lanes, 10-12 of 17
	//= where store=392/4/4+3+5+3 grid=1,2,1 block=7,7,1
	where<<<dim3(1, 2), dim3(7, 7)>>>(dy);
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(dy));
	return 0;
}
