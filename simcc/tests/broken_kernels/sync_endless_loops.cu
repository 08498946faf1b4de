// A loop whose step becomes 0, one that waits for a flag that nobody sets, and one for a lock that nobody gives back.
// EXPECT synccheck endless_loop error x3
// SLOW
#include "main.cuh"

__global__ void sum(int *y, int step)
{
	int n = 0;
	for (int i = 0; i < 100; i += step) // BUG
		n += i;                     // BUG
	y[threadIdx.x] = n;
}

__global__ void wait(int *y, int sets)
{
	volatile int *flag = y;
	if (sets && threadIdx.x == 32) {
		__threadfence_block();
		*flag = 1;
	}
	if (threadIdx.x == 0)
		while (*flag == 0) // BUG
			;
	__syncthreads();
	y[1 + threadIdx.x] = 1;
}

__global__ void critical(int *y, int gives_back)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(y, 0, 1) != 0) // BUG
			;
		__threadfence();
		y[1] += 1;
		__threadfence();
		if (gives_back)
			atomicExch(y, 0);
	}
}

int main()
{
	for (auto kernel : {sum, wait, critical}) {
		kernel<<<1, 64>>>(zeros<int>(128), WRONG(0, 1));
		reset();
	}
	return end();
}
