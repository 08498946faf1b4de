// The launch asks for too little dynamic shared memory: elements instead of bytes.
// EXPECT memcheck out_of_bounds error
#include <cstdio>

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
	float *x, *y;
	cudaMalloc(&x, 128 * sizeof(float));
	cudaMalloc(&y, 128 * sizeof(float));
	cudaMemset(x, 0, 128 * sizeof(float));
#ifdef FIXED
	reverse<<<1, 128, 128 * sizeof(float)>>>(x, y);
#else
	reverse<<<1, 128, 128>>>(x, y);
#endif
	cudaDeviceSynchronize();
	return 0;
}
