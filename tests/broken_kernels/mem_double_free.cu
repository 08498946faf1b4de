// EXPECT memcheck api_misuse|double_free error noline
#include <cstdio>

int main()
{
	float *x;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaFree(x);
#ifndef FIXED
	cudaFree(x);
#endif
	return 0;
}
