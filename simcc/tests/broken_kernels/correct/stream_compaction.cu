// Counts, scans and scatters in one block through ballots; blocks take their places with an atomic.
#include "../main.cuh"

__global__ void compact(const float *x, float *y, int *count, int n)
{
	__shared__ int place[8], base;
	int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, warp = t / 32, lane = t % 32;
	bool keep = i < n && x[i] > 0;
	unsigned vote = __ballot_sync(0xffffffff, keep);
	if (lane == 0)
		place[warp] = __popc(vote);
	__syncthreads();
	if (t == 0) {
		int sum = 0;
		for (int w = 0; w < blockDim.x / 32; w++) {
			int c = place[w];
			place[w] = sum;
			sum += c;
		}
		base = atomicAdd(count, sum);
	}
	__syncthreads();
	if (keep)
		y[base + place[warp] + __popc(vote & ((1u << lane) - 1))] = x[i];
}

int main()
{
	float *x = upwards<float>(900, -450), *y = empty<float>(900);
	int *count = zeros<int>(1);
	compact<<<4, 256>>>(x, y, count, 900);
	return element(count, 0) != 449 || end();
}
