// One element past the dynamic shared memory that the launch asked for, where nothing else lies.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void shift(const float *x, float *y)
{
	extern __shared__ float s[];
	int t = threadIdx.x;
	s[t] = x[t];
	if (t == 0)
		s[64] = 0; // BUG
	__syncthreads();
	y[t] = s[t + 1];
}

int main()
{
	float *x = zeros<float>(64), *y = empty<float>(64);
#ifdef FIXED
	shift<<<1, 64, 65 * sizeof(float)>>>(x, y);
#else
	shift<<<1, 64, 64 * sizeof(float)>>>(x, y);
#endif
	return end();
}
