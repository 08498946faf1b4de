// 16-bit counters of the warps: one element too few, so two warps share one.
// EXPECT racecheck WAW|RAW|WAR error
#include "main.cuh"

__global__ void count(const int *x, short *y)
{
	__shared__ short counter[8];
	int t = threadIdx.x, warp = t / 32;
	unsigned vote = __ballot_sync(0xffffffff, x[t] > 0);
	if (t % 32 == 0) {
#ifdef FIXED
		counter[warp] = (short)__popc(vote);
#else
		counter[warp % 7] = (short)(__popc(vote) + warp); // BUG
#endif
	}
	__syncthreads();
	if (t < 7)
		y[t] = counter[t];
}

int main()
{
	int *x = zeros<int>(256);
	short *y = empty<short>(8);
	count<<<1, 256>>>(x, y);
	return end();
}
