// Some threads leave, and the others wait for them; what they exchange is right all the same.
// EXPECT synccheck exited_threads warning x5
// ORDERS all
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

// Of the second warp 20 lanes are there, and the mask names all 32.
__global__ void exchanges(int *y)
{
	int lane = threadIdx.x % 32, all, ok = 0;
	const unsigned there = WRONG(threadIdx.x < 32, true) ? 0xffffffff : 0xfffff;
	const int n = __popc(there);
	if (lane >= n)
		return;
	ok += __ballot_sync(0xffffffff, 1) == there;                                        // BUG
	ok += __all_sync(0xffffffff, 1) && !__all_sync(0xffffffff, lane != 7);              // BUG
	ok += __any_sync(0xffffffff, lane == 19) && !__any_sync(0xffffffff, 0);             // BUG
	ok += __reduce_add_sync(0xffffffff, 3) == 3 * n;                                    // BUG
	ok += __reduce_max_sync(0xffffffff, lane) == n - 1;                                 // BUG
	ok += __match_any_sync(0xffffffff, lane % 2) == (there & (0x55555555 << lane % 2)); // BUG
	ok += __match_all_sync(0xffffffff, 0, &all) == there && all;                        // BUG
	ok += __match_all_sync(0xffffffff, 1.5f, &all) == there && all;                     // BUG
	ok += __shfl_sync(0xffffffff, lane * 5, 3) == 15;                                   // BUG
	__syncwarp(); // exchanges nothing: no hazard
	y[threadIdx.x] = ok;
}

int main()
{
	int *y = empty<int>(64), right = 0;
	for (auto kernel : {relax, count, load, sum, exchanges})
		kernel<<<1, 64>>>(y);
	for (int i = 0; i < WRONG(52, 64); i++)
		right += element(y, i) == 9;
	return right != WRONG(52, 64) || end();
}
