// printf from kernels, in the order in which blocks and threads run. And assert, which holds.
//> from the host
//> block 0 thread 0: 0.50
//> block 0 thread 1: 1.50
//> block 1 thread 0: 2.50
//> block 1 thread 1: 3.50
//> -7 4000000000 7f % c string 1e+10 12345678901234
//>    42|42   |0042
//> !!!
//> the end
#include "check.cuh"
#include <cassert>

__global__ void talk()
{
	printf("block %d thread %d: %.2f\n", blockIdx.x, threadIdx.x, blockIdx.x * blockDim.x + threadIdx.x + 0.5f);
}

__global__ void formats(const char *unused)
{
	(void)unused;
	printf("%d %u %x %% %c %s %g %lld\n", -7, 4000000000u, 127, 'c', "string", 1e10, 12345678901234LL);
	printf("%5d|%-5d|%04d\n", 42, 42, 42);
}

__global__ void mark()
{
	printf("!");
}

__global__ void holds(int n)
{
	assert(threadIdx.x < 32);
	assert(n == 5 && "n is five");
}

int main()
{
	printf("from the host\n");
	//= talk
	talk<<<2, 2>>>();
	//= formats
	formats<<<1, 1>>>(NULL);
	CHECK(cudaDeviceSynchronize());
	//= mark
	mark<<<3, 1>>>();
	CHECK(cudaDeviceSynchronize());
	printf("\n");
	//= holds
	holds<<<1, 32>>>(5);
	CHECK(cudaDeviceSynchronize());
	printf("the end\n");
	return 0;
}
