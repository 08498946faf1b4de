// Half of the block loads A, the other half loads B; everybody uses both.
#include "../main.cuh"

__global__ void product(const float *a, const float *b, float *c, int n)
{
	__shared__ float sa[64], sb[64];
	int t = threadIdx.x;
	float sum = 0;
	for (int first = 0; first < n; first += 64) {
		if (t < 64)
			sa[t] = first + t < n ? a[first + t] : 0;
		else
			sb[t - 64] = first + t - 64 < n ? b[first + t - 64] : 0;
		__syncthreads();
		sum += sa[t % 64] * sb[63 - t % 64];
		__syncthreads();
	}
	c[t] = sum;
}

MAIN(product<<<1, 128>>>(zeros<float>(150), zeros<float>(150), empty<float>(128), 150))
