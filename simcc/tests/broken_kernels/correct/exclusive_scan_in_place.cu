// Block-wide exclusive scan: shuffles in warps, warp totals in shared memory, reused over several tiles with a carry.
#include "../main.cuh"

__global__ void scan(int *x, int n)
{
	__shared__ int totals[32], carry;
	int t = threadIdx.x, lane = t % 32, warp = t / 32;
	if (t == 0)
		carry = 0;
	for (int first = 0; first < n; first += blockDim.x) {
		int mine = first + t < n ? x[first + t] : 0, v = mine;
		for (int step = 1; step < 32; step *= 2) {
			int other = __shfl_up_sync(0xffffffff, v, step);
			if (lane >= step)
				v += other;
		}
		if (lane == 31)
			totals[warp] = v;
		__syncthreads();
		if (warp == 0) {
			int w = lane < blockDim.x / 32 ? totals[lane] : 0;
			for (int step = 1; step < 32; step *= 2) {
				int other = __shfl_up_sync(0xffffffff, w, step);
				if (lane >= step)
					w += other;
			}
			totals[lane] = w;
		}
		__syncthreads();
		int before = carry + (warp > 0 ? totals[warp - 1] : 0);
		if (first + t < n)
			x[first + t] = before + v - mine;
		__syncthreads();
		if (t == 0)
			carry += totals[31];
		__syncthreads();
	}
}

int main()
{
	int *x = ones<int>(700);
	scan<<<1, 256>>>(x, 700);
	return element(x, 699) != 699 || end();
}
