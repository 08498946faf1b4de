// Lane 0 tells lane 1, lane 1 tells lane 2, and so on: each pair meets in a __syncwarp() of its own.
#include "../main.cuh"

__global__ void chain(int *y)
{
	__shared__ int first, sum;
	int t = threadIdx.x;
	if (t == 0)
		first = 1;
	for (int i = 0; i < 31; i++)
		if (t == i || t == i + 1)
			__syncwarp(3u << i);
	if (t == 31)
		sum = first + 1;
	// The other way round, and in halves that have one lane in common.
	if (t >= 8)
		__syncwarp(0xffffff00);
	if (t <= 8)
		__syncwarp(0x000001ff);
	y[t] = sum;
}

// What lane 0 has written is covered by lane 2's fence: they met by way of lane 1.
__global__ void hand_over(int *flag, int *data, int *y)
{
	int t = threadIdx.x;
	if (blockIdx.x == 0) {
		if (t == 0)
			*data = 42;
		if (t <= 1)
			__syncwarp(3);
		if (t == 1 || t == 2)
			__syncwarp(6);
		if (t == 2) {
			__threadfence();
			atomicExch(flag, 1);
		}
	} else if (t == 0 && atomicAdd(flag, 0) == 1) {
		__threadfence();
		*y = *data;
	}
}

int main()
{
	int *y = zeros<int>(32);
	chain<<<1, 32>>>(y);
	bool wrong = element(y, 31) != 2;
	hand_over<<<2, 32>>>(zeros<int>(1), zeros<int>(1), y);
	return wrong || end();
}
