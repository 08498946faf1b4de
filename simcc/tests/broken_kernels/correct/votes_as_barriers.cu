// Shuffles and votes of the full mask also order shared memory inside a warp; block-wide votes order it for the
// block.
#include "../main.cuh"

__global__ void work(const int *x, int *y)
{
	__shared__ int s[64], total;
	int t = threadIdx.x;
	s[t] = x[t];
	unsigned any = __ballot_sync(0xffffffff, s[t] > 3);
	int v = s[t ^ 1] + (any != 0);
	v += __shfl_xor_sync(0xffffffff, v, 2);
	s[t] = v;
	int count = __syncthreads_count(v > 2);
	if (t == 0)
		total = count + s[63];
	if (__syncthreads_or(t == 5))
		y[t] = total + s[63 - t];
}

MAIN(work<<<1, 64>>>(upwards<int>(64), empty<int>(64)))
