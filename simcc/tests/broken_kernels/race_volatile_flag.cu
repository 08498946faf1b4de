// What a volatile flag announces, without the fence of one side; and values that are exchanged with a fence where a
// barrier belongs.
// EXPECT racecheck RAW|WAR error x3
#include "main.cuh"

template <bool PRODUCER, bool CONSUMER>
__global__ void hand_over(const int *x, int *data, volatile int *ready, int *y)
{
	int t = threadIdx.x;
	if (t == 0) {
		data[0] = x[0] + 1; // OTHER
		if (PRODUCER)
			__threadfence();
		*ready = 1; // ALSO
	} else if (t == 32) {
		while (*ready == 0) // ALSO
			;
		if (CONSUMER)
			__threadfence();
		y[0] = data[0]; // BUG
	}
}

__global__ void swap(int *y)
{
	__shared__ volatile int s[128];
	int t = threadIdx.x;
	s[t] = t; // OTHER
	WRONG(__threadfence_block, __syncthreads)();
	y[t] = s[t ^ 64]; // BUG
}

int main()
{
	int *p = zeros<int>(5);
	hand_over<WRONG(false, true), true><<<1, 64>>>(p, p + 1, p + 2, p + 4);
	hand_over<true, WRONG(false, true)><<<1, 64>>>(p, p + 1, p + 3, p + 4);
	swap<<<1, 128>>>(empty<int>(128));
	return end();
}
