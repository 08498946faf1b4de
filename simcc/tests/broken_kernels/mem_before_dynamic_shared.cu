// The left neighbor of thread 0 lies before shared memory, of the dynamic one: no host pointer.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void difference(const float *x, float *y)
{
	extern __shared__ float s[];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
#ifdef FIXED
	y[t] = t > 0 ? s[t] - s[t - 1] : 0.0f;
#else
	y[t] = s[t] - s[t - 1]; // BUG
#endif
}

int main()
{
	float *x = zeros<float>(128), *y = empty<float>(128);
	difference<<<1, 128, 128 * sizeof(float)>>>(x, y);
	return end();
}
