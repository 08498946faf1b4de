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

int main()
{
	printf("from the host\n");
	//= each
	each<<<2, 2>>>([] __device__(int t) {
		printf("block %d thread %d: %.2f\n", blockIdx.x, t, blockIdx.x * blockDim.x + t + 0.5f);
	});
	//= each
	each<<<1, 1>>>([] __device__(int) {
		printf("%d %u %x %% %c %s %g %lld\n", -7, 4000000000u, 127, 'c', "string", 1e10, 12345678901234LL);
		printf("%5d|%-5d|%04d\n", 42, 42, 42);
	});
	CHECK(cudaDeviceSynchronize());
	//= each
	each<<<3, 1>>>([] __device__(int) { printf("!"); });
	CHECK(cudaDeviceSynchronize());
	printf("\n");
	//= each
	each<<<1, 32>>>([n = 5] __device__(int t) {
		assert(t < 32);
		assert(n == 5 && "n is five");
	});
	CHECK(cudaDeviceSynchronize());
	printf("the end\n");
	return 0;
}
