// What a volatile flag announces, without the fence of one side.
// EXPECT racecheck RAW|WAR error x2
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

int main()
{
	int *p = zeros<int>(5);
	hand_over<WRONG(false, true), true><<<1, 64>>>(p, p + 1, p + 2, p + 4);
	hand_over<true, WRONG(false, true)><<<1, 64>>>(p, p + 1, p + 3, p + 4);
	return end();
}
