// The launch asks for too little dynamic shared memory: elements instead of bytes.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void reverse(const float *x, float *y)
{
	extern __shared__ float s[];
	int t = threadIdx.x;
	s[t] = x[t]; // BUG
	__syncthreads();
	y[t] = s[127 - t];
}

int main()
{
	float *x = zeros<float>(128), *y = empty<float>(128);
#ifdef FIXED
	reverse<<<1, 128, 128 * sizeof(float)>>>(x, y);
#else
	reverse<<<1, 128, 128>>>(x, y);
#endif
	return end();
}
