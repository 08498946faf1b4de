// One thread leaves the loop before its barrier.
// EXPECT synccheck exited_threads warning
#include "main.cuh"

__global__ void relax(float *x)
{
	__shared__ float s[64];
	int t = threadIdx.x;
	s[t] = x[t];
	for (int i = 0; i < 8; i++) {
		__syncthreads(); // BUG
		float next = s[(t + 1) % 64];
		if (WRONG(next > 40, false))
			break;
		__syncthreads(); // BUG
		s[t] = next;
	}
	x[t] = s[t];
}

int main()
{
	float h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i < 60 ? 1 : 50;
	float *x = copy_of(h);
	relax<<<1, 64>>>(x);
	return end();
}
