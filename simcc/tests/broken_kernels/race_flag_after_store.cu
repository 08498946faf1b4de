// A thread stores plainly after the block's only fence, passes a barrier and then stores to a volatile: no flag, since no fence
// stands between. Kills a checker that takes the fence for one of all that follows in the block.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void late(int *x, int *y, int *z)
{
	if (threadIdx.x == 0)
		__threadfence();
	__syncthreads();
	if (threadIdx.x == 32)
		z[0] = 1;
	__syncthreads();
	if (threadIdx.x == 32) {
#ifdef FIXED
		__threadfence();
#endif
		*(volatile int *)x = 1; // BUG
	}
	if (threadIdx.x == 64)
		y[0] = *(volatile int *)x; // BUG
}

int main()
{
	int *x = zeros<int>(1), *y = zeros<int>(1), *z = zeros<int>(1);
	late<<<1, 96>>>(x, y, z);
	return end(x, y, z);
}
