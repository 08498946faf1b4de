// A prefix sum in one pass: each block waits for the sums of the blocks before it, by volatile flags and fences.
#include "../main.cuh"

enum { NOTHING, SUM_OF_BLOCK, SUM_SO_FAR };

__global__ void scan(const int *x, int *y, int n, int *tickets, volatile int *flag, volatile int *sum, int *so_far)
{
	__shared__ int s[128], tile, before;
	int t = threadIdx.x;
	if (t == 0)
		tile = atomicAdd(tickets, 1); // blocks may start in any order
	__syncthreads();
	int i = tile * 128 + t;
	s[t] = i < n ? x[i] : 0;
	__syncthreads();
	for (int step = 1; step < 128; step *= 2) {
		int other = t >= step ? s[t - step] : 0;
		__syncthreads();
		s[t] += other;
		__syncthreads();
	}
	if (t == 0) {
		before = 0;
		if (tile > 0) {
			sum[tile] = s[127];
			__threadfence();
			flag[tile] = SUM_OF_BLOCK;
			for (int b = tile - 1;; b--) {
				int seen;
				while ((seen = flag[b]) == NOTHING)
					;
				__threadfence();
				before += seen == SUM_SO_FAR ? so_far[b] : sum[b];
				if (seen == SUM_SO_FAR)
					break;
			}
		}
		so_far[tile] = before + s[127];
		__threadfence();
		flag[tile] = SUM_SO_FAR;
	}
	__syncthreads();
	if (i < n)
		y[i] = before + s[t];
}

int main()
{
	const int n = 1500, blocks = (n + 127) / 128;
	int *x = ones<int>(n), *y = empty<int>(n), *tickets = empty<int>(1), *flag = empty<int>(blocks);
	int *sum = empty<int>(blocks), *so_far = empty<int>(blocks);
	for (int round = 0; round < 2; round++) {
		cudaMemset(tickets, 0, sizeof(int));
		cudaMemset(flag, 0, blocks * sizeof(int));
		scan<<<blocks, 128>>>(x, y, n, tickets, flag, sum, so_far);
	}
	return element(y, n - 1) != n || end();
}
