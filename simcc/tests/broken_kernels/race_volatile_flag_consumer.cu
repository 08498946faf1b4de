// What a volatile flag announces, without the fence of the consumer.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void hand_over(const int *x, int *data, volatile int *ready, int *y)
{
	int t = threadIdx.x;
	if (t == 0) {
		data[0] = x[0] + 1; // OTHER
		__threadfence();
		*ready = 1; // ALSO
	} else if (t == 32) {
		while (*ready == 0) // ALSO
			;
#ifdef FIXED
		__threadfence();
#endif
		y[0] = data[0]; // BUG
	}
}

int main()
{
	int *x = zeros<int>(1), *y = empty<int>(1), *data = empty<int>(1), *ready = zeros<int>(1);
	hand_over<<<1, 64>>>(x, data, ready, y);
	return end();
}
