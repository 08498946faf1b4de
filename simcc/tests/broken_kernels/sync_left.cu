// Some threads leave, and the others wait for them.
// EXPECT synccheck exited_threads warning x4
#include "main.cuh"

// One thread leaves the loop before its barrier.
__global__ void relax(int *y)
{
	__shared__ int s[64];
	int t = threadIdx.x;
	s[t] = t < 60 ? 1 : 50;
	for (int i = 0; i < 8; i++) {
		__syncthreads(); // BUG
		int next = s[(t + 1) % 64];
		if (WRONG(next > 40, false))
			break;
		__syncthreads(); // BUG
		s[t] = next;
	}
	y[t] = s[t];
}

__global__ void count(int *y)
{
	int n = 0;
	if (WRONG(threadIdx.x >= 3, true))
		n = __syncthreads_count(threadIdx.x > 3); // BUG
	y[threadIdx.x] = n;
}

// Only the warps that have work wait at the barrier.
__global__ void load(int *y)
{
	__shared__ int s[32];
	int t = threadIdx.x;
	if (t < 32) {
		s[t] = t;
		IF_WRONG(__syncthreads()); // BUG
	}
	IF_RIGHT(__syncthreads());
	y[t] = t < 32 ? s[31 - t] : 0;
}

// A reduction of the whole warp, reached by one lane of it.
__global__ void sum(int *y)
{
	if (WRONG(threadIdx.x % 32 == 0, true))
		y[threadIdx.x] = __reduce_add_sync(0xffffffff, 1); // BUG
}

int main()
{
	int *y = empty<int>(64);
	for (auto kernel : {relax, count, load, sum})
		kernel<<<1, 64>>>(y);
	return end();
}
