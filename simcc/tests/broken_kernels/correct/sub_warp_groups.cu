// Groups of 8 lanes work on rows of their own in shared memory, with masks of their group.
#include "../main.cuh"

__global__ void rows(const float *x, float *y)
{
	__shared__ float s[16][9];
	int t = threadIdx.x, group = t / 8, lane = t % 8;
	unsigned mask = 0xffu << (t % 32 / 8 * 8);
	s[group][lane] = x[t];
	__syncwarp(mask);
	float sum = 0;
	if (group % 2 == 0) {
		for (int i = 0; i < 8; i++)
			sum += s[group][i];
	} else {
		sum = s[group][lane];
		for (int step = 4; step > 0; step /= 2)
			sum += __shfl_xor_sync(mask, sum, step);
	}
	__syncwarp(mask);
	s[group][lane] = sum;
	__syncwarp(mask);
	y[t] = s[group][7 - lane];
}

int main()
{
	float *y = empty<float>(128);
	rows<<<1, 128>>>(ones<float>(128), y);
	return element(y, 0) != 8 || element(y, 127) != 8 || end();
}
