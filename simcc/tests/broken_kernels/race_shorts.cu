// 16-bit counters of the warps: one element too few, so two warps share one.
// EXPECT racecheck WAW|RAW|WAR error
#include "main.cuh"

__global__ void count(const int *x, short *y)
{
	__shared__ short counter[8];
	int t = threadIdx.x, warp = t / 32;
	unsigned vote = __ballot_sync(0xffffffff, x[t] > 0);
	if (t % 32 == 0) {
		counter[WRONG(warp % 7, warp)] = (short)(__popc(vote) + WRONG(warp, 0)); // BUG
	}
	__syncthreads();
	if (t < 7)
		y[t] = counter[t];
}

MAIN(count<<<1, 256>>>(zeros<int>(256), empty<short>(8)))
