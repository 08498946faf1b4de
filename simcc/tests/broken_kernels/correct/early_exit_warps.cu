// Whole warps without a row leave before the shuffles; in the last one the mask is made by a ballot.
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

int main()
{
	float h[10 * 45];
	for (int i = 0; i < 450; i++)
		h[i] = 1;
	float *x = copy_of(h), *y = empty<float>(11);
	row_sums<<<3, 128>>>(x, y, 10, 45);
	tail_sum<<<1, 32>>>(x, y + 10, 21);
	cudaMemcpy(h, y, 11 * sizeof(float), cudaMemcpyDeviceToHost);
	free_all(x, y);
	return h[9] != 45 || h[10] != 21;
}
