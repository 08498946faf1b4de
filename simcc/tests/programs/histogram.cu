// A histogram with a private copy in shared memory for each block; and an inclusive scan with two buffers.
#include "check.cuh"

const int N = 2048, BINS = 64;

__global__ void histogram(const unsigned char *x, unsigned *bins, int n)
{
	__shared__ unsigned local[BINS];
	if (threadIdx.x < BINS)
		local[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&local[x[i] % BINS], 1u);
	__syncthreads();
	if (threadIdx.x < BINS)
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Hillis and Steele: log2(n) steps, each between two barriers.
__global__ void scan(const int *x, int *y)
{
	extern __shared__ int buffers[];
	int t = threadIdx.x, n = blockDim.x, from = 0, to = 1;
	buffers[t] = x[t];
	__syncthreads();
	for (int offset = 1; offset < n; offset *= 2) {
		to = 1 - from;
		if (t >= offset)
			buffers[to * n + t] = buffers[from * n + t] + buffers[from * n + t - offset];
		else
			buffers[to * n + t] = buffers[from * n + t];
		__syncthreads();
		from = to;
	}
	y[t] = buffers[from * n + t];
}

int main()
{
	static unsigned char x[N];
	unsigned expected[BINS] = {0};
	int ones[128];
	for (int i = 0; i < N; i++) {
		x[i] = (unsigned char)i; // a warp's 32 are 32 bins side by side: one wavefront
		expected[x[i] % BINS]++;
	}
	for (int i = 0; i < 128; i++)
		ones[i] = i;
	unsigned char *dx = device_copy(x, N);
	unsigned *dbins = device_zeros<unsigned>(BINS);
	int *dones = device_copy(ones, 128), *dy = device_zeros<int>(128);

	// 2 blocks: 64 requests of 32 bytes, a sector each
	//= histogram load=2048/64/64 satomic=8192/64/64/64 sstore=2*256/4/4/4 sload=2*256/4/4/4 atomic=512/4/16
	//+ barriers=4
	histogram<<<2, 256>>>(dx, dbins, N);
	EXPECT_EACH(dbins, BINS, i, expected[i]);

	// 7 steps. In the first arm 128 - offset threads load twice: 769 in all; in the second offset threads once:
	// 127 in all, 1665 loads. Offsets up to 16 part the first warp, so its stores of the two arms are two
	// requests. Requests of the first arm: 4 warps for offsets up to 16, then 3 and 2; of the second: 1, then 1
	// (32) and 2 (64).
	//= scan load=512/4/16 store=512/4/16 barriers=8 dyn=1024
	//+ sstore=512+7*512/4+5*5+4+4/4+5*5+4+4/4+5*5+4+4
	//+ sload=4*1665+512/2*5*4+2*3+2*2+5+1+2+4/2*5*4+2*3+2*2+5+1+2+4/2*5*4+2*3+2*2+5+1+2+4
	scan<<<1, 128, 2 * 128 * sizeof(int)>>>(dones, dy);
	EXPECT_EACH(dy, 128, i, i * (i + 1) / 2);
	return 0;
}
