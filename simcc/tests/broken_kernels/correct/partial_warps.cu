// Warps of which some lanes do not take part: past the end of the block, not in the mask, or gone. What is read from
// them is thrown away.
#include <cstdio>

// A block of 40: the second warp has 8 lanes.
__global__ void ragged_block(const int *x, int *y)
{
	int t = threadIdx.x, v = x[t];
	for (int step = 16; step > 0; step /= 2) {
		int other = __shfl_down_sync(0xffffffff, v, step);
		if (t % 32 + step < 32 && t + step < (int)blockDim.x)
			v += other;
	}
	if (t % 32 == 0)
		y[t / 32] = v;
}

// Half a warp, by its mask or because there are no more lanes: only its first lane has the sum.
__global__ void half_warp(const float *x, float *y)
{
	int t = threadIdx.x;
	if (t < 16) {
		float v = x[t];
		for (int step = 8; step > 0; step /= 2)
			v += __shfl_down_sync(blockDim.x == 16 ? 0xffffffff : 0x0000ffff, v, step);
		if (t == 0)
			y[blockIdx.x] = v;
	}
}

// Those without an element leave; the mask names the others.
__global__ void tail(const double *x, double *y, int n)
{
	int t = threadIdx.x;
	unsigned mask = __ballot_sync(0xffffffff, t < n);
	if (t >= n)
		return;
	double v = x[t];
	for (int step = 16; step > 0; step /= 2) {
		double other = __shfl_down_sync(mask, v, step);
		if (t + step < n)
			v += other;
	}
	__syncwarp();
	if (t == 0)
		*y = v;
}

// The same function in both arms, with the same mask: the lanes meet.
__global__ void both_arms(const int *x, int *y)
{
	int t = threadIdx.x, v = x[t];
	if (t % 2)
		v = 10 * __shfl_xor_sync(0xffffffff, v, 1);
	else
		v = 100 * __shfl_xor_sync(0xffffffff, v, 1);
	y[t] = v;
}

// Each group of equal keys adds its values up in the order of lanes, and looks at lanes that are not in it.
__global__ void by_key(const int *x, int *y)
{
	int t = threadIdx.x, sum = 0;
	unsigned peers = __match_any_sync(0xffffffff, t % 3);
	for (int lane = 0; lane < 32; lane++) {
		int other = __shfl_sync(peers, x[t], lane);
		if (peers >> lane & 1)
			sum += other;
	}
	y[t] = sum;
}

template <typename T>
static bool adds_up(void (*launch)(const T *, T *), int count, const T *expected)
{
	T h[64], *x, *y;
	bool right = true;
	for (int i = 0; i < 64; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	launch(x, y);
	cudaMemcpy(h, y, count * sizeof(T), cudaMemcpyDeviceToHost);
	for (int i = 0; i < count; i++)
		right = right && h[i] == expected[i];
	cudaFree(x), cudaFree(y);
	return right;
}

int main()
{
	const int ragged[] = {496, 284}, arms[] = {100, 0, 300, 20}, keys[] = {165, 176, 155};
	const float half[] = {120, 120};
	const double three[] = {3}, thirty[] = {435};
	bool right = adds_up<int>([](const int *x, int *y) { ragged_block<<<1, 40>>>(x, y); }, 2, ragged);
	right = right && adds_up<float>([](const float *x, float *y) { half_warp<<<2, 16>>>(x, y); }, 2, half);
	right = right && adds_up<float>([](const float *x, float *y) { half_warp<<<2, 32>>>(x, y); }, 2, half);
	right = right && adds_up<double>([](const double *x, double *y) { tail<<<1, 32>>>(x, y, 3); }, 1, three);
	right = right && adds_up<double>([](const double *x, double *y) { tail<<<1, 32>>>(x, y, 30); }, 1, thirty);
	right = right && adds_up<int>([](const int *x, int *y) { both_arms<<<1, 32>>>(x, y); }, 4, arms);
	right = right && adds_up<int>([](const int *x, int *y) { by_key<<<1, 32>>>(x, y); }, 3, keys);
	printf("%s\n", right ? "right" : "wrong");
	return !right;
}
