// Warp-synchronous reduction in shared memory, a __syncwarp() between reading and writing.
#include "../main.cuh"

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[256];
	int t = threadIdx.x;
	s[t] = x[blockIdx.x * 256 + t];
	__syncthreads();
	for (int half = 128; half > 32; half >>= 1) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads();
	}
	if (t < 32) {
		float v = s[t];
		v += s[t + 32];
		__syncwarp();
		s[t] = v;
		__syncwarp();
		v += s[(t + 16) & 31];
		__syncwarp();
		s[t] = v;
		__syncwarp();
		v += s[(t + 8) & 31];
		__syncwarp();
		s[t] = v;
		__syncwarp();
		v += s[(t + 4) & 31];
		__syncwarp();
		s[t] = v;
		__syncwarp();
		v += s[(t + 2) & 31];
		__syncwarp();
		s[t] = v;
		__syncwarp();
		v += s[(t + 1) & 31];
		if (t == 0)
			y[blockIdx.x] = v;
	}
}

int main()
{
	float *y = empty<float>(2);
	sum<<<2, 256>>>(ones<float>(512), y);
	return element(y, 0) != 256 || element(y, 1) != 256 || end();
}
