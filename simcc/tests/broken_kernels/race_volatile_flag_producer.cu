// What a volatile flag announces, without the fence of the producer.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void hand_over(const int *x, int *data, volatile int *ready, int *y)
{
	int t = threadIdx.x;
	if (t == 0) {
		data[0] = x[0] + 1; // OTHER
		IF_RIGHT(__threadfence());
		*ready = 1; // ALSO
	} else if (t == 32) {
		while (*ready == 0) // ALSO
			;
		__threadfence();
		y[0] = data[0]; // BUG
	}
}

MAIN(hand_over<<<1, 64>>>(zeros<int>(1), empty<int>(1), zeros<int>(1), empty<int>(1)))
