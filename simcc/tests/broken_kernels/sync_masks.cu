// Lanes that meet with masks that are wrong, or read a lane that is not there.
// EXPECT synccheck missing_lane|invalid_mask|outside_lane|exited_lane|divergent_barrier error x10
// ORDERS all
#include "main.cuh"

// The masks of the lanes do not agree.
__global__ void meet(int *y)
{
	int t = threadIdx.x;
	unsigned mask = WRONG(t < 8 ? 0x0000ffff : 0xffffffff, 0xffffffff);
	y[t] = __shfl_sync(mask, t, 0); // BUG
}

// The mask does not name its caller.
__global__ void half(int *y)
{
	int t = threadIdx.x;
	if (t < 16)
		y[t] = 1;
	__syncwarp(WRONG(0x0000ffff, 0xffffffff)); // BUG
	if (t >= 16)
		y[t] = y[t - 16];
}

__global__ void sum(int *y)
{
	int v = threadIdx.x;
	const unsigned mask = WRONG(0xff, 0xffffffff);
	for (int step = 4; step > 0; step /= 2)
		v += __shfl_xor_sync(mask, v, step); // BUG
	y[threadIdx.x] = v;
}

// Groups of 12 lanes, which no shuffle has.
__global__ void groups(int *y)
{
	y[threadIdx.x] = __shfl_sync(0xffffffff, int(threadIdx.x), 0, y[0] + WRONG(12, 16)); // BUG
}

// Half a warp sums up, beginning with the lanes of the other half.
__global__ void pairs(int *y)
{
	int v = threadIdx.x;
	if (threadIdx.x % 32 < 16)
		v += WRONG(__shfl_down_sync(0x0000ffff, v, 16), __shfl_down_sync(0x0000ffff, v, 8, 16)); // BUG
	y[threadIdx.x] = v;
}

// The first lane looks up a value of its neighbor; what the others shuffle next is something else.
__global__ void spread(int *y)
{
	int t = threadIdx.x, v = t, next = 0;
	if (WRONG(t % 32 == 0, true))
		next = __shfl_down_sync(0xffffffff, v, 1); // BUG
	if (t % 32 == 0)
		v += next;
	y[t] = __shfl_sync(0xffffffff, v, 0); // BUG
}

// A full mask inside a branch that only some lanes take.
__global__ void inside_branch(int *y)
{
	int t = threadIdx.x, v = t < 20 ? t : 0;
	if (WRONG(t < 20, true))
		for (int step = 16; step > 0; step /= 2)
			v += __shfl_down_sync(0xffffffff, v, step); // BUG
	__syncthreads();                                            // ALSO
	if (t == 0)
		*y = v;
}

// Threads past the end leave, and the rest of their warp adds up what it reads from them.
__global__ void tail(int *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, n = 20;
	if (WRONG(i >= n, false))
		return;
	double v = i < n ? i : 0;
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_down_sync(0xffffffff, v, step); // BUG
	if (threadIdx.x % 32 == 0)
		atomicAdd(y, int(v));
}

// A warp's sum called by its first lane only; the others have nothing more to do and leave.
template <class T>
__device__ T warp_sum(T v)
{
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_xor_sync(0xffffffff, v, step); // BUG
	return v;
}

template <class T>
__global__ void one_lane(int *y)
{
	if (WRONG(threadIdx.x % 32 == 0, true))
		y[threadIdx.x] = int(warp_sum(T(threadIdx.x)));
}

int main()
{
	for (auto kernel :
	     {meet, half, sum, groups, pairs, spread, inside_branch, tail, one_lane<float>, one_lane<long long>}) {
		kernel<<<1, 32>>>(zeros<int>(32));
		reset();
	}
	return end();
}
