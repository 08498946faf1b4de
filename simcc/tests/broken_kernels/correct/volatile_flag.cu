// Warp 1 waits for warp 0 with a volatile flag and fences.
#include "../main.cuh"

__global__ void hand_over(const int *x, int *y)
{
	__shared__ int data[32];
	__shared__ volatile int ready;
	int t = threadIdx.x;
	if (t == 0)
		ready = 0;
	__syncthreads();
	if (t < 32) {
		data[t] = x[t] + 1;
		__threadfence_block();
		__syncwarp();
		if (t == 0)
			ready = 1;
	} else {
		while (ready == 0)
			;
		__threadfence_block();
		y[t - 32] = data[63 - t];
	}
}

int main()
{
	int *y = empty<int>(32);
	hand_over<<<1, 64>>>(zeros<int>(32), y);
	return element(y, 31) != 1 || end();
}
