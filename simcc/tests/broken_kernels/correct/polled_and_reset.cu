// A thread that polls with an atomic resets the count that it has waited for: its own atomic was the last. Kills a
// checker for which a second poll stands where the first one stood.
#include "../main.cuh"

__global__ void wait_for(int *count)
{
	if (threadIdx.x == 0) {
		while (atomicAdd(count, 0) == 0)
			;
		*count = 0;
	}
	if (threadIdx.x == 32)
		atomicAdd(count, 1);
	__threadfence(); // orders nothing here
}

MAIN(wait_for<<<1, 64>>>(zeros<int>(1)))
