// Three warps add to a sum and one more waits for two of them before it reads it. Kills a checker that remembers two
// atomics of a word.
// EXPECT racecheck RAW|WAR error x3
// ORDERS all
#include "main.cuh"

__global__ void add(float *sum, float *y, int *arrived, int hidden)
{
	const int warp = threadIdx.x / 32;
	if (threadIdx.x % 32 != 0)
		return;
	if (warp < 3) {
		atomicAdd(sum, 1.0f); // OTHER
		if (WRONG(warp == hidden, false))
			return;
		__threadfence();
		atomicAdd(arrived, 1);
	} else {
		while (atomicAdd(arrived, 0) != WRONG(2, 3))
			;
		__threadfence();
		y[0] = sum[0]; // BUG
	}
}

int main()
{
	float *sum = zeros<float>(1), *y = zeros<float>(1);
	int *arrived = zeros<int>(1);
	for (int hidden = 0; hidden < 3; hidden++) {
		cudaMemset(arrived, 0, sizeof *arrived);
		add<<<1, 128>>>(sum, y, arrived, hidden);
	}
	return end();
}
