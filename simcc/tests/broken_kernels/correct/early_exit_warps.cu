// Whole warps without a row leave before the shuffles; in the next one the mask is made by a ballot; in the last one all
// wait for the last lane, which leaves as the first one has. Kills an end of it that only lane 0 is looked at for.
#include "../main.cuh"

__global__ void row_sums(const float *x, float *y, int rows, int n)
{
	int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (row >= rows)
		return;
	float sum = 0;
	for (int i = lane; i < n; i += 32)
		sum += x[row * n + i];
	for (int step = 16; step > 0; step /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, step);
	if (lane == 0)
		y[row] = sum;
}

__global__ void tail_sum(const float *x, float *y, int n)
{
	int t = threadIdx.x;
	unsigned mask = __ballot_sync(0xffffffff, t < n);
	if (t < n) {
		float v = x[t];
		for (int step = 16; step > 0; step /= 2) {
			float other = __shfl_down_sync(mask, v, step);
			if (t + step < n)
				v += other;
		}
		if (t == 0)
			*y = v;
	}
}

__global__ void last_leaves(float *y)
{
	if (threadIdx.x == 0 || threadIdx.x == 31)
		return;
	__syncwarp(0xfffffffe);
	y[threadIdx.x] = 1;
}

int main()
{
	float *x = ones<float>(10 * 45), *y = empty<float>(11);
	row_sums<<<3, 128>>>(x, y, 10, 45);
	tail_sum<<<1, 32>>>(x, y + 10, 21);
	last_leaves<<<1, 32>>>(ones<float>(32));
	return element(y, 9) != 45 || element(y, 10) != 21 || end();
}
