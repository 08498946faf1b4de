// Threads of a block wait at barriers of the source that are not the same.
// EXPECT synccheck divergent_barrier error x3
// ORDERS all
#include "main.cuh"

__global__ void both_arms(float *y)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	if (t % 2 == 0) {
		s[t] = t;
		IF_WRONG(__syncthreads()); // BUG
	} else {
		s[t] = -t;
		IF_WRONG(__syncthreads()); // BUG
	}
	IF_RIGHT(__syncthreads());
	y[t] = s[127 - t];
}

// The barrier hides in a function that both arms call.
__device__ float exchange(float *s, int t, float v)
{
	s[t] = v;
	__syncthreads(); // BUG
	return s[t ^ 1];
}

__global__ void in_function(float *y)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	if (WRONG(t < 32, true))
		y[t] = exchange(s, t, 1);
	else
		y[t] = exchange(s, t, 2);
}

// A causal loop over tiles: each warp stops at its own diagonal, and the barriers no longer meet.
__global__ void causal(float *y)
{
	__shared__ float k[32];
	int row = threadIdx.x;
	float sum = 0;
	for (int first = 0; WRONG(first <= row, first < 128); first += 32) {
		if (row < 32)
			k[row] = first + row;
		__syncthreads(); // BUG
		for (int j = 0; j < 32; j++)
			if (first + j <= row)
				sum += k[j];
		__syncthreads(); // BUG
	}
	__syncthreads(); // BUG
	y[row] = sum;
}

int main()
{
	for (auto kernel : {both_arms, in_function, causal}) {
		kernel<<<1, 128>>>(empty<float>(128));
		reset();
	}
	return end();
}
