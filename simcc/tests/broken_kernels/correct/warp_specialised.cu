// Warp 0 loads, the other warps compute; all meet at the same barriers.
#include "../main.cuh"

const int T = 96;

__global__ void pipeline(const float *x, float *y, int tiles)
{
	__shared__ float buffer[2][T];
	int t = threadIdx.x, warp = t / 32, lane = t % 32;
	float sum = 0;
	for (int step = 0; step <= tiles; step++) {
		if (warp == 0) {
			if (step < tiles)
				for (int i = lane; i < T; i += 32)
					buffer[step & 1][i] = x[step * T + i];
		} else if (step > 0) {
			sum += buffer[(step - 1) & 1][t - 32];
		}
		__syncthreads();
	}
	if (warp > 0)
		y[t - 32] = sum;
}

int main()
{
	float *y = empty<float>(T);
	pipeline<<<1, T + 32>>>(ones<float>(4 * T), y, 4);
	return element(y, 50) != 4 || end();
}
