// Three warps read a word, or add to it, and one more waits for two of them before it writes, or reads. Kills a checker
// that remembers two readers, or two atomics, of a word: in some orders those are the two that are waited for.
// EXPECT racecheck WAR|RAW error x6
// ORDERS all
#include "main.cuh"

template <bool ADDS>
__global__ void replace(int *x, int *y, int *arrived, int hidden)
{
	__shared__ int near, told;
	const int warp = threadIdx.x / 32;
	if (threadIdx.x == 0)
		near = told = 0;
	__syncthreads();
	if (threadIdx.x % 32 != 0)
		return;
	if (warp < 3) {
		if (ADDS)
			atomicAdd(x, 1); // OTHER
		else
			y[warp] = x[0] + near; // OTHER
		if (WRONG(warp == hidden, false))
			return;
		__threadfence();
		atomicAdd(arrived, 1);
		atomicAdd(&told, 1);
	} else {
		const int all = WRONG(2, 3);
		while (atomicAdd(arrived, 0) != all || atomicAdd(&told, 0) != all)
			;
		__threadfence();
		if (ADDS) {
			y[0] = x[0]; // BUG
		} else {
			x[0] = 1; // BUG
			near = 1; // BUG
		}
	}
}

int main()
{
	int *x = zeros<int>(1), *y = zeros<int>(3), *arrived = zeros<int>(1);
	for (auto kernel : {replace<false>, replace<true>})
		for (int hidden = 0; hidden < 3; hidden++) {
			cudaMemset(arrived, 0, sizeof *arrived);
			kernel<<<1, 128>>>(x, y, arrived, hidden);
		}
	return end();
}
