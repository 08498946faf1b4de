// EXPECT memcheck api_misuse|out_of_bounds error noline
#include <cstdio>

int main()
{
	float *x;
	cudaMalloc(&x, 100 * sizeof(float));
#ifdef FIXED
	cudaMemset(x, 0, 100 * sizeof(float));
#else
	cudaMemset(x, 0, 101 * sizeof(float));
#endif
	cudaFree(x);
	return 0;
}
